package suite

import (
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/schedules"
)

// gemvTrials multiplies with x of plain values.
func gemvTrials(k *Kernel, g kernels.GEMV, s schedules.GEMV, groups []int, seed uint64) ([]Trial, error) {
	r := Random(seed)
	x := Normal(r, g.Columns, 1)
	stack, err := newStack(k, g, s, groups, seed)
	if err != nil {
		return nil, err
	}
	stack.inputs[kernels.X] = Whole(Floats(x))
	product := NewProduct(g.Format, g.Columns, x, stack.rows)
	return []Trial{{Inputs: stack.inputs, Check: func(out map[string][]byte) error {
		got, err := stack.got(out)
		if err != nil {
			return err
		}
		return product.Check(got)
	}}}, nil
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
	all, err := runs(g.Format, g.Columns, g.Results, pick)
	if err == nil {
		err = drawRuns(r, g.Format, g.Columns, all)
	}
	if err != nil {
		return nil, err
	}
	st := &stack{g: g, inputs: map[string][]Part{}, before: map[string][]byte{}}
	if err := planes(g.Format, g.Columns, all, st.inputs); err != nil {
		return nil, err
	}
	total := 0
	for i, rows := range g.Results {
		total += rows
		if g.Epilogue.Name == kernels.AddResidual.Name {
			name := kernels.Result(i)
			st.before[name] = Floats(Normal(r, rows, 1))
			st.inputs[name] = Whole(st.before[name])
		}
	}
	var biases []float32
	if g.Bias {
		biases = Normal(r, total, 1)
		st.inputs[kernels.Bias] = Whole(Floats(biases))
	}
	for _, run := range all {
		for i := range run.rows {
			row := run.from + i
			number := run.before + row
			if pick != nil && !pick(number) {
				continue
			}
			var added []float32
			if before := st.before[kernels.Result(run.stacked)]; before != nil {
				added = append(added, Unfloats(before[4*row:][:4])...)
			}
			if g.Bias {
				added = append(added, biases[number])
			}
			st.rows = append(st.rows, Row{run.Weight, i, added})
			st.computed = append(st.computed, number)
		}
	}
	return st, nil
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
