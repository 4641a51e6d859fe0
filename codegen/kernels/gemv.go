package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// GEMV is y[row] = epilogue(Σ_k W[row,k]·x[k] + bias[row]) for one or more weights W stacked in one matrix.
//
// A thread, or the threads of a subgroup, walk a row trip by trip. Products with an x of f32 are added up in four lanes, which
// are summed at the end; what each format makes of a trip is in its own file. Operands: the planes of the format, x of Columns
// values, the biases if there are, and y0, y1, ... for the rows of each weight, which the epilogue may also read.
type GEMV struct {
	Format   quant.Type
	Columns  int
	Results  []int           // rows of each stacked weight; each has a result of its own
	X        schedules.XType // XF32, which empty means too, or XQ8: what QuantQ8 makes
	Bias     bool            // operand Bias is added to the rows
	Epilogue Epilogue
}

// Bias is the operand of f32 that a GEMV may add: one for each row of the stacked weights.
const Bias = "bias"

// Epilogue is what becomes of a value: Write writes the statements that put it in an element of y.
type Epilogue struct {
	Name  string // a short word that ends kernel names; empty for the plain store
	Write func(m *wgsl.Module, element, value string)
}

// Store writes the value.
var Store = Epilogue{"", func(m *wgsl.Module, element, value string) { m.Set(element, value) }}

// AddResidual adds the value to what y holds: an output projection, in place.
var AddResidual = Epilogue{"add", func(m *wgsl.Module, element, value string) { m.Add(element, value) }}

// Result is the operand of the i-th stacked weight's rows.
func Result(i int) string { return fmt.Sprint(Y, i) }

// Problem is what schedules judge.
func (g GEMV) Problem() schedules.GEMVProblem {
	return schedules.GEMVProblem{Rows: g.rows(), Columns: g.Columns, Format: g.Format, RowBytes: widestRow(g.Format, g.Columns), N: 1, X: g.X}
}

func (g GEMV) rows() int {
	n := 0
	for _, rows := range g.Results {
		n += rows
	}
	return n
}

// Kernel builds the kernel, or says why the schedule cannot.
func (g GEMV) Kernel(s schedules.GEMV, p schedules.Profile) (Kernel, error) {
	if err := s.Legal(g.Problem(), p); err != nil {
		return Kernel{}, err
	}
	f, _, err := lookup(g.Format, g.Columns)
	if err == nil {
		err = g.checkStack(f)
	}
	if err != nil {
		return Kernel{}, err
	}
	tiles := newGrid((g.rows()+s.RowsPerWorkgroup()-1)/s.RowsPerWorkgroup(), p.Limits.Workgroups)
	t := gemvText{g, s, f, f.row(), newInput(f, g.Columns, s.Order), tiles}
	k := Kernel{
		Name:      name("gemv", formatName(g.Format)+t.x.suffix(), fmt.Sprintf("%dx%d", g.rows(), g.Columns)),
		Header:    t.header(),
		Operands:  t.operands(),
		Workgroup: s.Workgroup, Grid: tiles.size(), LoopTrips: s.Trips(g.Problem()), Body: t.write,
		Problem: g, Schedule: s,
	}
	if g.Bias {
		k.Name = name(k.Name, Bias)
	}
	if g.Epilogue.Name != "" {
		k.Name = name(k.Name, g.Epilogue.Name)
	}
	return k, nil
}

// checkStack refuses weights that cannot follow each other without a gap, because one ends within a word.
func (g GEMV) checkStack(f format) error {
	for i, rows := range g.Results {
		if rows <= 0 {
			return fmt.Errorf("result %d of %d rows", i, rows)
		}
		for _, p := range f.planes() {
			block, _ := g.Format.Block()
			if bits := rows * (g.Columns / block.Elems) * p.BlockBits; bits%32 != 0 && i < len(g.Results)-1 {
				return fmt.Errorf("weight %d of %d rows of %d %v values ends within a word of its %s, so none can follow it",
					i, rows, g.Columns, g.Format, p.Name)
			}
		}
	}
	return nil
}

// gemvText writes the text of one GEMV.
type gemvText struct {
	GEMV
	schedule schedules.GEMV
	format   format
	row      rowLoop
	x        input
	grid     grid
}

// input is x as the loop over a row reads it.
type input interface {
	// suffix is what kernel names say of it.
	suffix() string
	operand() bind.Operand
	// width is the lanes of a row's sum.
	width() int
	// load declares what the rows of a trip, block, share.
	load(m *wgsl.Module)
	// multiply adds the products of a trip to acc<r>.
	multiply(m *wgsl.Module, r string)
}

func newInput(f format, columns int, o schedules.Order) input {
	if o.XType == schedules.XQ8 {
		return q8Input{f.(q8Format), blocks{columns}, o.Math == schedules.Dot4I8} // schedules allows no other formats
	}
	return f32Input{f, f.row(), columns}
}

// f32Input is x as plain values.
type f32Input struct {
	format
	row     rowLoop
	columns int
}

func (f32Input) suffix() string { return "" }

func (x f32Input) width() int { return x.row.Width }

func (x f32Input) operand() bind.Operand {
	return bind.Operand{Name: X, Elem: lanes(x.row.Width), Count: x.columns / x.row.Width, Access: plan.Read}
}

func (x f32Input) load(m *wgsl.Module) {
	for v := range x.row.Vectors {
		m.Let(fmt.Sprint("x", v), "%s[block * %du + %du]", X, x.row.Vectors, v)
	}
	x.prepare(m)
}

func (t gemvText) header() []string {
	what := fmt.Sprintf("y = W·x, W %v of %d rows of %d", t.Format, t.rows(), t.Columns)
	if t.schedule.Order.XType == schedules.XQ8 {
		what += ", x of 8-bit codes"
	}
	if len(t.Results) > 1 {
		what += fmt.Sprintf(", results of %v rows", t.Results)
	}
	if t.Bias {
		what += ", biases"
	}
	if t.Epilogue.Name != "" {
		what += ", epilogue " + t.Epilogue.Name
	}
	return []string{what, t.schedule.String()}
}

func (t gemvText) operands() []bind.Operand {
	all := t.format.operands(t.rows())
	x := t.x.operand()
	x.Class = bind.Vector
	all = append(all, x)
	if t.Bias {
		all = append(all, weightOperand(Bias, "f32", t.rows()))
	}
	for i, rows := range t.Results {
		all = append(all, bind.Operand{Name: Result(i), Elem: "f32", Count: rows, Access: plan.ReadWrite})
	}
	return all
}

func (t gemvText) write(m *wgsl.Module) {
	t.format.declare(m)
	m.Compute(t.schedule.Workgroup, builtins, func() {
		t.declareRows(m)
		first := "0u"
		if t.threads() > 1 {
			first = "lane"
		}
		m.Loop("block", first, t.row.Trips, t.threads(), func() { t.trip(m) })
		t.finish(m)
	})
}

func (t gemvText) threads() int { return t.schedule.Order.ThreadsPerRow }

// declareRows declares the rows of this thread, row<r>, where it reads them, from<r>, and their sums.
func (t gemvText) declareRows(m *wgsl.Module) {
	if t.threads() > 1 {
		// The profile guarantees that ThreadsPerRow consecutive invocations are one subgroup.
		m.Let("lane", "local %% %du", t.threads())
	}
	m.Let("row0", "(%s * %du + local / %du) * %du", t.grid.index(), t.schedule.Workgroup/t.threads(), t.threads(), t.schedule.RowsPerThread)
	for r := 1; r < t.schedule.RowsPerThread; r++ {
		m.Let(fmt.Sprint("row", r), "row0 + %du", r)
	}
	t.each(func(r string) {
		if t.spare() {
			m.Let("from"+r, "min(row%s, %du) * %du", r, t.rows()-1, t.row.Trips)
		} else {
			m.Let("from"+r, "row%s * %du", r, t.row.Trips)
		}
	})
	t.each(func(r string) { m.Var("acc"+r, zero(t.x.width())) })
}

// spare reports whether some threads have no row: those read the last one again and store nothing.
func (t gemvText) spare() bool {
	return t.grid.spare() || t.rows()%t.schedule.RowsPerWorkgroup() != 0
}

// trip loads x once and lets all rows meet it; the loads go out before they are used.
func (t gemvText) trip(m *wgsl.Module) {
	t.x.load(m)
	t.each(func(r string) {
		m.Let("at"+r, "from%s + block", r)
		t.format.load(m, r)
	})
	t.each(func(r string) { t.x.multiply(m, r) })
}

// finish adds up lanes and threads, and hands each row's value to the epilogue.
func (t gemvText) finish(m *wgsl.Module) {
	t.each(func(r string) { m.Let("sum"+r, total("acc"+r, t.x.width())) })
	if t.threads() == 1 {
		t.each(func(r string) { t.store(m, r, "sum"+r) })
		return
	}
	t.each(func(r string) { m.Let("total"+r, "subgroupAdd(sum%s)", r) })
	m.If("lane == 0u", func() {
		t.each(func(r string) { t.store(m, r, "total"+r) })
	})
}

// store finds the result that a row belongs to.
func (t gemvText) store(m *wgsl.Module, r, value string) {
	if t.Bias {
		value = fmt.Sprintf("(%s + %s[row%s])", value, Bias, r)
	}
	t.storeFrom(m, 0, 0, "row"+r, value)
}

func (t gemvText) storeFrom(m *wgsl.Module, i, first int, row, value string) {
	write := func() {
		element := Result(i) + "[" + row + "]"
		if first > 0 {
			element = fmt.Sprintf("%s[%s - %du]", Result(i), row, first)
		}
		t.Epilogue.Write(m, element, value)
	}
	end := first + t.Results[i]
	switch last := i == len(t.Results)-1; {
	case last && !t.spare():
		write()
	case last:
		m.If(fmt.Sprintf("%s < %du", row, end), write)
	default:
		m.IfElse(fmt.Sprintf("%s < %du", row, end), write, func() { t.storeFrom(m, i+1, end, row, value) })
	}
}

// each runs f for every row of a thread: values have names, since compilers keep those in registers and arrays often not.
func (t gemvText) each(f func(r string)) {
	for r := range t.schedule.RowsPerThread {
		f(fmt.Sprint(r))
	}
}
