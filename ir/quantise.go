package ir

import (
	"slices"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// q8Block is the number of values that share a scale in QuantQ8.
const q8Block = 32

// q8Weight reports whether products of a weight type with 8-bit codes are worth a kernel of their own: whether its values are
// whole codes times scales, so that they are sums of integers.
func q8Weight(e Elem) bool {
	block, ok := quant.Type(e).Block()
	return ok && block.Elems > 1 && quant.Supported(quant.Type(e))
}

// QuantiseActivations makes a LinearQ8 of every Linear whose weights are all quantised, and whose x has rows of whole blocks of 32;
// other nodes stay. All that read one x share one QuantQ8, which
// stands before the first of them. Its results are called after x: x.q8, x.q8.d and x.q8.s.
//
// It is none of Passes: the graph means other numbers afterwards, within what rounding activations to 8 bits does.
func QuantiseActivations(g *Graph) {
	made := map[*Tensor]*Node{}
	names := namesOf(g)
	var nodes []*Node
	for _, n := range g.Nodes {
		if n.Op == QuantQ8 {
			made[n.In[0]] = n
		}
		if n.Op == Linear && takesQ8(n) {
			x := n.In[0]
			if made[x] == nil {
				made[x] = quantQ8(x, names)
				nodes = append(nodes, made[x])
			}
			n.Op, n.In = LinearQ8, slices.Concat(made[x].Out, n.In[1:])
		}
		nodes = append(nodes, n)
	}
	g.Nodes = nodes
}

func takesQ8(n *Node) bool {
	if columns := n.In[0].Columns(); columns < q8Block || columns%q8Block != 0 {
		return false
	}
	for _, w := range n.In[1 : 1+len(n.Out)] {
		if !q8Weight(w.Elem) {
			return false
		}
	}
	return true
}

// quantQ8 returns a node that quantises x, with names for its results that the graph does not have yet.
func quantQ8(x *Tensor, names map[string]bool) *Node {
	name := x.Name + ".q8"
	for names[name] || names[name+".d"] || names[name+".s"] {
		name += "_"
	}
	n := &Node{Op: QuantQ8, In: []*Tensor{x}}
	types, err := n.infer(nil)
	if err != nil {
		panic(err) // takesQ8 looked at all that can be wrong
	}
	for i, suffix := range []string{"", ".d", ".s"} {
		names[name+suffix] = true
		n.Out = append(n.Out, &Tensor{Name: name + suffix, Kind: Value, Elem: types[i].Elem, Shape: types[i].Shape, Def: n})
	}
	return n
}

func namesOf(g *Graph) map[string]bool {
	names := map[string]bool{}
	for _, t := range slices.Concat(g.Inputs, g.Weights) {
		names[t.Name] = true
	}
	for _, n := range g.Nodes {
		for _, t := range n.Out {
			names[t.Name] = true
		}
	}
	return names
}
