package codegen

import (
	"fmt"

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
	recipe  plan.Recipe  // of each weight, without rows and places
	places  []plan.Range // of each plane, all weights together
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

// placeWeights gives every plane of every stack a range, in order of first use.
func placeWeights(c *compilation) error {
	for _, s := range c.stacks {
		rows := make([]plan.Rows, len(s.weights))
		for i, w := range s.weights {
			rows[i] = plan.Rows{Tensor: w.Name, Rows: weightRows(w)}
		}
		s.places = c.builder.Stack(s.recipe, rows...)
	}
	return c.builder.Err()
}

// placeState gives position tables, the params block and the KV cache their ranges.
func placeState(c *compilation) error {
	for i := range c.tables {
		t := &c.tables[i]
		t.To = c.builder.Place(plan.TableBuffer, "position table", uint64(t.Positions)*uint64(t.Dims)*4)
		c.builder.Table(*t)
	}
	c.params.Range = c.builder.Place(plan.ParamsBuffer, "params", uint64(c.params.Words())*4)
	c.builder.Params(c.params)
	c.placeCache()
	c.builder.KV(c.kv)
	return c.builder.Err()
}

// placeCache gives every cache layer the range of its K and V.
func (c *compilation) placeCache() {
	c.kv = plan.KV{PageTokens: pageTokens, Pages: c.params.Pages, Layers: make([]plan.Range, len(c.kvSlots))}
	caches := make([]*ir.Tensor, len(c.kvSlots))
	for t, layer := range c.kvSlots {
		caches[layer] = t
	}
	for layer, t := range caches {
		heads, size := int(t.Shape[2]), int(t.Shape[3])
		bytes := uint64(2) * uint64(c.kv.Pages) * pageTokens * uint64(heads) * uint64(size) * 4
		if t.Elem == ir.F16 {
			bytes /= 2
			c.kv.F16 = true
		}
		subject := fmt.Sprint("the KV cache of layer ", layer, " at context ", c.opts.Context)
		c.kv.Layers[layer] = c.builder.Place(plan.KVBuffer, subject, bytes)
	}
}

// placeArenas turns arenas and outputs into buffers.
func (c *compilation) placeArenas(sizes []uint64) error {
	for _, t := range c.order {
		s := c.values.of[t]
		if !s.output || s.name != t.Name {
			continue
		}
		to := c.builder.Place(plan.OutputBuffer, "output "+t.Name, s.bytes)
		c.outputs = append(c.outputs, output{t, to})
		c.builder.Output(t.Name, to)
	}
	for i, bytes := range sizes {
		c.arenas = append(c.arenas, c.builder.Buffer(plan.Buffer{Name: fmt.Sprint("arena", i), Kind: plan.ArenaBuffer, Bytes: bytes}))
	}
	return c.builder.Err()
}
