package ir

import "slices"

// Pass is a named step that changes a graph in place and leaves it valid. A pass does the same to equal graphs, and
// nothing when it is run again.
type Pass struct {
	Name string
	Run  func(*Graph)
}

// Passes lists the passes on graphs in the order in which they run.
func Passes() []Pass {
	return []Pass{
		{"canonicalise", Canonicalise},
		{"share-inputs", ShareInputs},
	}
}

// Canonicalise drops what does not reach an output and folds nodes that change nothing: a Reshape of a Reshape reads the
// first one's operand, and a Reshape to the shape at hand or a Last of one row is replaced by its operand, unless it is an
// output, whose name stays. Inputs stay, read or not. A KV layer that nobody reads is dropped too: later calls, which run
// the same graph, would not read it either.
func Canonicalise(g *Graph) {
	for _, n := range g.Nodes {
		if n.Op == Reshape && n.In[0].Def != nil && n.In[0].Def.Op == Reshape {
			n.In[0] = n.In[0].Def.In[0]
		}
		if changesNothing(n) && !slices.Contains(g.Outputs, n.Out[0]) {
			replace(g, n.Out[0], n.In[0])
		}
	}
	dropDead(g)
}

func changesNothing(n *Node) bool {
	return (n.Op == Reshape || n.Op == Last) && slices.Equal(n.In[0].Shape, n.Out[0].Shape)
}

// replace makes every reader of old read with.
func replace(g *Graph, old, with *Tensor) {
	for _, n := range g.Nodes {
		for i, t := range n.In {
			if t == old {
				n.In[i] = with
			}
		}
	}
}

// dropDead removes nodes and weights that no output needs.
func dropDead(g *Graph) {
	live := map[*Tensor]bool{}
	for _, t := range g.Outputs {
		live[t] = true
	}
	var kept []*Node
	for _, n := range slices.Backward(g.Nodes) {
		if !slices.ContainsFunc(n.Out, func(t *Tensor) bool { return live[t] }) {
			continue
		}
		kept = append(kept, n)
		for _, t := range n.In {
			live[t] = true
		}
	}
	slices.Reverse(kept)
	g.Nodes = kept
	g.Weights = slices.DeleteFunc(g.Weights, func(t *Tensor) bool { return !live[t] })
}

// ShareInputs merges Linear nodes that read the same x, with weights of the same element type and column count, all with
// biases or none, into one Linear with all their weights and results in their order: q, k and v, or gate and up, then
// read x once. The merged node stands where the first of them stood.
//
// A weight that another node reads too stays by itself: it can lie in one stack only.
func ShareInputs(g *Graph) {
	readers := map[*Tensor]int{}
	for _, n := range g.Nodes {
		for _, t := range n.In {
			readers[t]++
		}
	}
	first := map[sharedBy]*Node{}
	var kept []*Node
	for _, n := range g.Nodes {
		shared := slices.ContainsFunc(n.In[1:], func(t *Tensor) bool { return readers[t] > 1 })
		if n.Op != Linear || shared || !movable(n) {
			kept = append(kept, n)
			continue
		}
		by := sharedBy{n.In[0], n.In[1].Elem, n.In[1].Columns(), n.Attrs.Bias}
		if at := first[by]; at != nil {
			absorb(at, n)
			continue
		}
		first[by] = n
		kept = append(kept, n)
	}
	g.Nodes = kept
}

// sharedBy is what Linear nodes must have in common to be merged.
type sharedBy struct {
	x       *Tensor
	elem    Elem
	columns int
	bias    bool
}

// movable reports whether a Linear could stand earlier and merge: its weights are all of one type, and its biases are
// there from the start.
func movable(n *Node) bool {
	for i, t := range n.In[1:] {
		if t.Kind == Value || i < len(n.Out) && t.Elem != n.In[1].Elem {
			return false
		}
	}
	return true
}

// absorb moves the weights, biases and results of n to the node at.
func absorb(at, n *Node) {
	weights := slices.Concat(at.In[1:1+len(at.Out)], n.In[1:1+len(n.Out)])
	biases := slices.Concat(at.In[1+len(at.Out):], n.In[1+len(n.Out):])
	at.In = slices.Concat(at.In[:1], weights, biases)
	at.Out = append(at.Out, n.Out...)
	for _, t := range n.Out {
		t.Def = at
	}
}
