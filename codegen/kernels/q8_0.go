package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q8_0 is blocks of 34 bytes: d as f16, then 32 signed bytes of codes. A value is d·q:
//
//	Σ d·q·x = d·Σ q·x
//
// Byte j of word w of a block's codes holds value 4w+j, so word w meets vector w of x.
type q8_0 struct{ blocks }

func (q8_0) planes() []plan.Plane {
	return []plan.Plane{
		{Name: Codes, BlockBits: 256, Fields: []plan.Field{{From: 16, At: 0, Bits: 256}}},
		halfScalePlane(),
	}
}

func (b q8_0) operands(rows int) []bind.Operand {
	return []bind.Operand{weightOperand(Codes, "vec4<u32>", rows*b.perRow()*2), b.halfScales(rows)}
}

func (q8_0) prepare(*wgsl.Module) {}

func (b q8_0) load(m *wgsl.Module, r string) {
	m.Let("low"+r, Codes+"[at%s * 2u]", r)
	m.Let("high"+r, Codes+"[at%s * 2u + 1u]", r)
	b.loadHalfScale(m, r)
}

func (q8_0) multiply(m *wgsl.Module, r string) {
	for w := range 8 {
		half := "low" + r
		if w >= 4 {
			half = "high" + r
		}
		codes := fmt.Sprintf("vec4<f32>(unpack4xI8(%s.%c))", half, "xyzw"[w%4])
		if w == 0 {
			m.Var("dots"+r, codes+" * x0")
			continue
		}
		m.FMA("dots"+r, codes, fmt.Sprint("x", w))
	}
	m.FMA("acc"+r, "vec4<f32>(d"+r+")", "dots"+r)
}

// multiplyQ8 is d·xd·Σ q·c. A sum has at most 32·128·127 in it, which is exact in f32.
func (q8_0) multiplyQ8(m *wgsl.Module, r string, x q8Input) {
	m.Var("dots"+r, "0i")
	for w := range 8 {
		half := "low" + r
		if w >= 4 {
			half = "high" + r
		}
		x.dot(m, "dots"+r, fmt.Sprintf("%s.%c", half, "xyzw"[w%4]), w)
	}
	m.FMA("acc"+r, "d"+r, "xd * f32(dots"+r+")")
}

func (b q8_0) value(m *wgsl.Module) string {
	b.locate(m)
	m.Let("word", Codes+"[at * 2u + (part >> 2u)][part & 3u]")
	b.loadHalfScale(m, "")
	return "d * vec4<f32>(unpack4xI8(word))"
}
