package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// Embed is y[i] = W[token,i]·Scale with the token that params names; a token beyond the rows reads the last one. Operands:
// the planes of the format, params, and y of Columns values.
type Embed struct {
	Format        quant.Type
	Rows, Columns int
	Scale         float64 // 0 for none
	Params        plan.Params
}

// Kernel builds the kernel, or says why the schedule cannot.
func (e Embed) Kernel(s schedules.Elementwise, p schedules.Profile) (Kernel, error) {
	f, _, err := lookup(e.Format, e.Columns)
	if err != nil {
		return Kernel{}, err
	}
	row := f.row()
	w, err := newEach(e.Columns/row.Width, s, p)
	if err != nil {
		return Kernel{}, err
	}
	if e.Rows <= 0 || e.Format == quant.F16 && e.Columns%2 != 0 {
		return Kernel{}, fmt.Errorf("embedding of %d rows of %d %v values: rows start at whole words", e.Rows, e.Columns, e.Format)
	}
	operands := append(f.operands(e.Rows), paramsOperand(e.Params),
		bind.Operand{Name: Y, Elem: lanes(row.Width), Count: w.n, Access: plan.ReadWrite})
	return Kernel{
		Name:     name("embed", formatName(e.Format), fmt.Sprintf("%dx%d", e.Rows, e.Columns)),
		Header:   []string{fmt.Sprintf("y = a row of W, %v of %d rows of %d", e.Format, e.Rows, e.Columns), s.String()},
		Operands: operands, Workgroup: s.Workgroup, Grid: w.grid.size(),
		Body: func(m *wgsl.Module) {
			w.write(m, func() {
				m.Let("row", "min(%s[%du], %du)", Params, plan.ParamsToken, e.Rows-1)
				value := f.value(m)
				if e.Scale != 0 {
					value = "(" + value + ") * " + float(e.Scale)
				}
				m.Set(Y+"[i]", value)
			})
		},
	}, nil
}
