package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// q3_k is blocks of 110 bytes: 32 bytes of the high bits of the codes, 64 of the low two, 16 scales of six bits in 12 bytes, d as f16. A
// value is d·(scale−32)·(q−4), with a scale for each 16 values.
type q3_k struct{ superblock }

func (q3_k) planes() []plan.Plane {
	return []plan.Plane{bytesPlane(Codes, 32, 64), bytesPlane(High, 0, 32), bytesPlane(Scales, 96, 12), bytesPlane(Unit, 108, 2)}
}

func (b q3_k) operands(rows int) []bind.Operand {
	return []bind.Operand{b.bytes(Codes, rows, 64), b.bytes(High, rows, 32),
		weightOperand(Scales, "u32", rows*b.perRow()*3), b.units(rows)}
}

// load puts scales together: the low four bits of 0 to 7 and of 8 to 15 are the halves of the first eight bytes, the high two of
// scale t are bits 2·(t/4) and up of byte 8+t%4. A trip has two scales, side by side.
func (q3_k) load(m *wgsl.Module, r string) {
	loadTwo(m, Codes, "q", "p", r)
	loadBits(m, r)
	m.Let("s"+r, "(at%s >> 3u) * 3u", r)
	m.Let("side"+r, "(at%s & 1u) * 16u", r)
	m.Let("fours"+r, "unpack4xU8(("+Scales+"[s%[1]s + ((at%[1]s >> 1u) & 1u)] >> (side%[1]s + (at%[1]s & 4u))) & 0x0f0f0f0fu)", r)
	m.Let("twos"+r, "unpack4xU8(("+Scales+"[s%[1]s + 2u] >> (side%[1]s + (at%[1]s & 6u))) & 0x03030303u)", r)
	m.Let("a"+r, "i32(fours%[1]s.x | (twos%[1]s.x << 4u)) - 32i", r)
	m.Let("b"+r, "i32(fours%[1]s.y | (twos%[1]s.y << 4u)) - 32i", r)
	loadBlockScale(m, r)
}

// unpack makes the codes signed: q−4 is, byte by byte, (q+124) with its top bit flipped.
func (q3_k) unpack(m *wgsl.Module, r string) {
	const text = "(((%s) | ((%s) << vec4<u32>(2u))) + vec4<u32>(0x7c7c7c7cu)) ^ vec4<u32>(0x80808080u)"
	m.Let("low"+r, text, two("q", r), bit("g", r))
	m.Let("high"+r, text, two("p", r), bit("h", r))
}
