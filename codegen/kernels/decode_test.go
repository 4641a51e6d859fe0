package kernels_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// values says what value i of a block is, from the formats' specifications: a second reading of them, apart from models/quant. All
// sums and products are exact in float64, so each value is rounded once.
var values = map[quant.Type]func(b []byte, i int) float64{
	quant.F32: func(b []byte, i int) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) },
	quant.F16: func(b []byte, i int) float64 { return halfAt(b) },
	quant.BF16: func(b []byte, i int) float64 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	},
	quant.Q4_0: func(b []byte, i int) float64 { return halfAt(b) * float64(nibble(b[2:], i)-8) },
	quant.Q4_1: func(b []byte, i int) float64 { return halfAt(b)*float64(nibble(b[4:], i)) + halfAt(b[2:]) },
	quant.Q5_0: func(b []byte, i int) float64 { return halfAt(b) * float64(nibble(b[6:], i)+16*bitAt(b[2:], i)-16) },
	quant.Q5_1: func(b []byte, i int) float64 {
		return halfAt(b)*float64(nibble(b[8:], i)+16*bitAt(b[4:], i)) + halfAt(b[2:])
	},
	quant.Q8_0: func(b []byte, i int) float64 { return halfAt(b) * float64(int8(b[2+i])) },
	quant.IQ4_NL: func(b []byte, i int) float64 {
		steps := []float64{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}
		return halfAt(b) * steps[nibble(b[2:], i)]
	},
	quant.MXFP4: func(b []byte, i int) float64 {
		steps := []float64{0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6}
		return math.Ldexp(steps[nibble(b[1:], i)], int(b[0])-127)
	},
	// Of 256 values: 16 groups of 16 with a scale each, or 8 of 32.
	quant.Q2_K: func(b []byte, i int) float64 {
		scale, code := int(b[i/16]), int(b[16+i/128*32+i%32])>>(i%128/32*2)&3
		return halfAt(b[80:])*float64(scale&15)*float64(code) - halfAt(b[82:])*float64(scale>>4)
	},
	quant.Q3_K: func(b []byte, i int) float64 {
		code := int(b[32+i/128*32+i%32])>>(i%128/32*2)&3 + 4*(int(b[i%32])>>(i/32)&1) - 4
		g := i / 16
		scale := int(b[96+g%8])>>(g/8*4)&15 + 16*(int(b[104+g%4])>>(g/4*2)&3) - 32
		return halfAt(b[108:]) * float64(scale) * float64(code)
	},
	quant.Q4_K: func(b []byte, i int) float64 {
		scale, least := sixBits(b[4:], i/32)
		return halfAt(b)*scale*float64(int(b[16+i/64*32+i%32])>>(i%64/32*4)&15) - halfAt(b[2:])*least
	},
	quant.Q5_K: func(b []byte, i int) float64 {
		scale, least := sixBits(b[4:], i/32)
		code := int(b[48+i/64*32+i%32])>>(i%64/32*4)&15 + 16*(int(b[16+i%32])>>(i/32)&1)
		return halfAt(b)*scale*float64(code) - halfAt(b[2:])*least
	},
	quant.Q6_K: func(b []byte, i int) float64 {
		low, high := b[i/128*64:], b[128+i/128*32:]
		code := int(low[i%64])>>(i%128/64*4)&15 + 16*(int(high[i%32])>>(i%128/32*2)&3) - 32
		return halfAt(b[208:]) * float64(int8(b[192+i/16])) * float64(code)
	},
}

// nibble is the 4-bit code of one of 32 values in 16 bytes: the low halves have the first 16.
func nibble(b []byte, i int) int { return int(b[i%16]) >> (i / 16 * 4) & 15 }

// bitAt is a bit of a little-endian number.
func bitAt(b []byte, i int) int { return int(b[i/8]) >> (i % 8) & 1 }

// sixBits are the scale and the offset of one of 8 groups, six bits each in 12 bytes: the upper two of the last four are in the first 8.
func sixBits(b []byte, g int) (scale, least float64) {
	if g < 4 {
		return float64(b[g] & 63), float64(b[g+4] & 63)
	}
	return float64(int(b[g+4])&15 + int(b[g-4])>>6<<4), float64(int(b[g+4])>>4 + int(b[g])>>6<<4)
}

// halfAt reads an f16 by its definition: sign, exponent, fraction.
func halfAt(b []byte) float64 {
	h := int(binary.LittleEndian.Uint16(b))
	exponent, fraction := h>>10&31, float64(h&1023)
	v := math.Ldexp(1024+fraction, exponent-25)
	switch {
	case exponent == 0:
		v = math.Ldexp(fraction, -24)
	case exponent == 31 && fraction == 0:
		v = math.Inf(1)
	case exponent == 31:
		v = math.NaN()
	}
	if h>>15 == 1 {
		v = -v
	}
	return v
}

// decode reads a weight's values.
func decode(format quant.Type, raw []byte) []float32 {
	block, _ := format.Block()
	value := values[format]
	var out []float32
	for at := 0; at < len(raw); at += block.Bytes {
		for i := range block.Elems {
			out = append(out, float32(value(raw[at:][:block.Bytes], i)))
		}
	}
	return out
}

// same compares values bit for bit; NaN is NaN, whatever its bits.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// equalOrFlushed compares a result with the right one, or with the zero that WGSL lets a device make of a subnormal.
func equalOrFlushed(got, want float32) bool {
	return got == want || got == 0 && math.Abs(float64(want)) < 0x1p-126
}

// randomBlocks are blocks of nothing but random bytes. When finite, scales and f16 values are no infinities or NaN.
func randomBlocks(r *rand.Rand, format quant.Type, values int, finite bool) []byte {
	block, _ := format.Block()
	raw := make([]byte, values/block.Elems*block.Bytes)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	if !finite {
		return raw
	}
	for at := 0; at < len(raw); at += block.Bytes {
		halves := []int{0}
		scales := testgraph.ScalesOf(format)
		switch format {
		case quant.F32:
			for raw[at+3]&0x7f == 0x7f { // above 2^127, or not finite
				raw[at+3] = byte(r.Uint32())
			}
			continue
		case quant.F16:
		case quant.MXFP4: // no subnormal scale, which a device may flush
			raw[at] = max(raw[at], 2)
			continue
		default:
			if halves = []int{scales.Unit}; scales.Offset >= 0 {
				halves = append(halves, scales.Offset)
			}
		}
		for _, h := range halves {
			for raw[at+h+1]&0x7c == 0x7c {
				raw[at+h+1] = byte(r.Uint32())
			}
		}
	}
	return raw
}

// Blocks of random bytes have the values that a second decoder finds in them, in every format that models/quant reads.
func TestDecodersAgree(t *testing.T) {
	for i, seed := range seeds(t) {
		for j, format := range quant.Types() {
			if values[format] == nil {
				t.Fatalf("there is no second decoder of %v", format)
			}
			block, _ := format.Block()
			if block.Elems > 32 && i%3 != j%3 {
				continue // two seeds each, as blocks are large
			}
			n := 10_000 * block.Elems
			raw := randomBlocks(suite.Random(seed), format, n, false)
			got, want := make([]float32, n), decode(format, raw)
			if err := quant.Dequantize(format, got, raw); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !same(got[i], want[i]) {
					t.Errorf("%v, seed %d: value %d of block %d is %v, want %v", format, seed, i%block.Elems, i/block.Elems, got[i], want[i])
					break
				}
			}
		}
	}
}

// testDecode reads 10,000 blocks of random bytes as embedding rows, and some columns as rows of a head with the same weight: an x with a
// single 1. Rows are an odd number of blocks, so that those of Q4_0 and Q8_0 start at byte 2 of a word in every other row.
func testDecode(t *testing.T, d device) {
	seeds := seeds(t)
	for i, format := range kernels.Formats() {
		rows, columns := 100, 101*32
		if block, _ := format.Block(); block.Elems > 32 {
			rows, columns = 50, 13*block.Elems
		}
		seed := seeds[i%len(seeds)]
		raw := randomBlocks(suite.Random(seed), format, rows*columns, true)
		w := suite.Weight{Raw: raw, Values: decode(format, raw)}
		e := kernels.Embed{Format: format, Rows: rows, Columns: columns, Params: params}
		k, err := e.Kernel(schedules.DefaultElementwise(d.compat), d.compat)
		b := build(t, k, err)
		inputs := map[string][]byte{}
		planes(t, b, format, columns, []int{rows}, []suite.Weight{w}, inputs)
		embedded := make([][]float32, rows)
		for row := range rows {
			record := make([]uint32, params.Words())
			record[plan.ParamsToken] = uint32(row)
			inputs[kernels.Params] = suite.Words(record)
			embedded[row] = suite.Unfloats(d.run(t, b, inputs)[kernels.Y])
			want := w.Values[row*columns:][:columns]
			for c := range want {
				if !same(embedded[row][c], want[c]) && (embedded[row][c] != 0 || want[c] != 0) {
					t.Fatalf("%s, seed %d: value %d of row %d is %v, want %v", b.Name, seed, c, row, embedded[row][c], want[c])
				}
			}
		}
		g := kernels.GEMV{Format: format, Columns: columns, Results: []int{rows}, Epilogue: kernels.Store}
		head, err := g.Kernel(schedules.DefaultGEMV(g.Problem(), d.portable), d.portable)
		h := build(t, head, err)
		for _, c := range []int{0, 1, 15, 16, 31, 32, 1615, 3199, 3200, columns - 1} {
			x := make([]float32, columns)
			x[c] = 1
			column := make([]float32, rows)
			for row := range column {
				column[row] = embedded[row][c]
			}
			inputs := map[string][]byte{kernels.X: suite.Floats(x)}
			planes(t, h, format, columns, g.Results, []suite.Weight{w}, inputs)
			if got := suite.Unfloats(d.run(t, h, inputs)[kernels.Result(0)]); !slices.EqualFunc(got, column, equalOrFlushed) {
				t.Errorf("%s, seed %d: column %d of the head is not that of the embedding", h.Name, seed, c)
			}
		}
	}
}
