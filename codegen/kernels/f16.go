package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// f16 is plain halves, two in a word, read eight at a time when a row has a multiple of eight and two at a time otherwise.
// A row of an odd number would start within a word; schedules refuses it.
type f16 struct{ columns int }

func (f16) planes() []plan.Plane {
	return []plan.Plane{{Name: Values, BlockBits: 16, Fields: []plan.Field{{From: 0, At: 0, Bits: 16}}}}
}

func (f f16) wide() bool { return f.columns%8 == 0 }

func (f f16) operands(rows int) []bind.Operand {
	if f.wide() {
		return []bind.Operand{weightOperand(Values, "vec4<u32>", rows*f.columns/8)}
	}
	return []bind.Operand{weightOperand(Values, "u32", rows*f.columns/2)}
}

func (f f16) row() rowLoop {
	if f.wide() {
		return rowLoop{Trips: f.columns / 8, Vectors: 2, Width: 4}
	}
	return rowLoop{Trips: f.columns / 2, Vectors: 1, Width: 2}
}

func (f16) declare(*wgsl.Module) {}

func (f16) prepare(*wgsl.Module) {}

func (f16) load(m *wgsl.Module, r string) { m.Let("w"+r, Values+"[at%s]", r) }

func (f f16) multiply(m *wgsl.Module, r string) {
	if !f.wide() {
		m.FMA("acc"+r, "unpack2x16float(w"+r+")", "x0")
		return
	}
	m.FMA("acc"+r, halves("w"+r+".x", "w"+r+".y"), "x0")
	m.FMA("acc"+r, halves("w"+r+".z", "w"+r+".w"), "x1")
}

// halves is the text for the four values of two words.
func halves(first, second string) string {
	return "vec4<f32>(unpack2x16float(" + first + "), unpack2x16float(" + second + "))"
}

func (f f16) value(m *wgsl.Module) string {
	if !f.wide() {
		m.Let("at", "row * %du + i", f.columns/2)
		return "unpack2x16float(" + Values + "[at])"
	}
	m.Let("eight", Values+"[row * %du + (i >> 1u)]", f.columns/8)
	m.Let("pair", "select(eight.xy, eight.zw, (i & 1u) == 1u)")
	return halves("pair.x", "pair.y")
}
