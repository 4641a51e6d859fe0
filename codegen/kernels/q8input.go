package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// x in q8 is one array of words: the codes of all blocks, 8 words each, then scale and scaled sum of each, as the bits of two
// f32. The last pair is padded with zeros to whole vectors of four words.

// q8Words is the words of a vector of the given length in q8, a multiple of 4.
func q8Words(columns int) int {
	blocks := columns / blockValues
	return blocks*8 + (blocks+1)/2*4
}

// Q8Bytes is the bytes of a vector of the given length in q8.
func Q8Bytes(columns int) int { return 4 * q8Words(columns) }

// q8Input is x in q8. The codes of a trip are c0 and c1, each 16 of them; the words of a block are numbered from 0 to 7.
type q8Input struct {
	format q8Format
	blocks
	packed bool // dot4I8Packed
}

func (q8Input) suffix() string { return "_q8" }

func (q8Input) width() int { return 1 }

func (x q8Input) operand() bind.Operand {
	return bind.Operand{Name: X, Elem: "vec4<u32>", Count: q8Words(x.columns) / 4, Access: plan.Read}
}

func (x q8Input) load(m *wgsl.Module) {
	m.Let("c0", "%s[block * 2u]", X)
	m.Let("c1", "%s[block * 2u + 1u]", X)
	if !x.packed {
		for w := range 8 {
			m.Let(fmt.Sprint("v", w), "unpack4xI8(%s)", codeWord(w))
		}
	}
	m.Let("pairs", "bitcast<vec4<f32>>(%s[%du + (block >> 1u)])", X, x.perRow()*2)
	m.Let("pair", "select(pairs.xy, pairs.zw, (block & 1u) == 1u)")
	m.Let("xd", "pair.x")
	m.Let("xs", "pair.y")
}

// codeWord is the text for word w of a block's codes.
func codeWord(w int) string { return fmt.Sprintf("c%d.%c", w/4, "xyzw"[w%4]) }

func (x q8Input) multiply(m *wgsl.Module, r string) { x.format.multiplyQ8(m, r, x) }

// dot adds the products of four codes of a weight, a word, and word w of x to a variable. Both ways give the same integers.
func (x q8Input) dot(m *wgsl.Module, sum, word string, w int) {
	if x.packed {
		m.Add(sum, "dot4I8Packed(%s, %s)", word, codeWord(w))
	} else {
		m.Add(sum, "dot(unpack4xI8(%s), v%d)", word, w)
	}
}

// nibbleDots declares dots<r>: the 4-bit codes q<r> of a block times those of x.
func (x q8Input) nibbleDots(m *wgsl.Module, r string) {
	m.Var("dots"+r, "0i")
	for w, lane := range []string{"x", "y", "z", "w"} {
		word := "q" + r + "." + lane
		x.dot(m, "dots"+r, word+" & 0x0f0f0f0fu", w)
		x.dot(m, "dots"+r, "("+word+" >> 4u) & 0x0f0f0f0fu", 4+w)
	}
}
