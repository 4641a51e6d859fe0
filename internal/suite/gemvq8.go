package suite

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/schedules"
)

// gemvQ8Trials multiplies with what quantising makes of a vector, and with codes at their ends.
func gemvQ8Trials(k *Kernel, g kernels.GEMV, s schedules.GEMV, groups []int, seed uint64) ([]Trial, error) {
	values := Normal(Random(seed), g.Columns, 1)
	if g.Columns > 32 {
		clear(values[32:64])
	}
	quantised, err := Quantise(values)
	if err != nil {
		return nil, err
	}
	var all []Trial
	for _, x := range []struct {
		name string
		Q8
	}{{"a quantised vector", quantised}, {"codes at their ends", ends(g.Columns)}} {
		stack, err := newStack(k, g, s, groups, seed)
		if err != nil {
			return nil, err
		}
		stack.inputs[kernels.X] = Whole(x.Bytes())
		want, err := ProductQ8(g.Format, g.Columns, x.Q8, stack.rows)
		if err != nil {
			return nil, err
		}
		check := func(got []float32) error { return within(got, want, 1e-10) }
		if len(stack.rows) < few {
			check = NewProduct(g.Format, g.Columns, x.values(), stack.rows).Check
		}
		all = append(all, Trial{Name: x.name, Inputs: stack.inputs, Check: func(out map[string][]byte) error {
			got, err := stack.got(out)
			if err != nil {
				return err
			}
			return check(got)
		}})
	}
	return all, nil
}

// ProductQ8 is the evaluator's product of rows with a quantised vector, and what is added to it.
func ProductQ8(format quant.Type, width int, x Q8, all []Row) ([]float64, error) {
	b := ir.NewBuilder("linear")
	rows, columns, blocks := ir.Dim(len(all)), ir.Dim(width), ir.Dim(width/32)
	in := []*ir.Tensor{b.Input("codes", ir.I8, 1, columns), b.Input("d", ir.F32, 1, blocks), b.Input("s", ir.F32, 1, blocks)}
	w := b.Weight("w", ir.Elem(format), rows, columns)
	b.Output(b.Node("y", ir.LinearQ8, ir.Attrs{}, append(in, w)...))
	g, err := b.Graph()
	if err != nil {
		return nil, err
	}
	block, _ := format.Block()
	rowBytes := width / block.Elems * block.Bytes
	var raw []byte
	for _, r := range all {
		raw = append(raw, r.Weight.Raw[r.Row*rowBytes:][:rowBytes]...)
	}
	values, err := eval.Evaluate(g, map[string]eval.Value{"codes": {F32: x.Codes}, "d": {F32: x.D}, "s": {F32: x.S}}, eval.Bytes{"w": raw}, ir.Sizes{T: 1, S: 1})
	if err != nil {
		return nil, err
	}
	if len(values["y"].F32) != len(all) {
		return nil, fmt.Errorf("the evaluator made %d rows of %d", len(values["y"].F32), len(all))
	}
	var want []float64
	for i, v := range values["y"].F32 {
		sum := float64(v)
		for _, a := range all[i].Added {
			sum += float64(a)
		}
		want = append(want, sum)
	}
	return want, nil
}
