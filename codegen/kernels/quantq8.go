package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// QuantQ8 gives a vector of Columns values the form q8: for each block of 32
//
//	d = max|x|/127, code = round(x/d), ties to even, s = d·Σ codes
//
// and zeros for a block whose largest |x| is below 2^-118, as ir.QuantQ8 says why. WGSL lets a division be off by 2.5 units in
// the last place: so may d be, and a code differs from the exact one only where x/d is so close to a tie. s is the product
// of d and the codes written, rounded once. Operands: x, and y as GEMV reads it.
type QuantQ8 struct{ Columns int }

// Kernel builds the kernel, or says why the schedule cannot.
func (q QuantQ8) Kernel(s schedules.QuantQ8, p schedules.Profile) (Kernel, error) {
	if err := s.Legal(q.Columns, p); err != nil {
		return Kernel{}, err
	}
	n := q.Columns / blockValues
	w, err := newEach(n, schedules.Elementwise(s), p)
	if err != nil {
		return Kernel{}, err
	}
	return Kernel{
		Name: name("quant_q8", q.Columns), Header: []string{fmt.Sprintf("y = 8-bit codes of %d values, in blocks of 32 with scale and scaled sum", q.Columns), s.String()},
		Operands: []bind.Operand{
			{Name: X, Elem: "vec4<f32>", Count: q.Columns / 4, Access: plan.Read},
			// Two words an element, so that no two threads write parts of one.
			{Name: Y, Elem: "vec2<u32>", Count: q8Words(q.Columns) / 2, Access: plan.ReadWrite},
		},
		Workgroup: s.Workgroup, Grid: w.grid.size(), Problem: q, Schedule: s,
		Body: func(m *wgsl.Module) { w.write(m, func() { q.write(m, n) }) },
	}, nil
}

// write quantises block i of n.
func (QuantQ8) write(m *wgsl.Module, n int) {
	for v := range 8 {
		m.Let(fmt.Sprint("x", v), "%s[i * 8u + %du]", X, v)
	}
	m.Let("lanes", "max(max(max(abs(x0), abs(x1)), max(abs(x2), abs(x3))), max(max(abs(x4), abs(x5)), max(abs(x6), abs(x7))))")
	m.Let("largest", "max(max(lanes.x, lanes.y), max(lanes.z, lanes.w))")
	m.Let("kept", "!(largest < %s)", float(0x1p-118)) // NaN is kept, as the scale, where a device keeps it
	m.Let("d", "select(0.0, largest / 127.0, kept)")
	m.Let("by", "select(1.0, d, kept)") // without d all values round to zero
	for v := range 8 {
		m.Let(fmt.Sprint("c", v), "vec4<i32>(round(x%d / by))", v)
	}
	m.Let("sums", "((c0 + c1) + (c2 + c3)) + ((c4 + c5) + (c6 + c7))")
	for pair := range 4 {
		m.Set(fmt.Sprintf("%s[i * 4u + %du]", Y, pair), "vec2<u32>(pack4xI8(c%d), pack4xI8(c%d))", 2*pair, 2*pair+1)
	}
	m.Let("s", "d * f32((sums.x + sums.y) + (sums.z + sums.w))")
	m.Set(fmt.Sprintf("%s[%du + i]", Y, 4*n), "bitcast<vec2<u32>>(vec2<f32>(d, s))")
	if n%2 == 1 {
		m.If("i == %du", func() { m.Set(fmt.Sprintf("%s[%du]", Y, 5*n), "vec2<u32>()") }, n-1)
	}
}
