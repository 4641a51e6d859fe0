package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// The formats with 5-bit codes keep the low four bits of a block's as the 4-bit formats do, and the fifth bits in a word of
// their own: bit i is that of value i.

// fifthPlane is the 4 bytes of fifth bits that start at the given bit of a block.
func fifthPlane(from int) plan.Plane {
	return plan.Plane{Name: High, BlockBits: 32, Fields: []plan.Field{{From: from, At: 0, Bits: 32}}}
}

// fifths is the plane of fifth bits, a block an element.
func (b blocks) fifths(rows int) bind.Operand { return weightOperand(High, "u32", rows*b.perRow()) }

// loadFifths declares q<r> and fifth<r>: both parts of the codes of block at<r>.
func loadFifths(m *wgsl.Module, r string) {
	m.Let("q"+r, Codes+"[at%s]", r)
	m.Let("fifth"+r, "vec4<u32>("+High+"[at%s])", r)
}

// lowFifths and highFifths are the texts for the codes of a block, from 0 to 31. A product with 0x02040810 puts each of four bits into
// the fifth bit of a byte of its own.
func lowFifths(r string) string { return fifthsText("q"+r, r, "0u, 4u, 8u, 12u") }

func highFifths(r string) string {
	return fifthsText("(q"+r+" >> vec4<u32>(4u))", r, "16u, 20u, 24u, 28u")
}

func fifthsText(fours, r, shifts string) string {
	return "(" + fours + " & vec4<u32>(0x0f0f0f0fu)) | ((((fifth" + r + " >> vec4<u32>(" + shifts + ")) & vec4<u32>(0xfu))" +
		" * vec4<u32>(0x02040810u)) & vec4<u32>(0x10101010u))"
}
