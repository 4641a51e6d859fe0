package kernels_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// layout is where a block has its parts, from the format's specification: a second reading of it, apart from models/quant. Value i is
// d·(code − offset) + m; its code is bits of one byte.
type layout struct {
	elems, bytes int
	d, m         int // the bytes where f16 numbers are; -1 for none
	code         func(i int) (at, shift int)
	bits         int
	signed       bool
	offset       int
}

// nibbleAt says where 16 bytes from the given one on have the codes of 32 values.
func nibbleAt(first int) func(i int) (at, shift int) {
	return func(i int) (int, int) { return first + i%16, i / 16 * 4 }
}

// values gives value i of a block of the other formats, by the formulas of the format's specification, exact until it is rounded once.
var values = map[quant.Type]func(b []byte, i int) float64{
	quant.Q5_0: func(b []byte, i int) float64 { return halfAt(b) * float64(fiveBits(b[6:], b[2:], i)-16) },
	quant.Q5_1: func(b []byte, i int) float64 { return halfAt(b)*float64(fiveBits(b[8:], b[4:], i)) + halfAt(b[2:]) },
	quant.IQ4_NL: func(b []byte, i int) float64 {
		return halfAt(b) * []float64{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}[fourBits(b[2:], i)]
	},
	quant.MXFP4: func(b []byte, i int) float64 {
		return math.Ldexp([]float64{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}[fourBits(b[1:], i)], int(b[0])-128)
	},
	quant.Q2_K: func(b []byte, i int) float64 {
		s := int(b[i/16])
		return halfAt(b[80:])*float64((s&15)*twoBits(b[16:], i)) - halfAt(b[82:])*float64(s>>4)
	},
	quant.Q3_K: func(b []byte, i int) float64 {
		t, s := i/16, b[96:]
		scale := int(s[t%8]) >> (t / 8 * 4) & 15
		scale |= int(s[8+t%4]) >> (2 * (t / 4)) & 3 << 4
		q := twoBits(b[32:], i)
		if b[i%32]>>(i/32)&1 == 0 {
			q -= 4
		}
		return halfAt(b[108:]) * float64(scale-32) * float64(q)
	},
	quant.Q4_K: func(b []byte, i int) float64 {
		scale, minimum := pairOf(b[4:], i/32)
		return halfAt(b)*float64(scale*(int(b[16+i/64*32+i%32])>>(i/32%2*4)&15)) - halfAt(b[2:])*float64(minimum)
	},
	quant.Q5_K: func(b []byte, i int) float64 {
		scale, minimum := pairOf(b[4:], i/32)
		q := int(b[48+i/64*32+i%32])>>(i/32%2*4)&15 + int(b[16+i%32])>>(i/32)&1*16
		return halfAt(b)*float64(scale*q) - halfAt(b[2:])*float64(minimum)
	},
	quant.Q6_K: func(b []byte, i int) float64 {
		n, j, l := i/128, i%128/32, i%32
		q := int(b[64*n+32*(j%2)+l])>>(j/2*4)&15 + int(b[128+32*n+l])>>(2*j)&3*16
		return halfAt(b[208:]) * float64(int8(b[192+i/16])) * float64(q-32)
	},
}

func fourBits(b []byte, i int) int { return int(b[i%16]) >> (i / 16 * 4) & 15 }

func fiveBits(low, high []byte, i int) int { return fourBits(low, i) | int(high[i/8])>>(i%8)&1<<4 }

func twoBits(b []byte, i int) int { return int(b[i/128*32+i%32]) >> (i % 128 / 32 * 2) & 3 }

// pairOf reads scale and minimum of group g out of twelve bytes.
func pairOf(s []byte, g int) (scale, minimum int) {
	if g < 4 {
		return int(s[g]) & 63, int(s[g+4]) & 63
	}
	return int(s[g+4])&15 + int(s[g-4])>>6*16, int(s[g+4])>>4 + int(s[g])>>6*16
}

var layouts = map[quant.Type]layout{
	quant.Q4_0: {32, 18, 0, -1, nibbleAt(2), 4, false, 8},
	quant.Q4_1: {32, 20, 0, 2, nibbleAt(4), 4, false, 0},
	quant.Q8_0: {32, 34, 0, -1, func(i int) (int, int) { return 2 + i, 0 }, 8, true, 0},
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

// decode reads a weight's values. Sums of an f16 and a product of f16 and code are exact in float64, so each is rounded once.
func decode(format quant.Type, raw []byte) []float32 {
	var out []float32
	switch format {
	case quant.F32:
		return unfloats(raw)
	case quant.BF16:
		for at := 0; at < len(raw); at += 2 {
			out = append(out, math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[at:]))<<16))
		}
		return out
	case quant.F16:
		for at := 0; at < len(raw); at += 2 {
			out = append(out, float32(halfAt(raw[at:])))
		}
		return out
	}
	if value := values[format]; value != nil {
		block, _ := format.Block()
		for at := 0; at < len(raw); at += block.Bytes {
			for i := range block.Elems {
				out = append(out, float32(value(raw[at:][:block.Bytes], i)))
			}
		}
		return out
	}
	l := layouts[format]
	for at := 0; at < len(raw); at += l.bytes {
		b := raw[at:][:l.bytes]
		d, m := halfAt(b[l.d:]), 0.0
		if l.m >= 0 {
			m = halfAt(b[l.m:])
		}
		for i := range l.elems {
			byteAt, shift := l.code(i)
			code := int(b[byteAt]) >> shift & (1<<l.bits - 1)
			if l.signed && code >= 1<<(l.bits-1) {
				code -= 1 << l.bits
			}
			v := float32(d * float64(code-l.offset))
			if l.m >= 0 {
				v = float32(d*float64(code) + m)
			}
			out = append(out, v)
		}
	}
	return out
}

// same compares values bit for bit; NaN is NaN, whatever its bits.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
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

// Blocks of random bytes have the values that a second decoder finds in them.
func TestDecodersAgree(t *testing.T) {
	for _, seed := range seeds(t) {
		for _, format := range append(kernels.Formats(), quant.BF16) {
			block, _ := format.Block()
			n := 10_000 * block.Elems
			raw := randomBlocks(random(seed), format, n, false)
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
		raw := randomBlocks(random(seed), format, rows*columns, true)
		w := weight{raw, decode(format, raw)}
		e := kernels.Embed{Format: format, Rows: rows, Columns: columns, Params: params}
		k, err := e.Kernel(schedules.DefaultElementwise(d.compat), d.compat)
		b := build(t, k, err)
		inputs := map[string][]byte{}
		planes(t, b, format, columns, []int{rows}, []weight{w}, inputs)
		embedded := make([][]float32, rows)
		for row := range rows {
			record := make([]uint32, params.Words())
			record[plan.ParamsToken] = uint32(row)
			inputs[kernels.Params] = words(record)
			embedded[row] = unfloats(d.run(t, b, inputs)[kernels.Y])
			want := w.values[row*columns:][:columns]
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
			if got := d.multiply(t, h, g, []weight{w}, x, nil); !slices.Equal(got, column) {
				t.Errorf("%s, seed %d: column %d of the head is not that of the embedding", h.Name, seed, c)
			}
		}
	}
}
