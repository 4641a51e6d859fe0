package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q4_1 is blocks of 20 bytes: d and m as f16, then 16 bytes of codes. A value is d·q + m, and both leave the products:
//
//	Σ (d·q + m)·x = d·Σ q·x + m·Σ x
//
// d and m of a block are one word of the scales plane.
type q4_1 struct{ blocks }

func (q4_1) planes() []plan.Plane {
	return []plan.Plane{nibblePlane(32), pairScalePlane()}
}

func (b q4_1) operands(rows int) []bind.Operand {
	return []bind.Operand{b.nibbleCodes(rows), weightOperand(Scales, "u32", rows*b.perRow())}
}

func (b q4_1) prepare(m *wgsl.Module) { b.sumX(m) }

func (q4_1) load(m *wgsl.Module, r string) {
	m.Let("q"+r, Codes+"[at%s]", r)
	m.Let("dm"+r, "unpack2x16float("+Scales+"[at%s])", r)
}

func (q4_1) multiply(m *wgsl.Module, r string) {
	multiplyNibbles(m, r)
	m.FMA("acc"+r, "vec4<f32>(dm"+r+".x)", "dots"+r)
	m.FMA("acc"+r, "vec4<f32>(dm"+r+".y)", "xs")
}

// multiplyQ8 needs m times the sum of x alone: Σ (d·q + m)·xd·c = d·xd·Σ q·c + m·xs.
func (q4_1) multiplyQ8(m *wgsl.Module, r string, x q8Input) {
	x.nibbleDots(m, r)
	m.FMA("acc"+r, "dm"+r+".x", "xd * f32(dots"+r+")")
	m.FMA("acc"+r, "dm"+r+".y", "xs")
}

func (b q4_1) value(m *wgsl.Module) string {
	b.locate(m)
	nibbleVector(m)
	m.Let("dm", "unpack2x16float("+Scales+"[at])")
	return "dm.x * q + dm.y"
}
