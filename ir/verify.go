package ir

import (
	"math"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// Verify checks that a graph means something: names are unique and printable, types are legal, every value is defined
// before it is read, each node fits its op's row in shapes, element types and attributes, and each KV layer is written
// once. It returns up to ten errors, joined; each is an *Error.
func Verify(g *Graph) error {
	v := verifier{names: map[string]Pos{}, known: map[*Tensor]bool{}, layers: map[int]string{}}
	if g.Name == "" {
		v.add(Pos{}, "graph", "a graph has a name")
	}
	for _, t := range g.Inputs {
		v.declare(t, Input)
	}
	for _, t := range g.Weights {
		v.declare(t, Weight)
	}
	for _, n := range g.Nodes {
		v.node(n)
	}
	if len(g.Outputs) == 0 {
		v.add(Pos{}, g.Name, "a graph has at least one output")
	}
	seen := map[*Tensor]bool{}
	for _, t := range g.Outputs {
		switch {
		case !v.known[t]:
			v.add(t.Pos, t.Name, "output %s is not defined", t.Name)
		case seen[t]:
			v.add(t.Pos, t.Name, "output %s is listed twice", t.Name)
		}
		seen[t] = true
	}
	return v.err()
}

type verifier struct {
	errorList
	names  map[string]Pos
	known  map[*Tensor]bool
	layers map[int]string // the node that writes a KV layer
}

// declare checks a tensor at the place that makes it.
func (v *verifier) declare(t *Tensor, kind Kind) {
	if !validName(t.Name) {
		v.add(t.Pos, t.Name, "%q is no name: use letters, digits and . _ - /", t.Name)
	}
	if pos, dup := v.names[t.Name]; dup {
		v.add(t.Pos, t.Name, "the name %s is taken%s", t.Name, at(pos))
	}
	v.names[t.Name] = t.Pos
	v.known[t] = true
	if t.Kind != kind {
		v.add(t.Pos, t.Name, "%s has kind %d where %d belongs", t.Name, t.Kind, kind)
	}
	if msg := checkType(t.Type(), kind); msg != "" {
		v.add(t.Pos, t.Name, "%s is %s: %s", t.Name, t.Type(), msg)
	}
}

func at(p Pos) string {
	if p.Line == 0 {
		return ""
	}
	return " at " + p.String()
}

func (v *verifier) node(n *Node) {
	name := n.Op.String()
	if len(n.Out) > 0 {
		name = n.Out[0].Name
	}
	ready := true
	for _, t := range n.In {
		if !v.known[t] {
			v.add(n.Pos, name, "%s is read before it is defined", t.Name)
			ready = false
		}
	}
	declared := make([]Type, len(n.Out))
	for i, t := range n.Out {
		v.declare(t, Value)
		declared[i] = t.Type()
		if t.Def != n {
			v.add(t.Pos, t.Name, "%s does not know the node that makes it", t.Name)
		}
	}
	if !ready {
		return
	}
	if _, err := n.infer(declared); err != nil {
		v.add(n.Pos, name, "%v", err)
	} else if n.Op == KVAppend {
		if other, dup := v.layers[n.Attrs.Layer]; dup {
			v.add(n.Pos, name, "KV layer %d is written by %s too", n.Attrs.Layer, other)
		}
		v.layers[n.Attrs.Layer] = name
	}
}

const (
	maxDims     = 4                                 // of a tensor, as in model files
	maxElements = min(4*math.MaxInt32, math.MaxInt) // of a tensor: 8 GiB of weights of one byte, on a 32-bit host less
)

// checkType returns what is wrong with a type, "" for nothing.
func checkType(t Type, kind Kind) string {
	if len(t.Shape) > maxDims {
		return "at most 4 dimensions"
	}
	elements := 1
	for _, d := range t.Shape {
		switch {
		case d.Symbolic() && (kind == Weight || d < B):
			return "a weight's dimensions are positive integers"
		case d == 0:
			return "dimensions are positive"
		case d > 0 && elements > maxElements/int(d):
			return "too many elements"
		case d > 0:
			elements *= int(d)
		}
	}
	if kind == Weight {
		return checkBlocks(t)
	}
	if t.Elem != F32 && t.Elem != F16 && t.Elem != I8 && t.Elem != U32 {
		return "a value is f32, f16, i8 or u32"
	}
	return ""
}

// checkBlocks checks that a weight's rows are whole blocks of its type.
func checkBlocks(t Type) string {
	block, ok := quant.Type(t.Elem).Block()
	switch {
	case !ok:
		return "no element type of the file format"
	case len(t.Shape) == 0:
		return "a weight has dimensions"
	case int(t.Shape[len(t.Shape)-1])%block.Elems != 0:
		return "rows are not whole blocks"
	}
	return ""
}

// validName reports whether the text form can hold the name.
func validName(name string) bool {
	if name == "" || name[0] == '-' || name[0] == '/' || name[0] == '.' {
		return false
	}
	for i := range len(name) {
		if !wordByte(name[i]) || name[i] == '+' {
			return false
		}
	}
	return true
}

// wordByte reports whether a byte may be part of a word of the text form: a name, a number, a keyword.
func wordByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	case c == '.', c == '_', c == '-', c == '/', c == '+':
		return true
	}
	return false
}
