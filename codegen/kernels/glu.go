package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// The operands of GLU.
const (
	Gate = "gate"
	Up   = "up"
)

// GLU is y = act(gate)·up of N values. Operands: gate, up and y.
//
// Both activations are written as g / (1 + exp(−z)): SiLU with z = g, and GELU in its tanh form with z = 2u, because
// (1 + tanh(u)) / 2 = 1 / (1 + exp(−2u)). −z is clamped to 80, where the result is 0 but for 1e-33.
type GLU struct {
	N   int
	Act ir.Activation
}

// Kernel builds the kernel, or says why the schedule cannot.
func (g GLU) Kernel(s schedules.Elementwise, p schedules.Profile) (Kernel, error) {
	act := map[ir.Activation]string{ir.SiLU: "silu", ir.GELU: "gelu"}[g.Act]
	if act == "" {
		return Kernel{}, fmt.Errorf("glu: no activation %d", g.Act)
	}
	width := widest(g.N)
	w, err := newEach(g.N/width, s, p)
	if err != nil {
		return Kernel{}, err
	}
	elem := lanes(width)
	return Kernel{
		Name: name("glu", act, g.N), Header: []string{fmt.Sprintf("y = %s(gate) · up of %d values", act, g.N), s.String()},
		Operands: []bind.Operand{
			{Name: Gate, Elem: elem, Count: w.n, Access: plan.Read},
			{Name: Up, Elem: elem, Count: w.n, Access: plan.Read},
			{Name: Y, Elem: elem, Count: w.n, Access: plan.ReadWrite},
		},
		Workgroup: s.Workgroup, Grid: w.grid.size(), Problem: g, Schedule: s,
		Body: func(m *wgsl.Module) {
			if g.Act == ir.GELU {
				m.ConstOf("twice_root", "1.5957691216057308f", "2·sqrt(2/π)")
			}
			w.write(m, func() {
				m.Let("g", "gate[i]")
				z := "g"
				if g.Act == ir.GELU {
					m.Let("z", "twice_root * (g + 0.044715 * g * g * g)")
					z = "z"
				}
				m.Set("y[i]", "g / (1.0 + exp(min(-%s, %s))) * up[i]", z, splat("80.0", width))
			})
		},
	}, nil
}
