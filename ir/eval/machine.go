package eval

import (
	"context"
	"fmt"

	"github.com/kgen-wgsl/kgen/ir"
)

// tile is how many tokens of a long input are evaluated together: each weight row is read once for all of them, and
// their values stay in the processor's caches. Linear takes three at a time.
const tile = 63

// Machine runs one sequence of a language model. Positions start at 0; feeding position p forgets whatever was fed at p
// and after it. A Machine must not be used from two goroutines at once.
type Machine struct {
	graph   *ir.Graph
	tokens  *ir.Tensor
	logits  *ir.Tensor
	layers  []*ir.Tensor
	context int
	fed     int

	state
	feed, infer, trace program
}

// state is what runs of one machine share.
type state struct {
	memory  memory
	pool    *pool
	weights map[*ir.Tensor]*matrix
	vectors map[*ir.Tensor][]float32
	caches  map[int]*cache
}

// New prepares a graph of a language model, with one input, u32 [T], and an output named logits, for sequences of up to
// context tokens. Weights are read from source while the machine is in use. The error is a *GraphError, what Verify
// says of the graph, or names the weight that cannot be read.
func New(g *ir.Graph, source Source, context int) (*Machine, error) {
	if err := ir.Verify(g); err != nil {
		return nil, err
	}
	m := &Machine{graph: g, context: context, layers: g.LayerInputs()}
	if len(g.Inputs) != 1 || !g.Inputs[0].Type().Equal(ir.Type{Elem: ir.U32, Shape: []ir.Dim{ir.T}}) {
		return nil, &GraphError{g.Name, "a language model has one input, u32[T]"}
	}
	m.tokens = g.Inputs[0]
	for _, t := range g.Outputs {
		if t.Name == "logits" && t.Elem == ir.F32 && len(t.Shape) == 2 && t.Kind == ir.Value {
			m.logits = t
		}
	}
	if m.logits == nil {
		return nil, &GraphError{g.Name, "a language model has an output logits, f32 with two dimensions"}
	}
	if context < 1 {
		return nil, &ContextError{Need: 1, Context: context}
	}
	var err error
	if m.state, err = newState(g, source); err != nil {
		return nil, err
	}
	m.feed = programFor(g, nil)
	m.infer = programFor(g, []*ir.Tensor{m.logits})
	m.trace = programFor(g, m.layers)
	return m, nil
}

func newState(g *ir.Graph, source Source) (state, error) {
	weights, err := loadWeights(g, source)
	if err != nil {
		return state{}, err
	}
	s := state{pool: newPool(), weights: weights, vectors: map[*ir.Tensor][]float32{}, caches: map[int]*cache{}}
	err = guarded(func() error {
		for t, w := range weights {
			if len(t.Shape) == 1 {
				s.vectors[t] = make([]float32, w.columns)
				w.row(s.vectors[t], 0)
			}
		}
		return nil
	})
	return s, err
}

// newRun starts an evaluation of tokens at position start.
func (s *state) newRun(start, tokens int) *run {
	return &run{
		memory: &s.memory, pool: s.pool, weights: s.weights, vectors: s.vectors, caches: s.caches,
		start: start, sizes: ir.Sizes{T: tokens, S: start + tokens, B: 1}, values: map[*ir.Tensor]value{},
	}
}

// Vocab returns the number of logits of a position.
func (m *Machine) Vocab() int { return m.logits.Columns() }

// Context returns how many positions fit.
func (m *Machine) Context() int { return m.context }

// Prefill feeds tokens at positions start, start+1, ... without computing logits.
func (m *Machine) Prefill(ctx context.Context, start int, tokens []uint32) error {
	return m.tiles(ctx, start, tokens, tile, m.feed, func(*run) bool { return true })
}

// Logits feeds a token at position start and writes the logits after it to dst, which holds Vocab values.
func (m *Machine) Logits(ctx context.Context, start int, token uint32, dst []float32) error {
	if len(dst) != m.Vocab() {
		return &GraphError{m.graph.Name, fmt.Sprintf("logits need %d values, dst has %d", m.Vocab(), len(dst))}
	}
	return m.tiles(ctx, start, []uint32{token}, 1, m.infer, func(r *run) bool {
		copy(dst, r.values[m.logits].numbers)
		return true
	})
}

// Step feeds a token at position start and returns the k ids that greedy decoding chooses after it; each but the last
// is fed in its turn, so that start+k positions are filled afterwards. The lowest id wins among equals. Where no logit is a number
// the ids end with 0xffffffff.
func (m *Machine) Step(ctx context.Context, start int, token uint32, k int) ([]uint32, error) {
	if err := m.check(start, k, []uint32{token}); err != nil {
		return nil, err
	}
	ids := make([]uint32, 0, k)
	for i := range k {
		err := m.tiles(ctx, start+i, []uint32{token}, 1, m.infer, func(r *run) bool {
			token = argMax(r.values[m.logits].numbers)
			return true
		})
		if err != nil {
			return ids, err
		}
		if ids = append(ids, token); int(token) >= m.Vocab() {
			break // there is nothing to feed
		}
	}
	return ids, nil
}

// LogitsAll feeds tokens and yields the logits after each. The slice is used again after yield returns; false stops.
// Graphs that keep only the last row's logits are fed token by token.
func (m *Machine) LogitsAll(ctx context.Context, start int, tokens []uint32, yield func(pos int, logits []float32) bool) error {
	size := tile
	if m.logits.Shape[0] != ir.T {
		size = 1
	}
	return m.tiles(ctx, start, tokens, size, m.infer, func(r *run) bool {
		vocab, rows := m.Vocab(), r.values[m.logits].numbers
		for i := range r.sizes.T {
			if !yield(r.start+i, rows[i*vocab:(i+1)*vocab]) {
				return false
			}
		}
		return true
	})
}

// Trace feeds tokens and yields, for each position, the residual stream that enters each layer and, as layer L of an
// L-layer model, what leaves the last. The slice is used again after yield returns; false stops.
func (m *Machine) Trace(ctx context.Context, start int, tokens []uint32, yield func(pos, layer int, residual []float32) bool) error {
	return m.tiles(ctx, start, tokens, tile, m.trace, func(r *run) bool {
		for i := range r.sizes.T {
			for layer, t := range m.layers {
				width, rows := t.Columns(), r.values[t].numbers
				if !yield(r.start+i, layer, rows[i*width:(i+1)*width]) {
					return false
				}
			}
		}
		return true
	})
}

// check judges n positions from start on, and tokens, before any work is done.
func (m *Machine) check(start, n int, tokens []uint32) error {
	if start < 0 || start > m.fed {
		return &PositionError{Start: start, Fed: m.fed}
	}
	if n < 0 || n > m.context-start {
		return &ContextError{Need: start + n, Context: m.context}
	}
	return checkTokens(m.graph, m.tokens, tokens)
}

// tiles feeds tokens, up to size at a time, and shows each run after its program.
func (m *Machine) tiles(ctx context.Context, start int, tokens []uint32, size int, p program, show func(*run) bool) error {
	if err := m.check(start, len(tokens), tokens); err != nil {
		return err
	}
	m.fed = start
	for len(tokens) > 0 {
		n := min(size, len(tokens))
		r := m.newRun(m.fed, n)
		r.values[m.tokens] = value{indices: tokens[:n]}
		if err := r.execute(ctx, p); err != nil {
			return err
		}
		m.fed += n
		tokens = tokens[n:]
		if !show(r) {
			return nil
		}
	}
	return nil
}

// checkTokens checks ids against every embedding that looks them up.
func checkTokens(g *ir.Graph, input *ir.Tensor, ids []uint32) error {
	for _, n := range g.Nodes {
		if n.Op != ir.Embed || n.In[1] != input {
			continue
		}
		rows := int(n.In[0].Shape[0])
		for _, id := range ids {
			if int(id) >= rows {
				return &TokenError{Token: id, Vocab: rows}
			}
		}
	}
	return nil
}
