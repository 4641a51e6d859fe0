package codegen

import (
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// pageTokens is the number of positions in a page of the KV cache.
const pageTokens = 32

// stack is one or more weights of the same type and row length, one after another in the planes of their format.
type stack struct {
	weights []*ir.Tensor
	format  quant.Type
	columns int
	recipe  plan.Recipe // of each weight, without rows and places
	number  int         // among the stacks
}

func weightRows(w *ir.Tensor) int { return w.Rows(ir.Sizes{T: 1, S: 1, B: 1}) }

// stackOf returns the stack of exactly these weights, made at first use. A weight lies in one stack only.
func (c *compilation) stackOf(weights ...*ir.Tensor) (*stack, error) {
	if s := c.byName[weights[0].Name]; s != nil && sameWeights(s.weights, weights) {
		return s, nil
	}
	s := &stack{weights: weights, format: quant.Type(weights[0].Elem), columns: weights[0].Columns()}
	for _, w := range weights {
		if c.byName[w.Name] != nil {
			return nil, &UnsupportedError{"weight " + w.Name, "two kernels read it in different company, which no layout serves yet"}
		}
		c.byName[w.Name] = s
	}
	recipe, err := kernels.Recipe(s.format, s.columns)
	if err != nil {
		return nil, &UnsupportedError{"weight " + weights[0].Name, err.Error()}
	}
	s.recipe = recipe
	c.stacks = append(c.stacks, s)
	return s, nil
}

func sameWeights(a, b []*ir.Tensor) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// place writes down everything that needs room on the device, and lets a builder place it: weights in order of first use,
// position tables, the params block, the KV cache, outputs and arenas.
func place(c *compilation) error {
	p := c.program
	for i, s := range c.stacks {
		s.number = i
		written := Stack{Layer: layerOf(s.weights[0].Name), Format: s.recipe}
		for _, w := range s.weights {
			written.Tensors = append(written.Tensors, plan.Rows{Tensor: w.Name, Rows: weightRows(w)})
		}
		p.Stacks = append(p.Stacks, written)
	}
	for layer, t := range c.caches {
		p.KV.F16 = p.KV.F16 || t.Elem == ir.F16
		subject := fmt.Sprint("the KV cache of layer ", layer, " at context ", c.opts.Context)
		p.Caches = append(p.Caches, Cache{layerOf(t.Name), subject, c.cacheBytes(t)})
	}
	for _, n := range c.graph.Nodes {
		for _, t := range n.Out {
			s := c.values.of[t]
			if s == nil || !s.output || !c.keeps(t) {
				continue
			}
			if other := slices.IndexFunc(c.outputs, func(o *ir.Tensor) bool { return c.values.of[o] == s }); other >= 0 {
				return &UnsupportedError{"value " + t.Name, "it is to be kept, and is another name of " + c.outputs[other].Name}
			}
			c.outputs = append(c.outputs, t)
			p.Outputs = append(p.Outputs, Output{t.Name, s.bytes})
		}
	}
	scratch := plan.NewBuilder(p.Name, p.Profile, p.Requires)
	c.placed = p.place(scratch)
	return scratch.Err()
}

// cacheBytes is the size of K and V of a cache layer.
func (c *compilation) cacheBytes(t *ir.Tensor) uint64 {
	heads, size := uint64(t.Shape[2]), uint64(t.Shape[3])
	elements := 2 * uint64(c.program.KV.Pages) * pageTokens * heads * size
	if t.Elem == ir.F16 {
		return elements * 2
	}
	return elements * 4
}
