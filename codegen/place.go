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

// layout hands out ranges of buffers.
type layout struct {
	buffers []plan.Buffer
	limits  plan.Limits
}

// region returns bytes in the last buffer of the kind, or in a new one when it is full or is of a closed kind. The range
// starts at a bind offset.
func (l *layout) region(kind plan.BufferKind, name, what string, bytes uint64) (plan.Range, error) {
	if bytes > l.limits.BindingBytes {
		return plan.Range{}, &plan.LimitError{Subject: what, Limit: "maxStorageBufferBindingSize", Need: bytes, Have: l.limits.BindingBytes}
	}
	number := 0
	for i := range l.buffers {
		b := &l.buffers[i]
		if b.Kind != kind {
			continue
		}
		number++
		if offset := align(b.Bytes); offset+bytes <= l.limits.BufferBytes && i == l.lastOf(kind) {
			b.Bytes = offset + bytes
			return plan.Range{Buffer: i, Offset: offset, Bytes: bytes}, nil
		}
	}
	if bytes > l.limits.BufferBytes {
		return plan.Range{}, &plan.LimitError{Subject: what, Limit: "maxBufferSize", Need: bytes, Have: l.limits.BufferBytes}
	}
	if number > 0 {
		name = fmt.Sprint(name, number)
	}
	l.buffers = append(l.buffers, plan.Buffer{Name: name, Kind: kind, Bytes: bytes})
	return plan.Range{Buffer: len(l.buffers) - 1, Bytes: bytes}, nil
}

func (l *layout) lastOf(kind plan.BufferKind) int {
	last := -1
	for i, b := range l.buffers {
		if b.Kind == kind {
			last = i
		}
	}
	return last
}

// stack is one or more weights of the same type and row length, one after another in the planes of their format.
type stack struct {
	weights []*ir.Tensor
	format  quant.Type
	columns int
	planes  []plan.Plane // of one row; To is not set
	places  []plan.Range // of each plane, all weights together
}

func (s *stack) rows() int {
	n := 0
	for _, w := range s.weights {
		n += weightRows(w)
	}
	return n
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
	planes, err := kernels.Planes(s.format, s.rows(), s.columns)
	if err != nil {
		return nil, &UnsupportedError{"weight " + weights[0].Name, err.Error()}
	}
	s.planes = planes
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
		what := "weight " + s.weights[0].Name
		for _, p := range s.planes {
			bytes := (uint64(p.RowStride)*uint64(s.rows()) + 3) / 4 * 4
			to, err := c.layout.region(plan.WeightsBuffer, "weights", what, bytes)
			if err != nil {
				return err
			}
			s.places = append(s.places, to)
		}
	}
	return nil
}

// recipes returns how the weights of a stack become its planes.
func (s *stack) recipes() []plan.Weight {
	block, _ := s.format.Block()
	var out []plan.Weight
	first := 0
	for _, w := range s.weights {
		rows := weightRows(w)
		recipe := plan.Recipe{Type: s.format.String(), Rows: rows, RowBlocks: s.columns / block.Elems, BlockBytes: block.Bytes}
		for i, p := range s.planes {
			p.To = s.places[i]
			p.To.Offset += uint64(first) * uint64(p.RowStride)
			p.To.Bytes = (uint64(rows)*uint64(p.RowStride) + 3) / 4 * 4
			recipe.Planes = append(recipe.Planes, p)
		}
		out = append(out, plan.Weight{Tensor: w.Name, Recipe: recipe})
		first += rows
	}
	return out
}

// placeState gives position tables, the params block and the KV cache their ranges.
func placeState(c *compilation) error {
	for i := range c.tables {
		t := &c.tables[i]
		to, err := c.layout.region(plan.TableBuffer, "positions", "position table", uint64(t.Positions)*uint64(t.Dims)*4)
		if err != nil {
			return err
		}
		t.To = to
	}
	to, err := c.layout.region(plan.ParamsBuffer, "params", "params", uint64(c.params.Words())*4)
	if err != nil {
		return err
	}
	c.params.Range = to
	return c.placeCache()
}

// placeCache gives every cache layer the range of its K and V.
func (c *compilation) placeCache() error {
	pages := c.params.Pages
	c.kv = plan.KV{PageTokens: pageTokens, Pages: pages, Layers: make([]plan.Range, len(c.kvSlots))}
	caches := make([]*ir.Tensor, len(c.kvSlots))
	for t, layer := range c.kvSlots {
		caches[layer] = t
	}
	for layer, t := range caches {
		heads, size := int(t.Shape[2]), int(t.Shape[3])
		elements := uint64(2) * uint64(pages) * pageTokens * uint64(heads) * uint64(size)
		bytes := elements * 4
		if t.Elem == ir.F16 {
			bytes = elements * 2
			c.kv.F16 = true
		}
		to, err := c.layout.region(plan.KVBuffer, "kv", fmt.Sprint("the KV cache of layer ", layer, " at context ", c.opts.Context), bytes)
		if err != nil {
			return err
		}
		c.kv.Layers[layer] = to
	}
	return nil
}

// placeArenas turns arenas and outputs into buffers.
func (c *compilation) placeArenas(sizes []uint64) error {
	for _, t := range c.order {
		s := c.values.of[t]
		if !s.output || s.name != t.Name {
			continue
		}
		to, err := c.layout.region(plan.OutputBuffer, "outputs", "output "+t.Name, s.bytes)
		if err != nil {
			return err
		}
		c.outputs = append(c.outputs, output{t, to})
	}
	for i, bytes := range sizes {
		if bytes > c.layout.limits.BufferBytes {
			return &plan.LimitError{Subject: fmt.Sprint("arena ", i), Limit: "maxBufferSize", Need: bytes, Have: c.layout.limits.BufferBytes}
		}
		c.layout.buffers = append(c.layout.buffers, plan.Buffer{Name: fmt.Sprint("arena", i), Kind: plan.ArenaBuffer, Bytes: bytes})
	}
	return nil
}
