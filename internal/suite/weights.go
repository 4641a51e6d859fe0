package suite

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/x448/float16"
)

// Weight is rows of a matrix as a file holds them, and their values.
type Weight struct {
	Raw    []byte
	Values []float32
}

// NewWeight draws blocks of random codes with scales near the given size; every 16th scale is a subnormal of f16.
func NewWeight(r *rand.Rand, format quant.Type, rows, columns int, scale float64) (Weight, error) {
	block, _ := format.Block()
	raw := make([]byte, rows*columns/block.Elems*block.Bytes)
	for at := 0; at < len(raw); at += block.Bytes {
		b := raw[at : at+block.Bytes]
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		half := func(offset int, v float64) {
			if r.IntN(16) == 0 {
				v = r.Float64() * 6e-5
			}
			binary.LittleEndian.PutUint16(b[offset:], uint16(float16.Fromfloat32(float32(v))))
		}
		switch format {
		case quant.F32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(r.NormFloat64()*scale)))
		case quant.F16:
			half(0, scale*r.NormFloat64())
		case quant.MXFP4:
			b[0] = byte(114 + r.IntN(16))
		default:
			at := testgraph.ScalesOf(format)
			half(at.Unit, scale*r.NormFloat64()*8/float64(at.Most))
			if at.Offset >= 0 {
				half(at.Offset, -8*scale*r.Float64()*8/float64(at.Most))
			}
		}
	}
	return decoded(format, raw, rows*columns)
}

func decoded(format quant.Type, raw []byte, n int) (Weight, error) {
	w := Weight{raw, make([]float32, n)}
	return w, quant.Dequantize(format, w.Values, raw)
}

// WholeBlocks rounds a number of columns up to whole blocks.
func WholeBlocks(format quant.Type, columns int) int {
	block, _ := format.Block()
	return (columns + block.Elems - 1) / block.Elems * block.Elems
}

// run is consecutive rows of one of the weights that are stacked in a kernel.
type run struct {
	stacked int // the number of the weight
	before  int // rows of the weights before it
	of      int // its rows
	from    int // the first row of the run, in the weight
	rows    int
	Weight
}

// runs cuts the rows of a stack into runs: the whole weights, or with a sample, the rows that pick returns true for and what lies
// between them and whole words.
func runs(format quant.Type, columns int, stack []int, pick func(row int) bool) ([]run, error) {
	recipe, err := kernels.Recipe(format, columns)
	if err != nil {
		return nil, err
	}
	var all []run
	before := 0
	for i, n := range stack {
		group := n
		if pick != nil {
			group = recipe.RowGroup()
		}
		for from := 0; from < n; from += group {
			rows := min(group, n-from)
			if pick != nil && !pickAny(pick, before+from, rows) {
				continue
			}
			if last := len(all) - 1; last >= 0 && all[last].stacked == i && all[last].from+all[last].rows == from {
				all[last].rows += rows
				continue
			}
			all = append(all, run{stacked: i, before: before, of: n, from: from, rows: rows})
		}
		before += n
	}
	return all, nil
}

func pickAny(pick func(row int) bool, from, n int) bool {
	for row := from; row < from+n; row++ {
		if pick(row) {
			return true
		}
	}
	return false
}

// drawRuns gives runs their weights.
func drawRuns(r *rand.Rand, format quant.Type, columns int, all []run) error {
	for i := range all {
		var err error
		if all[i].Weight, err = NewWeight(r, format, all[i].rows, columns, 0.01); err != nil {
			return err
		}
	}
	return nil
}

// wholeRuns is the runs of whole weights.
func wholeRuns(stack []int, weights []Weight) []run {
	var all []run
	before := 0
	for i, n := range stack {
		all = append(all, run{i, before, n, 0, n, weights[i]})
		before += n
	}
	return all
}

// Planes repacks weights stacked in one kernel, each by its recipe, into the operands that hold the planes.
func Planes(k *Kernel, format quant.Type, columns int, stack []int, weights []Weight, inputs map[string][]byte) error {
	parts := map[string][]Part{}
	if err := planes(format, columns, wholeRuns(stack, weights), parts); err != nil {
		return err
	}
	for name, all := range parts {
		inputs[name] = make([]byte, k.bytes(name))
		for _, p := range all {
			copy(inputs[name][p.Offset:], p.Data)
		}
	}
	return nil
}

func planes(format quant.Type, columns int, all []run, inputs map[string][]Part) error {
	layout, err := kernels.Recipe(format, columns)
	if err != nil {
		return err
	}
	for _, r := range all {
		recipe := layout
		recipe.Rows, recipe.Planes = r.of, slices.Clone(layout.Planes)
		for j := range recipe.Planes {
			p := &recipe.Planes[j]
			p.To = plan.Range{Buffer: j, Offset: uint64(r.before * p.RowStride), Bytes: uint64((r.of*p.RowStride + 3) / 4 * 4)}
		}
		if err := recipe.Check(); err != nil {
			return fmt.Errorf("%v: %w", format, err)
		}
		for j, p := range recipe.Planes {
			offset, bytes := recipe.Span(j, r.from, r.rows)
			data := make([]byte, bytes)
			recipe.Repack(j, data, r.from, r.rows, r.Raw)
			inputs[p.Name] = append(inputs[p.Name], Part{p.To.Offset + offset, data})
		}
	}
	return nil
}
