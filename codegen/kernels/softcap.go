package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// Softcap is y = Cap·tanh(x/Cap) of N values. Operands: x and y.
//
// tanh(z) is written as 1 − 2/(exp(2z) + 1), which is right to 1e-7, where WGSL promises 1e-5 of its own; 2z is clamped to
// ±80.
type Softcap struct {
	N   int
	Cap float64
}

// Kernel builds the kernel, or says why the schedule cannot.
func (c Softcap) Kernel(s schedules.Elementwise, p schedules.Profile) (Kernel, error) {
	if c.Cap <= 0 {
		return Kernel{}, fmt.Errorf("softcap: cap %v is not positive", c.Cap)
	}
	width := widest(c.N)
	w, err := newEach(c.N/width, s, p)
	if err != nil {
		return Kernel{}, err
	}
	elem := lanes(width)
	return Kernel{
		Name: name("softcap", c.N), Header: []string{fmt.Sprintf("y = %v·tanh(x/%v) of %d values", c.Cap, c.Cap, c.N), s.String()},
		Operands: []bind.Operand{
			{Name: X, Elem: elem, Count: w.n, Access: plan.Read},
			{Name: Y, Elem: elem, Count: w.n, Access: plan.ReadWrite},
		},
		Workgroup: s.Workgroup, Grid: w.grid.size(), Problem: c, Schedule: s,
		Body: func(m *wgsl.Module) {
			w.write(m, func() {
				m.Let("z", "x[i] * %s", float(2/c.Cap))
				// Above 80 tanh is 1, and exp no number; far below, exp is 0. NaN stays what it is.
				m.Let("e", "exp(select(z, %[1]s, z > %[1]s))", splat("80.0", width))
				m.Set("y[i]", "%s * (1.0 - 2.0 / (e + 1.0))", float(c.Cap))
			})
		},
	}, nil
}
