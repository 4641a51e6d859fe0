package eval

import (
	"context"
	"fmt"

	"github.com/kgen-wgsl/kgen/ir"
)

// Value is the contents of a tensor, row after row: F32 for numbers, whatever type they are stored in, or U32.
type Value struct {
	F32 []float32
	U32 []uint32
}

// Evaluate runs any graph once and returns all its values by name. It is how a kernel is judged: a graph of one node, on
// given inputs, says what the kernel should have written.
//
// sizes gives T and S; the tokens of the call are at positions S-T to S-1. Each input has a Value of its name. What a KV
// cache holds of the S-T positions before is given under the name of the KVAppend's result, as [2, S-T, heads, d], keys
// first; it is needed when S is more than T. Numbers for f16 tensors are rounded on entry, those for i8 are integers from -127
// to 127. source may be nil for a graph without weights.
func Evaluate(g *ir.Graph, inputs map[string]Value, source Source, sizes ir.Sizes) (map[string]Value, error) {
	if err := ir.Verify(g); err != nil {
		return nil, err
	}
	if sizes.T < 1 || sizes.S < sizes.T {
		return nil, &GraphError{g.Name, fmt.Sprintf("T = %d and S = %d are no sizes of a call", sizes.T, sizes.S)}
	}
	s, err := newState(g, source)
	if err != nil {
		return nil, err
	}
	r := s.newRun(sizes.S-sizes.T, sizes.T)
	r.sizes = sizes
	if err := r.give(g, inputs); err != nil {
		return nil, err
	}
	if err := r.execute(context.Background(), program{nodes: g.Nodes, drop: make([][]*ir.Tensor, len(g.Nodes))}); err != nil {
		return nil, err
	}
	return r.results(g), nil
}

// give sets inputs and earlier cache contents.
func (r *run) give(g *ir.Graph, inputs map[string]Value) error {
	for _, t := range g.Inputs {
		v, err := r.input(g, t, inputs[t.Name], t.Elements(r.sizes))
		if err != nil {
			return err
		}
		r.values[t] = v
	}
	for _, n := range g.Nodes {
		if n.Op != ir.KVAppend || r.start == 0 {
			continue
		}
		t := n.Out[0]
		v, err := r.input(g, t, inputs[t.Name], 2*r.start*int(t.Shape[2])*int(t.Shape[3]))
		if err != nil {
			return err
		}
		c := halves(v.numbers)
		r.caches[n.Attrs.Layer] = &c
	}
	return nil
}

func (r *run) input(g *ir.Graph, t *ir.Tensor, v Value, want int) (value, error) {
	got := len(v.F32)
	if t.Elem == ir.U32 {
		got = len(v.U32)
	}
	if got != want {
		return value{}, &GraphError{g.Name, fmt.Sprintf("input %s: %s needs %d elements, got %d", t.Name, t.Type(), want, got)}
	}
	for _, code := range v.F32 {
		if t.Elem == ir.I8 && !(code >= -127 && code <= 127 && code == float32(int(code))) {
			return value{}, &GraphError{g.Name, fmt.Sprintf("input %s: %v is no integer from -127 to 127", t.Name, code)}
		}
	}
	numbers := stored(v.F32, t.Elem)
	return value{numbers: numbers, indices: v.U32, cache: halves(numbers)}, checkTokens(g, t, v.U32)
}

// halves sees a tensor [2, ...] as a cache.
func halves(numbers []float32) cache {
	half := len(numbers) / 2
	return cache{keys: numbers[:half:half], values: numbers[half:]}
}

// results returns the values of all nodes.
func (r *run) results(g *ir.Graph) map[string]Value {
	all := map[string]Value{}
	for _, n := range g.Nodes {
		for _, t := range n.Out {
			v := r.values[t]
			if n.Op == ir.KVAppend {
				v.numbers = append(v.cache.keys[:len(v.cache.keys):len(v.cache.keys)], v.cache.values...)
			}
			all[t.Name] = Value{F32: v.numbers, U32: v.indices}
		}
	}
	return all
}
