package codegen

import (
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// UnsupportedError says that no kernel computes a node as the graph has it, or that none reads a weight.
type UnsupportedError struct {
	Subject string // node layer.0.attn (attention), or weight blk.0.attn_q.weight
	Why     string
}

func (e *UnsupportedError) Error() string { return e.Subject + ": " + e.Why }

// step is one dispatch in the making.
type step struct {
	node     string // what it computes
	kernel   kernels.Kernel
	schedule string
	args     []arg // what each operand of the kernel stands for, in order
	phases   []plan.Phase
	written  []Arg // args as the program writes them
	bindings *bind.Bindings
	compiled plan.Kernel
}

// arg is what an operand stands for: exactly one field is set, and part or makes with value.
type arg struct {
	value  *ir.Tensor // an activation
	part   span       // of value, the elements that a shard computes; none for all
	makes  *ir.Tensor // with a value that is overwritten in place, what it becomes
	plane  *planeOf
	params bool
	table  *int       // number of the position table
	cache  *ir.Tensor // a KVAppend's result: the keys of its layer, or
	values bool       // the values
}

// planeOf is one plane of a stack.
type planeOf struct {
	stack *stack
	plane int
}

// reads returns the values that the step reads, writes those that it writes; a value written in place is in both.
func (s *step) reads() []*ir.Tensor  { return s.values(plan.Read, plan.ReadWrite) }
func (s *step) writes() []*ir.Tensor { return s.values(plan.ReadWrite) }

func (s *step) values(accesses ...plan.Access) []*ir.Tensor {
	var out []*ir.Tensor
	for i, a := range s.args {
		if a.value != nil && slices.Contains(accesses, s.kernel.Operands[i].Access) {
			out = append(out, a.value)
		}
	}
	return out
}

// writesCache reports whether the step stores keys and values.
func (s *step) writesCache() bool {
	for i, a := range s.args {
		if a.cache != nil && s.kernel.Operands[i].Access == plan.ReadWrite {
			return true
		}
	}
	return false
}

// bindArgs pairs a kernel's operands with what they stand for, by name; every operand must be named once.
func bindArgs(k kernels.Kernel, named map[string]arg) ([]arg, error) {
	args := make([]arg, len(k.Operands))
	for i, o := range k.Operands {
		a, ok := named[o.Name]
		if !ok {
			return nil, fmt.Errorf("kernel %s: nothing stands for operand %s", k.Name, o.Name)
		}
		args[i] = a
	}
	if len(named) != len(args) {
		return nil, fmt.Errorf("kernel %s has %d operands, %d are given", k.Name, len(args), len(named))
	}
	return args, nil
}
