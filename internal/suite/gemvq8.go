package suite

import (
	"fmt"
	"maps"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/schedules"
)

// gemvQ8Trials multiplies with what quantising makes of vectors, and with codes at their ends.
func gemvQ8Trials(k *Kernel, g kernels.GEMV, s schedules.GEMV, groups []int, seed uint64) ([]Trial, error) {
	stack, err := newStack(k, g, s, groups, seed)
	if err != nil {
		return nil, err
	}
	r := Random(seed)
	all, together := []Trial{}, new(pool)
	add := func(name string, x Q8, last bool) error {
		together := together
		want, err := ProductQ8(g.Format, g.Columns, x, stack.rows)
		if err != nil {
			return err
		}
		inputs := maps.Clone(stack.inputs)
		inputs[kernels.X] = Whole(x.Bytes())
		product := NewProduct(g.Format, g.Columns, x.values(), stack.rows)
		all = append(all, Trial{Name: name, Inputs: inputs, Check: func(out map[string][]byte) error {
			got, err := stack.got(out)
			switch {
			case err != nil:
				return err
			case len(stack.rows) < few:
				return together.check(product, got, last)
			}
			return within(got, want, 1e-10)
		}})
		return nil
	}
	count := vectors(len(stack.rows))
	for i := range count {
		values := Normal(r, g.Columns, 1)
		if g.Columns > 32 {
			clear(values[32:64])
		}
		x, err := Quantise(values)
		if err == nil {
			err = add(strings.TrimSpace("a quantised vector "+vectorName(i)), x, i == count-1)
		}
		if err != nil {
			return nil, err
		}
	}
	together = new(pool) // these values are larger, and would hide the others
	for i := range count {
		if err := add(strings.TrimSpace("codes at their ends "+vectorName(i)), ends(g.Columns, i), i == count-1); err != nil {
			return nil, err
		}
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
