package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Formats whose codes are no nibbles of 32 values in a row hand them out as bytes: low<r> and high<r>, vec4<u32>, have the 32
// codes of a trip, value 4w+j in byte j of word w, words 0 to 3 in low. What their scales are makes four kinds of such formats.

// byteCodes is such a format but for its products.
type byteCodes interface {
	planes() []plan.Plane
	operands(rows int) []bind.Operand
	row() rowLoop
	locate(m *wgsl.Module)
	// declare declares functions that unpack calls.
	declare(m *wgsl.Module)
	// load declares the words of trip at<r>, and its scales.
	load(m *wgsl.Module, r string)
	// unpack declares low<r> and high<r>.
	unpack(m *wgsl.Module, r string)
}

// word is the text for word w of a trip's codes.
func word(r string, w int) string {
	if w < 4 {
		return fmt.Sprintf("low%s.%c", r, "xyzw"[w])
	}
	return fmt.Sprintf("high%s.%c", r, "xyzw"[w-4])
}

// The functions that turn the bytes of a word into four numbers.
const (
	signed   = "unpack4xI8"
	unsigned = "unpack4xU8"
)

// dotsF32 declares a variable: the products of words from to to-1 with their vectors of x, lane by lane.
func dotsF32(m *wgsl.Module, name, unpack, r string, from, to int) {
	for w := from; w < to; w++ {
		codes := fmt.Sprintf("vec4<f32>(%s(%s))", unpack, word(r, w))
		if w == from {
			m.Var(name, "%s * x%d", codes, w)
			continue
		}
		m.FMA(name, codes, fmt.Sprint("x", w))
	}
}

// dotsQ8 declares a variable: the sum of the products of words from to to-1 with the codes of x.
func dotsQ8(m *wgsl.Module, x q8Input, name, r string, from, to int) {
	m.Var(name, "0i")
	for w := from; w < to; w++ {
		x.dot(m, name, word(r, w), w)
	}
}

// vectorWord declares word: that of vector part of a trip.
func vectorWord(m *wgsl.Module) {
	m.Let("word", "select(low, high, part >= 4u)[part & 3u]")
}

// signedCodes is a format with a scale for each trip, d<r>, and signed codes: a value is d·q.
type signedCodes struct{ byteCodes }

func (signedCodes) prepare(*wgsl.Module) {}

func (f signedCodes) multiply(m *wgsl.Module, r string) {
	f.unpack(m, r)
	dotsF32(m, "dots"+r, signed, r, 0, 8)
	m.FMA("acc"+r, "vec4<f32>(d"+r+")", "dots"+r)
}

// multiplyQ8 is d·xd·Σ q·c. A sum has at most 32·128·127 in it, which is exact in f32.
func (f signedCodes) multiplyQ8(m *wgsl.Module, r string, x q8Input) {
	f.unpack(m, r)
	dotsQ8(m, x, "dots"+r, r, 0, 8)
	m.FMA("acc"+r, "d"+r, "xd * f32(dots"+r+")")
}

func (f signedCodes) value(m *wgsl.Module) string {
	f.locate(m)
	f.load(m, "")
	f.unpack(m, "")
	vectorWord(m)
	return "d * vec4<f32>(unpack4xI8(word))"
}

// offsetCodes is a format with a scale and an offset for each trip, d<r> and m<r>, and codes from 0 on: a value is d·q + m.
type offsetCodes struct{ byteCodes }

func (offsetCodes) prepare(m *wgsl.Module) { blocks{}.sumX(m) }

func (f offsetCodes) multiply(m *wgsl.Module, r string) {
	f.unpack(m, r)
	dotsF32(m, "dots"+r, unsigned, r, 0, 8)
	m.FMA("acc"+r, "vec4<f32>(d"+r+")", "dots"+r)
	m.FMA("acc"+r, "vec4<f32>(m"+r+")", "xs")
}

// multiplyQ8 needs m times the sum of x alone: Σ (d·q + m)·xd·c = d·xd·Σ q·c + m·xs.
func (f offsetCodes) multiplyQ8(m *wgsl.Module, r string, x q8Input) {
	f.unpack(m, r)
	dotsQ8(m, x, "dots"+r, r, 0, 8)
	m.FMA("acc"+r, "d"+r, "xd * f32(dots"+r+")")
	m.FMA("acc"+r, "m"+r, "xs")
}

func (f offsetCodes) value(m *wgsl.Module) string {
	f.locate(m)
	f.load(m, "")
	f.unpack(m, "")
	vectorWord(m)
	return "d * vec4<f32>(unpack4xU8(word)) + m"
}

// halfSignedCodes is a format with a scale d<r> for each trip, whole factors of it for each half, a<r> and b<r>, and signed
// codes: a value is d·a·q or d·b·q.
type halfSignedCodes struct{ byteCodes }

func (halfSignedCodes) prepare(*wgsl.Module) {}

func (f halfSignedCodes) multiply(m *wgsl.Module, r string) {
	f.unpack(m, r)
	dotsF32(m, "first"+r, signed, r, 0, 4)
	dotsF32(m, "second"+r, signed, r, 4, 8)
	m.FMA("acc"+r, "vec4<f32>(d"+r+" * f32(a"+r+"))", "first"+r)
	m.FMA("acc"+r, "vec4<f32>(d"+r+" * f32(b"+r+"))", "second"+r)
}

// multiplyQ8 is d·xd·(a·Σ q·c + b·Σ q·c). The sums times their factors are whole, and less than 2^24 with factors of 8 bits and codes
// of 6, so exact in f32.
func (f halfSignedCodes) multiplyQ8(m *wgsl.Module, r string, x q8Input) {
	f.unpack(m, r)
	dotsQ8(m, x, "first"+r, r, 0, 4)
	dotsQ8(m, x, "second"+r, r, 4, 8)
	m.FMA("acc"+r, "d"+r, "xd * f32(a%[1]s * first%[1]s + b%[1]s * second%[1]s)", r)
}

func (f halfSignedCodes) value(m *wgsl.Module) string {
	f.locate(m)
	f.load(m, "")
	f.unpack(m, "")
	vectorWord(m)
	return "(d * f32(select(a, b, part >= 4u))) * vec4<f32>(unpack4xI8(word))"
}

// halfOffsetCodes is a format with a scale and an offset for each trip, d<r> and m<r>, whole factors of them for each half, a<r> and
// b<r> of d, am<r> and bm<r> of m, and codes from 0 on: a value is d·a·q + m·am or d·b·q + m·bm.
type halfOffsetCodes struct{ byteCodes }

func (halfOffsetCodes) prepare(m *wgsl.Module) {
	m.Let("xa", "(x0 + x1) + (x2 + x3)")
	m.Let("xb", "(x4 + x5) + (x6 + x7)")
}

func (f halfOffsetCodes) multiply(m *wgsl.Module, r string) {
	f.unpack(m, r)
	dotsF32(m, "first"+r, unsigned, r, 0, 4)
	dotsF32(m, "second"+r, unsigned, r, 4, 8)
	m.FMA("acc"+r, "vec4<f32>(d"+r+" * f32(a"+r+"))", "first"+r)
	m.FMA("acc"+r, "vec4<f32>(d"+r+" * f32(b"+r+"))", "second"+r)
	m.FMA("acc"+r, "vec4<f32>(m"+r+" * f32(am"+r+"))", "xa")
	m.FMA("acc"+r, "vec4<f32>(m"+r+" * f32(bm"+r+"))", "xb")
}

// multiplyQ8 sums the codes of each half of x too, which only these formats need.
func (f halfOffsetCodes) multiplyQ8(m *wgsl.Module, r string, x q8Input) {
	f.unpack(m, r)
	dotsQ8(m, x, "first"+r, r, 0, 4)
	dotsQ8(m, x, "second"+r, r, 4, 8)
	m.Var("xa"+r, "0i")
	m.Var("xb"+r, "0i")
	for w := range 4 {
		x.dot(m, "xa"+r, "0x01010101u", w)
		x.dot(m, "xb"+r, "0x01010101u", 4+w)
	}
	m.FMA("acc"+r, "d"+r, "xd * f32(a%[1]s * first%[1]s + b%[1]s * second%[1]s)", r)
	m.FMA("acc"+r, "m"+r, "xd * f32(am%[1]s * xa%[1]s + bm%[1]s * xb%[1]s)", r)
}

func (f halfOffsetCodes) value(m *wgsl.Module) string {
	f.locate(m)
	f.load(m, "")
	f.unpack(m, "")
	vectorWord(m)
	m.Let("second", "part >= 4u")
	return "(d * f32(select(a, b, second))) * vec4<f32>(unpack4xU8(word)) + m * f32(select(am, bm, second))"
}
