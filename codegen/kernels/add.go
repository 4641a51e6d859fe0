package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// The operands of Add.
const (
	AddLeft  = "a"
	AddRight = "b"
)

// Add is y = a + b of N values; InPlace, a = a + b. Operands: a, b and, unless in place, y.
type Add struct {
	N       int
	InPlace bool
}

// Kernel builds the kernel, or says why the schedule cannot.
func (a Add) Kernel(s schedules.Elementwise, p schedules.Profile) (Kernel, error) {
	width := widest(a.N)
	w, err := newEach(a.N/width, s, p)
	if err != nil {
		return Kernel{}, err
	}
	elem := lanes(width)
	k := Kernel{
		Name: name("add", a.N), Header: []string{fmt.Sprintf("y = a + b of %d values", a.N), s.String()},
		Operands: []bind.Operand{
			{Name: AddLeft, Elem: elem, Count: w.n, Access: plan.Read},
			{Name: AddRight, Elem: elem, Count: w.n, Access: plan.Read},
			{Name: Y, Elem: elem, Count: w.n, Access: plan.ReadWrite},
		},
		Workgroup: s.Workgroup, Grid: w.grid.size(), Problem: a, Schedule: s,
		Body: func(m *wgsl.Module) {
			w.write(m, func() { m.Set(Y+"[i]", "a[i] + b[i]") })
		},
	}
	if a.InPlace {
		k.Name, k.Header[0] = name("add_in_place", a.N), fmt.Sprintf("a = a + b of %d values", a.N)
		k.Operands = k.Operands[:2]
		k.Operands[0].Access = plan.ReadWrite
		k.Body = func(m *wgsl.Module) {
			w.write(m, func() { m.Add("a[i]", "b[i]") })
		}
	}
	return k, nil
}
