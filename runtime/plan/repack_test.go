package plan

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// genRecipe makes a recipe that Check accepts: a block's bits cut into fields, dealt to planes, with gaps and padding.
func genRecipe(t *rapid.T) Recipe {
	r := Recipe{
		Type:       "TEST",
		Rows:       rapid.IntRange(1, 7).Draw(t, "rows"),
		RowBlocks:  rapid.IntRange(1, 5).Draw(t, "blocks"),
		BlockBytes: rapid.IntRange(1, 20).Draw(t, "block bytes"),
	}
	unit := rapid.SampledFrom([]int{1, 4, 8, 16}).Draw(t, "unit") // bits that fields are multiples of
	planes := make([]Plane, rapid.IntRange(1, 3).Draw(t, "planes"))
	for from, total := 0, r.BlockBytes*8; from < total; {
		n := min(total-from, unit*rapid.IntRange(1, 5).Draw(t, "field"))
		p := &planes[rapid.IntRange(0, len(planes)-1).Draw(t, "plane")]
		p.Fields = append(p.Fields, Field{From: from, Bits: n})
		from += n
	}
	offset := uint64(0)
	for i := range planes {
		p := &planes[i]
		if len(p.Fields) == 0 {
			continue
		}
		p.Name = string(rune('a' + i))
		p.Fields = rapid.Permutation(p.Fields).Draw(t, "order")
		for j := range p.Fields {
			p.BlockBits += unit * rapid.IntRange(0, 1).Draw(t, "gap")
			p.Fields[j].At = p.BlockBits
			p.BlockBits += p.Fields[j].Bits
		}
		p.BlockBits += unit * rapid.IntRange(0, 2).Draw(t, "pad")
		p.RowStride = (r.RowBlocks*p.BlockBits+7)/8 + rapid.IntRange(0, 5).Draw(t, "row pad")
		p.To = Range{Offset: offset, Bytes: r.planeBytes(p)}
		offset += p.To.Bytes
		r.Planes = append(r.Planes, *p)
	}
	return r
}

// bit reads one bit: the independent way to say what a recipe means.
func bit(b []byte, i int) byte { return b[i/8] >> (i % 8) & 1 }

// TestRepack compares Repack, in chunks of rows, with the definition bit by bit, and runs it backwards.
func TestRepack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := genRecipe(t)
		if err := r.Check(); err != nil {
			t.Fatalf("%v\n%+v", err, r)
		}
		src := rapid.SliceOfN(rapid.Byte(), r.Rows*r.RowBytes(), r.Rows*r.RowBytes()).Draw(t, "file")
		restored := bytes.Repeat([]byte{0xa5}, len(src))
		group := r.RowGroup() * rapid.IntRange(1, 3).Draw(t, "chunk")
		for i := range r.Planes {
			p := &r.Planes[i]
			plane := bytes.Repeat([]byte{0x5a}, int(p.To.Bytes))
			for first := 0; first < r.Rows; first += group {
				rows := min(group, r.Rows-first)
				offset, n := r.Span(i, first, rows)
				if offset%4 != 0 || n%4 != 0 {
					t.Fatalf("rows %d..%d are %d bytes at %d", first, first+rows, n, offset)
				}
				r.Repack(i, plane[offset:offset+n], first, rows, src[first*r.RowBytes():])
				r.Restore(i, restored[first*r.RowBytes():], first, rows, plane[offset:offset+n])
			}
			checkPlaneBits(t, &r, p, plane, src)
		}
		if !bytes.Equal(restored, src) {
			t.Fatalf("restored %x, want %x", restored, src)
		}
	})
}

func checkPlaneBits(t *rapid.T, r *Recipe, p *Plane, plane, src []byte) {
	want := make([]byte, len(plane))
	for row := range r.Rows {
		for block := range r.RowBlocks {
			for _, f := range p.Fields {
				for i := range f.Bits {
					from := (row*r.RowBlocks+block)*r.BlockBytes*8 + f.From + i
					at := row*p.RowStride*8 + block*p.BlockBits + f.At + i
					want[at/8] |= bit(src, from) << (at % 8)
				}
			}
		}
	}
	if !bytes.Equal(plane, want) {
		t.Fatalf("plane %s is %x, want %x", p.Name, plane, want)
	}
}

func TestRecipeMistakes(t *testing.T) {
	if r := halves(0, 0); r.Check() != nil {
		t.Fatal(r.Check())
	}
	for _, c := range []struct {
		name   string
		change func(r *Recipe)
		want   string
	}{
		{"no rows", func(r *Recipe) { r.Rows = 0 }, "it needs rows, blocks and planes"},
		{"no planes", func(r *Recipe) { r.Planes = nil }, "it needs rows, blocks and planes"},
		{"no fields", func(r *Recipe) { r.Planes[0].Fields = nil }, "plane low: it needs bits, a row stride and fields"},
		{"bit lost in the middle", func(r *Recipe) { r.Planes[1].Fields[0] = Field{17, 0, 15} }, "bit 16 of a block goes nowhere"},
		{"bit lost at the end", func(r *Recipe) { r.Planes[1].Fields[0] = Field{16, 0, 15} }, "bit 31 of a block goes nowhere"},
		{"bit used twice", func(r *Recipe) { r.Planes[1].Fields[0] = Field{15, 0, 16} }, "bit 15 of a block goes to two places"},
		{"field outside the block", func(r *Recipe) { r.Planes[1].Fields[0] = Field{20, 0, 16} }, "plane high: a field of 16 bits from 20 to 0 leaves its block"},
		{"field outside the plane's block", func(r *Recipe) { r.Planes[1].Fields[0] = Field{16, 4, 16} }, "leaves its block"},
		{"field at a negative place", func(r *Recipe) { r.Planes[1].Fields[0] = Field{16, -1, 16} }, "leaves its block"},
		{"field of no bits", func(r *Recipe) { r.Planes[1].Fields[0].Bits = 0 }, "leaves its block"},
		{"place filled twice", func(r *Recipe) { r.Planes[1].Fields = []Field{{16, 0, 8}, {24, 7, 8}} }, "plane high: bit 7 is filled twice"},
		{"stride less than a row", func(r *Recipe) { r.Planes[0].RowStride = 31 }, "plane low: its row stride of 31 bytes is less than a row"},
		{"range less than the rows", func(r *Recipe) { r.Planes[0].To.Bytes = 252 }, "plane low: its range of 252 bytes is less than the 256 of its rows"},
		{"range at an odd place", func(r *Recipe) { r.Planes[0].To.Offset = 2 }, "plane low: its range is not a multiple of 4"},
		{"planes overlap", func(r *Recipe) { r.Planes[1].To.Offset = 252 }, "planes low and high overlap"},
		{"too many rows", func(r *Recipe) { r.Rows = math.MaxInt >> 3 }, "plane low: it is too large"},
		{"rows too long", func(r *Recipe) { r.RowBlocks = math.MaxInt >> 3 }, "its rows are too long"},
	} {
		r := halves(0, 0)
		c.change(&r)
		err := r.Check()
		if err == nil || !strings.HasPrefix(err.Error(), "plan: recipe of F32: ") || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

// BenchmarkRepack repacks rows of Q4_0 (18 bytes: a scale, then 16 bytes of codes) whole and with its nibbles reordered.
func BenchmarkRepack(b *testing.B) {
	whole := Recipe{Type: "Q4_0", Rows: 576, RowBlocks: 18, BlockBytes: 18, Planes: []Plane{
		{Name: "scales", BlockBits: 16, RowStride: 36, Fields: []Field{{0, 0, 16}}},
		{Name: "codes", BlockBits: 128, RowStride: 288, Fields: []Field{{16, 0, 128}}},
	}}
	reordered := whole
	reordered.Planes = []Plane{whole.Planes[0], {Name: "codes", BlockBits: 128, RowStride: 288}}
	for i := range 32 {
		reordered.Planes[1].Fields = append(reordered.Planes[1].Fields, Field{16 + 4*(i%2*16+i/2), 4 * i, 4})
	}
	for _, c := range []struct {
		name   string
		recipe Recipe
	}{{"bytes", whole}, {"nibbles", reordered}} {
		b.Run(c.name, func(b *testing.B) {
			r := c.recipe
			for i := range r.Planes {
				r.Planes[i].To.Bytes = r.planeBytes(&r.Planes[i])
			}
			src, dst := make([]byte, r.Rows*r.RowBytes()), make([]byte, r.Rows*288)
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				for i := range r.Planes {
					r.Repack(i, dst, 0, r.Rows, src)
				}
			}
		})
	}
}
