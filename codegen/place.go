package codegen

import (
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// pageTokens is the number of positions in a page of the KV cache.
const pageTokens = 32

// stack is one or more weights of the same type and row length, one after another in the planes of their format.
type stack struct {
	shards  []shard
	format  quant.Type
	columns int
	recipe  plan.Recipe // of each weight, without rows and places
	number  int         // among the stacks
}

func weightRows(w *ir.Tensor) int { return w.Rows(ir.Sizes{T: 1, S: 1, B: 1}) }

// stackOf returns the stack of exactly these shards, made at first use. A shard lies in one stack only, and a weight is cut in
// one way only.
func (c *compilation) stackOf(shards ...shard) (*stack, error) {
	if s := c.holder[shards[0]]; s != nil && slices.Equal(s.shards, shards) {
		return s, nil
	}
	w := shards[0].weight
	s := &stack{shards: shards, format: quant.Type(w.Elem), columns: w.Columns()}
	for _, part := range shards {
		if c.holder[part] != nil {
			return nil, &UnsupportedError{"weight " + part.weight.Name, "two kernels read it in different company, which no layout serves yet"}
		}
		c.holder[part] = s
	}
	var err error
	if s.recipe, err = recipeOf(w); err != nil {
		return nil, err
	}
	c.stacks = append(c.stacks, s)
	return s, nil
}

// place writes down everything that needs room on the device, and lets a builder place it: weights in order of first use,
// position tables, the params block, the KV cache, outputs and arenas.
func place(c *compilation) error {
	p := c.program
	for i, s := range c.stacks {
		s.number = i
		written := Stack{Layer: layerOf(s.shards[0].weight.Name), Format: s.recipe}
		for _, part := range s.shards {
			written.Tensors = append(written.Tensors, plan.Rows{Tensor: part.weight.Name, Rows: part.rows, From: part.from})
		}
		p.Stacks = append(p.Stacks, written)
	}
	for layer, t := range c.caches {
		p.KV.F16 = p.KV.F16 || t.Elem == ir.F16
		for _, half := range []string{"keys", "values"} {
			subject := fmt.Sprint("the ", half, " of layer ", layer, " at context ", c.opts.Context)
			p.Caches = append(p.Caches, Cache{layerOf(t.Name), half, subject, c.cacheBytes(t)})
		}
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

// cacheBytes is the size of the keys, or of the values, of a cache layer.
func (c *compilation) cacheBytes(t *ir.Tensor) uint64 {
	heads, size := uint64(t.Shape[2]), uint64(t.Shape[3])
	elements := uint64(c.program.KV.Pages) * pageTokens * heads * size
	if t.Elem == ir.F16 {
		return elements * 2
	}
	return elements * 4
}
