package kernels

import (
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

// unpack has nothing to do: the codes are bytes.
func (q8_0) unpack(*wgsl.Module, string) {}

func (b q8_0) multiply(m *wgsl.Module, r string) { signedCodes{b}.multiply(m, r) }

func (b q8_0) multiplyQ8(m *wgsl.Module, r string, x q8Input) { signedCodes{b}.multiplyQ8(m, r, x) }

// value reads the one word that it needs.
func (b q8_0) value(m *wgsl.Module) string {
	b.locate(m)
	m.Let("word", Codes+"[at * 2u + (part >> 2u)][part & 3u]")
	b.loadHalfScale(m, "")
	return "d * vec4<f32>(unpack4xI8(word))"
}
