package ir

import "slices"

// Clone returns a copy that shares nothing with g.
func Clone(g *Graph) *Graph {
	c := cloner{}
	copied := &Graph{Name: g.Name, Inputs: c.tensors(g.Inputs), Weights: c.tensors(g.Weights)}
	for _, n := range g.Nodes {
		m := &Node{Op: n.Op, In: c.tensors(n.In), Out: c.tensors(n.Out), Attrs: n.Attrs, Pos: n.Pos}
		for _, t := range m.Out {
			t.Def = m
		}
		copied.Nodes = append(copied.Nodes, m)
	}
	copied.Outputs = c.tensors(g.Outputs)
	return copied
}

// cloner maps tensors to their copies.
type cloner map[*Tensor]*Tensor

func (c cloner) tensors(from []*Tensor) []*Tensor {
	to := make([]*Tensor, len(from))
	for i, t := range from {
		if c[t] == nil {
			copied := *t
			copied.Shape = slices.Clone(t.Shape)
			copied.Def = nil
			c[t] = &copied
		}
		to[i] = c[t]
	}
	return to
}
