package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q6_k is blocks of 210 bytes: 128 bytes of the low four bits of the codes, 64 of the high two, 16 signed scales, d as f16. A value is
// d·scale·(q−32), with a scale for each 16 values.
type q6_k struct{ superblock }

func (q6_k) planes() []plan.Plane {
	return []plan.Plane{bytesPlane(Codes, 0, 128), bytesPlane(High, 128, 64), bytesPlane(Scales, 192, 16), bytesPlane(Unit, 208, 2)}
}

func (b q6_k) operands(rows int) []bind.Operand {
	return []bind.Operand{b.bytes(Codes, rows, 128), b.bytes(High, rows, 64), b.bytes(Scales, rows, 16), b.units(rows)}
}

// load reads the 32 bytes whose low halves are the codes of trips 0 and 1 of four, and whose high halves those of 2 and 3.
func (q6_k) load(m *wgsl.Module, r string) {
	m.Let("place"+r, "(at%[1]s >> 2u) * 4u + (at%[1]s & 1u) * 2u", r)
	m.Let("q"+r, Codes+"[place%s]", r)
	m.Let("p"+r, Codes+"[place%s + 1u]", r)
	loadTwo(m, High, "g", "h", r)
	m.Let("ab"+r, "unpack4xI8("+Scales+"[at%[1]s >> 3u][(at%[1]s >> 1u) & 3u] >> ((at%[1]s & 1u) * 16u))", r)
	m.Let("a"+r, "ab%s.x", r)
	m.Let("b"+r, "ab%s.y", r)
	loadBlockScale(m, r)
}

// unpack makes the codes signed: q−32 is, byte by byte, (q+96) with its top bit flipped.
func (q6_k) unpack(m *wgsl.Module, r string) {
	m.Let("shift"+r, "vec4<u32>((at%s & 2u) * 2u)", r)
	const text = "((((%[2]s%[1]s >> shift%[1]s) & vec4<u32>(0x0f0f0f0fu)) | ((%[3]s) << vec4<u32>(4u))) + vec4<u32>(0x60606060u)) ^ vec4<u32>(0x80808080u)"
	m.Let("low"+r, text, r, "q", two("g", r))
	m.Let("high"+r, text, r, "p", two("h", r))
}
