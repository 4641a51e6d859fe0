package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q4_0 is blocks of 18 bytes: d as f16, then 16 bytes of codes. A value is d·(q−8), and the offset leaves the products:
//
//	Σ d·(q−8)·x = d·(Σ q·x − 8·Σ x)
type q4_0 struct{ blocks }

func (q4_0) planes() []plan.Plane {
	return []plan.Plane{nibblePlane(16), halfScalePlane()}
}

func (b q4_0) operands(rows int) []bind.Operand {
	return []bind.Operand{b.nibbleCodes(rows), b.halfScales(rows)}
}

func (b q4_0) prepare(m *wgsl.Module) { b.sumX(m) }

func (b q4_0) load(m *wgsl.Module, r string) {
	m.Let("q"+r, Codes+"[at%s]", r)
	b.loadHalfScale(m, r)
}

func (q4_0) multiply(m *wgsl.Module, r string) {
	multiplyNibbles(m, r)
	m.FMA("acc"+r, "vec4<f32>(d"+r+")", "dots"+r+" - 8.0 * xs")
}

// multiplyQ8 takes the offset out through the scaled sum of x: Σ d·(q−8)·xd·c = d·(xd·Σ q·c − 8·xs).
func (q4_0) multiplyQ8(m *wgsl.Module, r string, x q8Input) {
	x.nibbleDots(m, r)
	m.FMA("acc"+r, "d"+r, "fma(xd, f32(dots"+r+"), -8.0 * xs)")
}

func (b q4_0) value(m *wgsl.Module) string {
	b.locate(m)
	nibbleVector(m)
	b.loadHalfScale(m, "")
	return "d * (q - 8.0)"
}
