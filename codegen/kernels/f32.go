package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// f32 is plain values, read four at a time when a row has a multiple of four.
type f32 struct{ columns int }

func (f32) planes() []plan.Plane {
	return []plan.Plane{{Name: Values, BlockBits: 32, Fields: []plan.Field{{From: 0, At: 0, Bits: 32}}}}
}

func (f f32) operands(rows int) []bind.Operand {
	width := widest(f.columns)
	return []bind.Operand{weightOperand(Values, lanes(width), rows*f.columns/width)}
}

func (f f32) row() rowLoop {
	width := widest(f.columns)
	return rowLoop{Trips: f.columns / width, Vectors: 1, Width: width}
}

func (f32) declare(*wgsl.Module) {}

func (f32) prepare(*wgsl.Module) {}

func (f32) load(m *wgsl.Module, r string) { m.Let("w"+r, Values+"[at%s]", r) }

func (f32) multiply(m *wgsl.Module, r string) { m.FMA("acc"+r, "w"+r, "x0") }

func (f f32) value(m *wgsl.Module) string {
	m.Let("at", "row * %du + i", f.row().Trips)
	return Values + "[at]"
}
