package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// The formats with 4-bit codes keep those of a block in 16 bytes: byte j holds value j in its low half and value 16+j in
// its high half, so word w meets vectors w and 4+w of x.

// nibblePlane is the 16 bytes of codes that start at the given bit of a block.
func nibblePlane(from int) plan.Plane {
	return plan.Plane{Name: Codes, BlockBits: 128, Fields: []plan.Field{{From: from, At: 0, Bits: 128}}}
}

// nibbleCodes is the plane of codes, a block an element.
func (b blocks) nibbleCodes(rows int) bind.Operand {
	return weightOperand(Codes, "vec4<u32>", rows*b.perRow())
}

// nibbles is the text for the codes in the low halves of a word's bytes, as floats.
func nibbles(word string) string {
	return "vec4<f32>(unpack4xU8(" + word + " & 0x0f0f0f0fu))"
}

// multiplyNibbles declares dots<r>: the codes q<r> of a block times x, lane by lane.
func multiplyNibbles(m *wgsl.Module, r string) {
	for w, lane := range []string{"x", "y", "z", "w"} {
		word := "q" + r + "." + lane
		if w == 0 {
			m.Var("dots"+r, nibbles(word)+" * x0")
		} else {
			m.FMA("dots"+r, nibbles(word), fmt.Sprint("x", w))
		}
		m.FMA("dots"+r, nibbles("("+word+" >> 4u)"), fmt.Sprint("x", 4+w))
	}
}

// nibbleVector declares q: the codes of vector part of block at.
func nibbleVector(m *wgsl.Module) {
	m.Let("word", Codes+"[at][part & 3u]")
	m.Let("q", nibbles("(word >> (part & 4u))"))
}
