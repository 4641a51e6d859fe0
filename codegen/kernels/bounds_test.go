package kernels_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/x448/float16"
)

// seeds are three that never change and three that do: a bound that only fits the numbers it was found with shows sooner or later.
// Failures name the seed.
func seeds(t *testing.T) []uint64 {
	all := append(suite.Seeds(), suite.FreshSeeds(3)...)
	t.Logf("seeds %v", all)
	return all
}

// faulty computes a product in f32 as a kernel with one fault would. Without a fault it is one of the legal orders of the sum.
type faulty struct {
	format   quant.Type
	columns  int
	rows     int
	w        suite.Weight
	x        []float32
	residual []float32
}

// sum adds up terms in an order: one after another, backwards, in four lanes, pairwise, or in 32 threads and a tree.
func (f faulty) sum(order string, terms []float32) float32 {
	add := func(terms []float32) float32 {
		s := float32(0)
		for _, v := range terms {
			s += v
		}
		return s
	}
	lanes := func(n int) []float32 {
		parts := make([]float32, n)
		for i, v := range terms {
			parts[i%n] += v
		}
		return parts
	}
	switch order {
	case "backwards":
		back := slices.Clone(terms)
		slices.Reverse(back)
		return add(back)
	case "four lanes":
		p := lanes(4)
		return (p[0] + p[1]) + (p[2] + p[3])
	case "pairwise":
		for all := slices.Clone(terms); ; all = all[:(len(all)+1)/2] {
			if len(all) == 1 {
				return all[0]
			}
			for i := range len(all) / 2 {
				all[i] = all[2*i] + all[2*i+1]
			}
			if n := len(all); n%2 == 1 {
				all[n/2] = all[n-1]
			}
		}
	case "threads":
		p := lanes(32)
		for n := 16; n > 0; n /= 2 {
			for i := range n {
				p[i] += p[i+n]
			}
		}
		return p[0]
	case "f16":
		s := float32(0)
		for _, v := range terms {
			s = half(s + v)
		}
		return s
	}
	return add(terms)
}

// heaviest is where the block with the largest scale of a row starts, the last block left out: a fault must be seen where it matters.
func (f faulty) heaviest(row int) int {
	block, _ := f.format.Block()
	blocks := f.columns / block.Elems
	best := row * blocks
	for at := best; at < (row+1)*blocks-1; at++ {
		if size(f.scale(at*block.Elems)) > size(f.scale(best*block.Elems)) {
			best = at
		}
	}
	return best * block.Bytes
}

func size(v float32) float64 { return math.Abs(float64(v)) }

func half(v float32) float32 { return float16.Fromfloat32(v).Float32() }

// run computes all rows.
func (f faulty) run(order, fault string) []float32 {
	block, _ := f.format.Block()
	raw := slices.Clone(f.w.Raw)
	values := slices.Clone(f.w.Values)
	rowBytes := len(raw) / f.rows
	// A fault of one block is in three rows: in one, chance may hide it once in some thousand times.
	for _, row := range []int{0, f.rows / 2, f.rows - 2} {
		first := f.heaviest(row)
		b := raw[first:][:block.Bytes]
		switch fault {
		case "scale of the next block":
			copy(b[:2], f.w.Raw[first+block.Bytes:])
		case "scale of the next row":
			copy(b[:2], f.w.Raw[first+rowBytes:])
		case "nibbles swapped":
			for i := block.Bytes - 16; i < block.Bytes; i++ {
				b[i] = b[i]>>4 | b[i]<<4
			}
		case "bytes swapped":
			for i := block.Bytes - 32; i < block.Bytes; i += 2 {
				b[i], b[i+1] = b[i+1], b[i]
			}
		case "codes of the next block":
			copy(b[block.Bytes-16:], f.w.Raw[first+2*block.Bytes-16:])
		}
	}
	if fault == "unsigned codes" {
		for i := range values {
			if q := int8(raw[i/32*34+2+i%32]); q < 0 {
				values[i] = f.scale(i) * float32(uint8(q))
			}
		}
	}
	if !slices.Equal(raw, f.w.Raw) {
		if err := quant.Dequantize(f.format, values, raw); err != nil {
			panic(err)
		}
	}
	out := make([]float32, f.rows)
	for row := range out {
		var terms []float32
		for c := range f.columns {
			from, w, x := row, float32(0), f.x[c]
			if fault == "next row" {
				from = (row + 1) % f.rows
			}
			w = values[from*f.columns+c]
			lost := fault == "lane lost" && c%32 == 31 || fault == "last block lost" && c >= f.columns-32 || fault == "last value lost" && c == f.columns-1
			switch {
			case lost:
				continue
			case fault == "offset lost" && f.format == quant.Q4_0:
				w += 8 * f.scale(row*f.columns+c)
			case fault == "offset lost":
				w -= float16.Frombits(binary.LittleEndian.Uint16(f.w.Raw[(row*f.columns+c)/32*20+2:])).Float32()
			case fault == "x in f16":
				x = half(x)
			case fault == "next column":
				x = f.x[(c+1)%f.columns]
			}
			terms = append(terms, w*x)
		}
		out[row] = f.sum(order, terms)
		if fault != "residual lost" {
			out[row] += f.residual[row]
		}
	}
	return out
}

func (f faulty) scale(at int) float32 {
	block, _ := f.format.Block()
	return float16.Frombits(binary.LittleEndian.Uint16(f.w.Raw[at/block.Elems*block.Bytes:])).Float32()
}

// The bounds that products on a device are held to let every order of the sum pass, and none of the usual faults.
func TestBoundsTellFaults(t *testing.T) {
	always := []string{"lane lost", "last block lost", "last value lost", "next row", "next column", "residual lost", "x in f16"}
	ofFormat := map[quant.Type][]string{
		quant.Q4_0: {"scale of the next block", "scale of the next row", "nibbles swapped", "codes of the next block", "offset lost"},
		quant.Q4_1: {"scale of the next block", "scale of the next row", "nibbles swapped", "codes of the next block", "offset lost"},
		quant.Q8_0: {"scale of the next block", "scale of the next row", "bytes swapped", "codes of the next block", "unsigned codes"},
	}
	planted := 0
	for _, seed := range seeds(t) {
		for _, format := range kernels.Formats() {
			const rows = 33
			columns := suite.WholeBlocks(format, 576)
			r := suite.Random(seed)
			w, err := suite.NewWeight(r, format, rows, columns, 0.01)
			if err != nil {
				t.Fatal(err)
			}
			f := faulty{format, columns, rows, w, suite.Normal(r, columns, 1), suite.Normal(r, rows, 1)}
			f.x[columns-1] = 1 // whose loss must be seen
			var all []suite.Row
			for row := range rows {
				all = append(all, suite.Row{Weight: f.w, Row: row, Added: f.residual[row : row+1]})
			}
			p := suite.NewProduct(format, columns, f.x, all)
			for _, order := range []string{"forwards", "backwards", "four lanes", "pairwise", "threads"} {
				if err := p.Check(f.run(order, "")); err != nil {
					t.Errorf("%v, seed %d, summed %s: %v", format, seed, order, err)
				}
			}
			for _, fault := range append(slices.Clone(always), ofFormat[format]...) {
				planted++
				if err := p.Check(f.run("four lanes", fault)); err == nil {
					t.Errorf("%v, seed %d: the bounds let pass: %s", format, seed, fault)
				}
			}
			if err := p.Check(f.run("f16", "")); err == nil {
				t.Errorf("%v, seed %d: the bounds let a sum in f16 pass", format, seed)
			}
		}
	}
	t.Logf("%d faults", planted)
}
