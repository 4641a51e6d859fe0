package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q2_k is blocks of 84 bytes: 16 bytes with a scale in the low half and a minimum in the high one, 64 bytes of codes, d and the unit of
// minima as f16. A value is d·scale·q − unit·minimum, with scale and minimum for each 16 values.
type q2_k struct{ superblock }

func (q2_k) planes() []plan.Plane {
	return []plan.Plane{bytesPlane(Codes, 16, 64), bytesPlane(Scales, 0, 16), bytesPlane(Unit, 80, 4)}
}

func (b q2_k) operands(rows int) []bind.Operand {
	return []bind.Operand{b.bytes(Codes, rows, 64), b.bytes(Scales, rows, 16), weightOperand(Unit, "u32", rows*b.perRow())}
}

func (q2_k) load(m *wgsl.Module, r string) {
	loadTwo(m, Codes, "q", "p", r)
	m.Let("pair"+r, Scales+"[at%[1]s >> 3u][(at%[1]s >> 1u) & 3u] >> ((at%[1]s & 1u) * 16u)", r)
	m.Let("a"+r, "i32(pair%s & 15u)", r)
	m.Let("am"+r, "i32((pair%s >> 4u) & 15u)", r)
	m.Let("b"+r, "i32((pair%s >> 8u) & 15u)", r)
	m.Let("bm"+r, "i32((pair%s >> 12u) & 15u)", r)
	m.Let("units"+r, "unpack2x16float("+Unit+"[at%s >> 3u])", r)
	m.Let("d"+r, "units%s.x", r)
	m.Let("m"+r, "-units%s.y", r)
}

func (q2_k) unpack(m *wgsl.Module, r string) {
	m.Let("low"+r, two("q", r))
	m.Let("high"+r, two("p", r))
}
