package suite

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/schedules"
)

// gemvTrials multiplies with vectors of plain values.
func gemvTrials(k *Kernel, g kernels.GEMV, s schedules.GEMV, groups []int, seed uint64) ([]Trial, error) {
	r := Random(seed)
	stack, err := newStack(k, g, s, groups, seed)
	if err != nil {
		return nil, err
	}
	all, together := make([]Trial, vectors(len(stack.rows))), new(pool)
	for i := range all {
		x := Normal(r, g.Columns, 1)
		inputs := maps.Clone(stack.inputs)
		inputs[kernels.X] = Whole(Floats(x))
		product := NewProduct(g.Format, g.Columns, x, stack.rows)
		all[i] = Trial{Name: vectorName(i), Inputs: inputs, Check: func(out map[string][]byte) error {
			got, err := stack.got(out)
			if err != nil {
				return err
			}
			return together.check(product, got, i == len(all)-1)
		}}
	}
	return all, nil
}

// vectorName names the first vector not at all: most kernels get no other.
func vectorName(i int) string {
	if i == 0 {
		return ""
	}
	return fmt.Sprint("vector ", i)
}

// stack is the weights of a GEMV and its results.
type stack struct {
	g        kernels.GEMV
	inputs   map[string][]Part
	rows     []Row // those that are computed, in order
	computed []int // their numbers in the stack
	before   map[string][]byte
}

// newStack draws the weights that the sampled workgroups read, and what is added to their products.
func newStack(k *Kernel, g kernels.GEMV, s schedules.GEMV, groups []int, seed uint64) (*stack, error) {
	r := Random(seed ^ 0x5eed)
	var pick func(row int) bool
	if groups != nil {
		pick = func(row int) bool { _, ok := slices.BinarySearch(groups, row/s.RowsPerWorkgroup()); return ok }
	}
	st := &stack{g: g, inputs: map[string][]Part{}, before: map[string][]byte{}}
	all, err := runs(g.Format, g.Columns, g.Results, pick)
	if err == nil {
		err = drawRuns(r, g.Format, g.Columns, all)
	}
	if err == nil {
		err = planes(g.Format, g.Columns, all, st.inputs)
	}
	biases := st.drawAdded(r)
	for _, run := range all {
		for i := range run.rows {
			row, number := run.from+i, run.before+run.from+i
			if pick != nil && !pick(number) {
				continue // drawn to fill a word
			}
			var added []float32
			if before := st.before[kernels.Result(run.stacked)]; before != nil {
				added = append(added, Unfloats(before[4*row:][:4])...)
			}
			if g.Bias {
				added = append(added, biases[number])
			}
			st.rows, st.computed = append(st.rows, Row{run.Weight, i, added}), append(st.computed, number)
		}
	}
	return st, err
}

// drawAdded draws what the results hold before, where the products are added to that, and returns the biases of all rows, if any.
func (st *stack) drawAdded(r *rand.Rand) []float32 {
	for i, rows := range st.g.Results {
		if name := kernels.Result(i); st.g.Epilogue.Name == kernels.AddResidual.Name {
			st.before[name] = Floats(Normal(r, rows, 1))
			st.inputs[name] = Whole(st.before[name])
		}
	}
	if !st.g.Bias {
		return nil
	}
	biases := Normal(r, st.g.Problem().Rows, 1)
	st.inputs[kernels.Bias] = Whole(Floats(biases))
	return biases
}

// got returns the rows that were computed. Others have to be what they were.
func (st *stack) got(out map[string][]byte) ([]float32, error) {
	var got []float32
	first, next := 0, 0
	for i, rows := range st.g.Results {
		name := kernels.Result(i)
		before := st.before[name]
		if before == nil {
			before = sentinels(0, uint64(4*rows)).Data
		}
		if len(out[name]) < 4*rows {
			return nil, fmt.Errorf("%s has %d bytes, want %d", name, len(out[name]), 4*rows)
		}
		for row := range rows {
			bits := out[name][4*row:][:4]
			if next < len(st.computed) && st.computed[next] == first+row {
				got = append(got, Unfloats(bits)[0])
				next++
			} else if !slices.Equal(bits, before[4*row:][:4]) {
				return nil, fmt.Errorf("row %d of %s was written by a workgroup that has others", row, name)
			}
		}
		first += rows
	}
	return got, nil
}
