package ir

import "slices"

// Builder makes a graph in memory, node by node; results get their types from the table of ops. The first mistake
// sticks and Graph returns it; what is built after it is of no use.
type Builder struct {
	g     *Graph
	names map[string]*Tensor
	err   error
}

// NewBuilder starts a graph.
func NewBuilder(name string) *Builder {
	return &Builder{g: &Graph{Name: name}, names: map[string]*Tensor{}}
}

// Input declares a value that the caller gives.
func (b *Builder) Input(name string, elem Elem, shape ...Dim) *Tensor {
	t := b.declare(&Tensor{Name: name, Kind: Input, Elem: elem, Shape: shape})
	b.g.Inputs = append(b.g.Inputs, t)
	return t
}

// Weight declares a tensor of the model file, or returns it when it was declared before with the same type: a tied head
// is the embedding's tensor.
func (b *Builder) Weight(name string, elem Elem, shape ...Dim) *Tensor {
	t := &Tensor{Name: name, Kind: Weight, Elem: elem, Shape: shape}
	if old := b.names[name]; old != nil && old.Kind == Weight && old.Type().Equal(t.Type()) {
		return old
	}
	b.declare(t)
	b.g.Weights = append(b.g.Weights, t)
	return t
}

// Node adds an operation with one result of the given name.
func (b *Builder) Node(name string, op Op, attrs Attrs, in ...*Tensor) *Tensor {
	return b.node([]string{name}, op, attrs, nil, in)[0]
}

// Linear adds one Linear with a result for each name: operands are x, the weights and, with bias, as many biases.
func (b *Builder) Linear(names []string, bias bool, x *Tensor, weights ...*Tensor) []*Tensor {
	return b.node(names, Linear, Attrs{Bias: bias}, nil, append([]*Tensor{x}, weights...))
}

// Reshape adds a Reshape to the given shape.
func (b *Builder) Reshape(name string, x *Tensor, shape ...Dim) *Tensor {
	return b.node([]string{name}, Reshape, Attrs{}, []Type{{x.Elem, shape}}, []*Tensor{x})[0]
}

// KVAppend adds a KVAppend whose cache stores elem, F32 or F16.
func (b *Builder) KVAppend(name string, elem Elem, layer int, k, v *Tensor) *Tensor {
	n := &Node{Op: KVAppend, In: []*Tensor{k, v}, Attrs: Attrs{Layer: layer}}
	types, err := n.infer(nil)
	if err != nil {
		b.fail(name, err)
		types = []Type{{F32, nil}}
	}
	types[0].Elem = elem
	return b.node([]string{name}, KVAppend, n.Attrs, types, n.In)[0]
}

// Output marks results of the graph.
func (b *Builder) Output(tensors ...*Tensor) { b.g.Outputs = append(b.g.Outputs, tensors...) }

// Graph returns the graph, verified, or the first mistake.
func (b *Builder) Graph() (*Graph, error) {
	if b.err != nil {
		return nil, b.err
	}
	if err := Verify(b.g); err != nil {
		return nil, err
	}
	return b.g, nil
}

func (b *Builder) node(names []string, op Op, attrs Attrs, declared []Type, in []*Tensor) []*Tensor {
	n := &Node{Op: op, In: slices.Clone(in), Attrs: attrs}
	types, err := n.infer(declared)
	if err != nil {
		b.fail(names[0], err)
		types = make([]Type, len(names))
	} else if len(types) != len(names) {
		b.fail(names[0], &Error{Msg: "the names do not match the results"})
		types = make([]Type, len(names))
	}
	for i, name := range names {
		n.Out = append(n.Out, b.declare(&Tensor{Name: name, Kind: Value, Elem: types[i].Elem, Shape: types[i].Shape, Def: n}))
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return n.Out
}

func (b *Builder) declare(t *Tensor) *Tensor {
	if b.names[t.Name] != nil {
		b.fail(t.Name, &Error{Msg: "the name is taken"})
	}
	b.names[t.Name] = t
	return t
}

func (b *Builder) fail(name string, err error) {
	if b.err == nil {
		b.err = &Error{Name: name, Msg: err.Error()}
	}
}
