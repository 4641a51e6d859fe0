package quant

import (
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/x448/float16"
)

type vectors struct {
	Types []struct {
		Type       string
		ID         Type
		BlockElems int `json:"block_elems"`
		BlockBytes int `json:"block_bytes"`
		Blocks     []struct{ Kind, Raw, F32 string }
	}
	NotCovered []struct {
		Type       string
		ID         Type
		BlockElems int `json:"block_elems"`
		BlockBytes int `json:"block_bytes"`
	} `json:"not_covered"`
}

func loadVectors(t *testing.T) (v vectors) {
	t.Helper()
	f, err := os.Open("testdata/dequant_vectors.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestVectors(t *testing.T) {
	supported := map[Type]bool{}
	for _, t := range []Type{F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, MXFP4} {
		supported[t] = true
	}
	v := loadVectors(t)
	if len(v.Types) != 28 {
		t.Fatalf("%d types, want 28", len(v.Types))
	}
	for _, c := range v.Types {
		t.Run(c.Type, func(t *testing.T) {
			if b, ok := c.ID.Block(); !ok || b != (Block{c.Type, c.BlockElems, c.BlockBytes}) {
				t.Fatalf("block %v %v", b, ok)
			}
			if Supported(c.ID) != supported[c.ID] {
				t.Fatalf("Supported = %v", Supported(c.ID))
			}
			for _, b := range c.Blocks {
				raw, bits := unhex(t, b.Raw), unhex(t, b.F32)
				got := make([]float32, len(bits)/4)
				err := Dequantize(c.ID, got, raw)
				if !supported[c.ID] {
					var u *UnsupportedError
					if !errors.As(err, &u) || u.Type != c.ID {
						t.Fatalf("%s: %v, want UnsupportedError", b.Kind, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				for i, x := range got {
					if want := binary.BigEndian.Uint32(bits[4*i:]); math.Float32bits(x) != want {
						t.Fatalf("%s element %d: %08x, want %08x", b.Kind, i, math.Float32bits(x), want)
					}
				}
			}
		})
	}
}

// Several blocks in one call give what single calls give.
func TestBlocksInOneCall(t *testing.T) {
	for _, c := range loadVectors(t).Types {
		if !Supported(c.ID) {
			continue
		}
		var raw, bits []byte
		for _, b := range c.Blocks {
			raw, bits = append(raw, unhex(t, b.Raw)...), append(bits, unhex(t, b.F32)...)
		}
		got := make([]float32, len(bits)/4)
		if err := Dequantize(c.ID, got, raw); err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if want := binary.BigEndian.Uint32(bits[4*i:]); math.Float32bits(x) != want {
				t.Fatalf("%s element %d: %08x, want %08x", c.Type, i, math.Float32bits(x), want)
			}
		}
	}
}

func TestEveryTypeHasABlock(t *testing.T) {
	v := loadVectors(t)
	if len(v.Types)+len(v.NotCovered) != len(blocks) {
		t.Errorf("%d types with blocks, want %d", len(blocks), len(v.Types)+len(v.NotCovered))
	}
	for _, c := range v.NotCovered {
		b, ok := c.ID.Block()
		if c.ID == Q8_1 {
			c.BlockBytes = 36 // see blocks
		}
		if !ok || b != (Block{c.Type, c.BlockElems, c.BlockBytes}) {
			t.Errorf("%s: block %v %v", c.Type, b, ok)
		}
		if back, ok := ParseType(c.Type); !ok || back != c.ID {
			t.Errorf("ParseType(%s) = %v %v", c.Type, back, ok)
		}
	}
}

// All 65536 halves against another implementation, as a scale and as a row. A NaN keeps its payload here; there it is quieted.
func TestHalf(t *testing.T) {
	src, row := make([]byte, 2<<16), make([]float32, 1<<16)
	for h := range row {
		binary.LittleEndian.PutUint16(src[2*h:], uint16(h))
	}
	if err := Dequantize(F16, row, src); err != nil {
		t.Fatal(err)
	}
	for h := range row {
		want := math.Float32bits(float16.Frombits(uint16(h)).Float32())
		if h&0x7c00 == 0x7c00 && h&0x3ff != 0 {
			want = want&^0x400000 | uint32(h)&0x200<<13
		}
		if got := math.Float32bits(half(src[2*h:])); got != want {
			t.Fatalf("scale %04x: %08x, want %08x", h, got, want)
		}
		if got := math.Float32bits(row[h]); got != want {
			t.Fatalf("row %04x: %08x, want %08x", h, got, want)
		}
	}
}

func TestRowBytes(t *testing.T) {
	for _, c := range []struct {
		t       Type
		columns int
		want    int
		text    string
	}{
		{Q4_1, 576, 360, ""},
		{Q8_0, 576, 612, ""},
		{Q4_K, 512, 288, ""},
		{F16, 3, 6, ""},
		{F32, 0, 0, ""},
		{Q4_K, 576, 0, "quant: 576 columns of Q4_K: not a multiple of the block of 256"},
		{Q8_0, -32, 0, "quant: -32 columns of Q8_0: negative"},
		{F64, math.MaxInt / 4, 0, "quant: 2305843009213693951 columns of F64: too many bytes to address"},
		{Type(4), 32, 0, "quant: type 4 is no known tensor type"},
		{Type(1<<32 - 1), 32, 0, "quant: type 4294967295 is no known tensor type"},
	} {
		got, err := RowBytes(c.t, c.columns)
		if c.text == "" && (err != nil || got != c.want) {
			t.Errorf("%v %d: %d, %v, want %d", c.t, c.columns, got, err, c.want)
		}
		if c.text != "" && math.MaxInt == math.MaxInt64 && (err == nil || err.Error() != c.text) {
			t.Errorf("%v %d: %v, want %s", c.t, c.columns, err, c.text)
		}
	}
}

func TestDequantizeSizes(t *testing.T) {
	for _, c := range []struct {
		columns, bytes int
		text           string
	}{
		{32, 33, "quant: 32 columns of Q8_0: want 34 bytes, have 33"},
		{64, 67, "quant: 64 columns of Q8_0: want 68 bytes, have 67"},
		{32, 68, "quant: 32 columns of Q8_0: want 34 bytes, have 68"},
		{33, 34, "quant: 33 columns of Q8_0: not a multiple of the block of 32"},
	} {
		err := Dequantize(Q8_0, make([]float32, c.columns), make([]byte, c.bytes))
		var size *SizeError
		if !errors.As(err, &size) || err.Error() != c.text {
			t.Errorf("%d columns, %d bytes: %v, want %s", c.columns, c.bytes, err, c.text)
		}
	}
	if err := Dequantize(Q4_0, nil, nil); err != nil {
		t.Error(err)
	}
}

// The figure is bytes of packed weights read per second; ns/weight is what a caller plans with.
func BenchmarkDequantize(b *testing.B) {
	const columns = 1536
	for _, typ := range []Type{F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, MXFP4} {
		b.Run(typ.String(), func(b *testing.B) {
			n, err := RowBytes(typ, columns)
			if err != nil {
				b.Fatal(err)
			}
			dst, src := make([]float32, columns), make([]byte, n)
			for i := range src {
				src[i] = byte(i * 37 % 113)
			}
			b.SetBytes(int64(n))
			for b.Loop() {
				if err := Dequantize(typ, dst, src); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/columns, "ns/weight")
		})
	}
}
