package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// The K types have blocks of 256 values, and scales of six or eight bits for each 16 or 32 of them. A trip is 32 values, so
// eight trips make a block: trip at<r> is part at<r>&7 of block at<r>>>3.

// bytesPlane is n bytes from a byte of a block on.
func bytesPlane(name string, from, n int) plan.Plane {
	return plan.Plane{Name: name, BlockBits: 8 * n, Fields: []plan.Field{{From: 8 * from, At: 0, Bits: 8 * n}}}
}

// superblock is what they have in common.
type superblock struct{ blocks }

func (b superblock) perRow() int { return b.columns / 256 }

// bytes is a plane of n bytes of a block, read 16 at a time.
func (b superblock) bytes(name string, rows, n int) bind.Operand {
	return weightOperand(name, "vec4<u32>", rows*b.perRow()*n/16)
}

// loadFour declares q<r> and p<r>: 32 bytes of codes of four bits. Of 64 values, those of an even trip are the low halves, those of an
// odd one the high halves.
func loadFour(m *wgsl.Module, r string) {
	m.Let("q"+r, Codes+"[(at%s >> 1u) * 2u]", r)
	m.Let("p"+r, Codes+"[(at%s >> 1u) * 2u + 1u]", r)
}

// four is the text for codes of four bits of a name, q or p.
func four(name, r string) string {
	return "(" + name + r + " >> vec4<u32>((at" + r + " & 1u) * 4u)) & vec4<u32>(0x0f0f0f0fu)"
}

// loadTwo declares q<r> and p<r>: 32 bytes of codes of two bits, of which each byte has those of four trips.
func loadTwo(m *wgsl.Module, plane, q, p, r string) {
	m.Let(q+r, plane+"[(at%s >> 2u) * 2u]", r)
	m.Let(p+r, plane+"[(at%s >> 2u) * 2u + 1u]", r)
}

// two is the text for codes of two bits of a name, q or p.
func two(name, r string) string {
	return "(" + name + r + " >> vec4<u32>((at" + r + " & 3u) * 2u)) & vec4<u32>(0x03030303u)"
}

// loadBits declares g<r> and h<r>: 32 bytes of which bit g of each belongs to trip g of the block.
func loadBits(m *wgsl.Module, r string) {
	m.Let("g"+r, High+"[(at%s >> 3u) * 2u]", r)
	m.Let("h"+r, High+"[(at%s >> 3u) * 2u + 1u]", r)
}

// bit is the text for the bits of a trip of a name, g or h, as 0 or 1 in each byte.
func bit(name, r string) string {
	return "(" + name + r + " >> vec4<u32>(at" + r + " & 7u)) & vec4<u32>(0x01010101u)"
}

// loadPairs declares d<r> and m<r> from 16 bytes: d and the unit of minima as f16, eight scales and minima of six bits. Scales and minima
// of the first four trips are the low six bits of bytes 4 to 11; those of the others have their low four bits in bytes 12 to 15 and
// their high two atop of the former.
func loadPairs(m *wgsl.Module, r string) {
	m.Let("s"+r, Scales+"[at%s >> 3u]", r)
	m.Let("bytes"+r, "s%[1]s.yzw >> vec3<u32>((at%[1]s & 3u) * 8u)", r)
	m.Let("late"+r, "(at%s & 4u) != 0u", r)
	m.Let("scale"+r, "select(bytes%[1]s.x & 63u, (bytes%[1]s.z & 15u) | ((bytes%[1]s.x >> 2u) & 48u), late%[1]s)", r)
	m.Let("minimum"+r, "select(bytes%[1]s.y & 63u, ((bytes%[1]s.z >> 4u) & 15u) | ((bytes%[1]s.y >> 2u) & 48u), late%[1]s)", r)
	m.Let("units"+r, "unpack2x16float(s%s.x)", r)
	m.Let("d"+r, "units%[1]s.x * f32(scale%[1]s)", r)
	m.Let("m"+r, "-(units%[1]s.y * f32(minimum%[1]s))", r)
}

// loadBlockScale declares d<r>, the f16 of the block of trip at<r>.
func loadBlockScale(m *wgsl.Module, r string) {
	m.Let("d"+r, "unpack2x16float("+Unit+"[at%[1]s >> 4u])[(at%[1]s >> 3u) & 1u]", r)
}

// units is the plane of one f16 for each block, two blocks in a word.
func (b superblock) units(rows int) bind.Operand {
	return weightOperand(Unit, "u32", (rows*b.perRow()+1)/2)
}
