package bind

import (
	"fmt"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Refusal says why the operands of a kernel cannot be bound. When a limit is the reason, errors.As finds it as a
// *plan.LimitError too.
type Refusal struct {
	Kernel string
	Reason string
	Tried  []string // what was done before giving up
	Limit  *plan.LimitError
}

func (e *Refusal) Error() string {
	s := "bindings of " + e.Kernel + ": " + e.Reason
	if len(e.Tried) > 0 {
		s += "; tried: " + strings.Join(e.Tried, "; ")
	}
	return s
}

// Unwrap returns the limit, if one is the reason.
func (e *Refusal) Unwrap() error {
	if e.Limit == nil {
		return nil
	}
	return e.Limit
}

func (p *planner) refuse(format string, a ...any) error {
	return &Refusal{Kernel: p.kernel, Reason: fmt.Sprintf(format, a...), Tried: p.steps}
}

func (p *planner) exceeds(limit string, need, have uint64, format string, a ...any) error {
	return &Refusal{
		Kernel: p.kernel, Reason: fmt.Sprintf(format, a...), Tried: p.steps,
		Limit: &plan.LimitError{Subject: p.kernel, Limit: limit, Need: need, Have: have},
	}
}
