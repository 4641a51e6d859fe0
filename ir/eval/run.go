package eval

import (
	"context"
	"fmt"

	"github.com/kgen-wgsl/kgen/ir"
)

// value is what a tensor holds while a graph runs: numbers, indices, or the cache that a KVAppend names.
type value struct {
	numbers []float32
	indices []uint32
	cache   cache
}

// run is one evaluation of a graph: T tokens at positions start and up.
type run struct {
	*memory
	pool    *pool
	weights map[*ir.Tensor]*matrix
	vectors map[*ir.Tensor][]float32 // dequantised norms, biases and factors
	caches  map[int]*cache
	sizes   ir.Sizes
	start   int
	values  map[*ir.Tensor]value
}

// memory is what runs leave for the next one to use again.
type memory struct {
	wide []float64
	free [][]float32
}

// floats returns the numbers of an operand.
func (r *run) floats(t *ir.Tensor) []float32 {
	if t.Kind == ir.Weight {
		return r.vectors[t]
	}
	return r.values[t].numbers
}

func (r *run) indices(t *ir.Tensor) []uint32 { return r.values[t].indices }

// make gives a result its memory, with arbitrary contents.
func (r *run) make(t *ir.Tensor) []float32 {
	n := t.Elements(r.sizes)
	var numbers []float32
	for i, f := range r.free {
		if cap(f) >= n && cap(f) <= 4*n {
			numbers = f[:n]
			r.free[i] = r.free[len(r.free)-1]
			r.free = r.free[:len(r.free)-1]
			break
		}
	}
	if numbers == nil {
		numbers = make([]float32, n)
	}
	r.values[t] = value{numbers: numbers}
	return numbers
}

// program is the part of a graph that some of its values need, and after which node the memory of others is free.
type program struct {
	nodes []*ir.Node
	drop  [][]*ir.Tensor // for each node, values that no later node reads
}

// programFor selects the nodes that the targets need, and all that write KV layers.
func programFor(g *ir.Graph, targets []*ir.Tensor) program {
	needed, kept := map[*ir.Tensor]bool{}, map[*ir.Tensor]bool{}
	for _, t := range targets {
		needed[t], kept[memoryOf(t)] = true, true
	}
	nodes := selectNodes(g, needed)
	p := program{nodes: nodes, drop: make([][]*ir.Tensor, len(nodes))}
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		for _, t := range append(n.In[:len(n.In):len(n.In)], n.Out...) {
			if t = memoryOf(t); t.Kind == ir.Value && !kept[t] {
				kept[t] = true
				p.drop[i] = append(p.drop[i], t)
			}
		}
	}
	return p
}

// memoryOf returns the value whose memory t has: a Reshape shares its operand's.
func memoryOf(t *ir.Tensor) *ir.Tensor {
	for t.Def != nil && t.Def.Op == ir.Reshape {
		t = t.Def.In[0]
	}
	return t
}

// selectNodes walks the nodes backwards and returns, in order, those whose results are needed. A KV layer is written
// whether or not this call reads it.
func selectNodes(g *ir.Graph, needed map[*ir.Tensor]bool) []*ir.Node {
	wanted := make([]bool, len(g.Nodes))
	count := 0
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		for _, t := range n.Out {
			wanted[i] = wanted[i] || needed[t] || n.Op == ir.KVAppend
		}
		if wanted[i] {
			count++
			for _, t := range n.In {
				needed[t] = true
			}
		}
	}
	nodes := make([]*ir.Node, 0, count)
	for i, n := range g.Nodes {
		if wanted[i] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// execute runs a program; a cancelled context is seen between two nodes.
func (r *run) execute(ctx context.Context, p program) error {
	return guarded(func() error { return r.program(ctx, p) })
}

func (r *run) program(ctx context.Context, p program) error {
	for i, n := range p.nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.node(n)
		for _, t := range p.drop[i] {
			if numbers := r.values[t].numbers; numbers != nil {
				r.free = append(r.free, numbers)
			}
			delete(r.values, t)
		}
	}
	return nil
}

func (r *run) node(n *ir.Node) {
	switch n.Op {
	case ir.Embed:
		r.embed(n)
	case ir.RMSNorm:
		r.rmsNorm(n)
	case ir.Linear:
		r.linear(n)
	case ir.Reshape:
		r.values[n.Out[0]] = r.values[n.In[0]]
	case ir.RoPE:
		r.rope(n)
	case ir.KVAppend:
		r.kvAppend(n)
	case ir.Attention:
		r.attention(n)
	case ir.GLU:
		r.glu(n)
	case ir.Add:
		r.add(n)
	case ir.Last:
		r.last(n)
	case ir.Softcap:
		r.softcap(n)
	case ir.ArgMax:
		r.argMax(n)
	case ir.QuantQ8:
		r.quantQ8(n)
	case ir.LinearQ8:
		r.linearQ8(n)
	default:
		panic(fmt.Sprintf("%s passed Verify and is not evaluated", n.Op))
	}
}
