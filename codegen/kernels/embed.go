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
//
// A W that exceeds a binding is cut by rows, and each shard has a kernel: y is stored only by the one that has the token's row.
type Embed struct {
	Format        quant.Type
	Rows, Columns int
	From, Of      int     // of a shard: where its rows start, and the rows of the whole W; both 0 for a whole one
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
	if e.Of != 0 && (e.From < 0 || e.From > e.Of-e.Rows) {
		return Kernel{}, fmt.Errorf("embedding of %d rows from row %d on, of %d", e.Rows, e.From, e.Of)
	}
	if e.Rows <= 0 || e.Format == quant.F16 && e.Columns%2 != 0 {
		return Kernel{}, fmt.Errorf("embedding of %d rows of %d %v values: rows start at whole words", e.Rows, e.Columns, e.Format)
	}
	operands := append(f.operands(e.Rows), paramsOperand(e.Params),
		bind.Operand{Name: Y, Elem: lanes(row.Width), Count: w.n, Access: plan.ReadWrite})
	shape := fmt.Sprintf("%dx%d", e.Rows, e.Columns)
	what := fmt.Sprintf("y = a row of W, %v of %d rows of %d", e.Format, e.Rows, e.Columns)
	if e.isShard() {
		shape += fmt.Sprintf("_from_%d", e.From)
		what += fmt.Sprintf(", if it is one of rows %d to %d of %d", e.From, e.From+e.Rows-1, e.Of)
	}
	return Kernel{
		Name:     name("embed", formatName(e.Format), shape),
		Header:   []string{what, s.String()},
		Operands: operands, Workgroup: s.Workgroup, Grid: w.grid.size(), Problem: e, Schedule: s,
		Body: func(m *wgsl.Module) {
			f.declare(m)
			w.write(m, func() {
				if !e.isShard() {
					m.Let("row", "min(%s[%du], %du)", Params, plan.ParamsToken, e.Rows-1)
					e.store(m, f)
					return
				}
				// A token before the shard wraps around to a number beyond its rows.
				m.Let("row", "min(%s[%du], %du) - %du", Params, plan.ParamsToken, e.Of-1, e.From)
				m.If("row < %du", func() { e.store(m, f) }, e.Rows)
			})
		},
	}, nil
}

func (e Embed) isShard() bool { return e.Of != 0 && e.Of != e.Rows }

// store writes the value of y[i] from the row.
func (e Embed) store(m *wgsl.Module, f format) {
	value := f.value(m)
	if e.Scale != 0 {
		value = "(" + value + ") * " + float(e.Scale)
	}
	m.Set(Y+"[i]", value)
}
