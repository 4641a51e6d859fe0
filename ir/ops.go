package ir

import (
	"fmt"
	"slices"
	"strings"
)

// Spec describes an op: its row in the table of ops.
type Spec struct {
	Name     string // in the text form
	Operands []Operand
	Results  []Result
	Attrs    []AttrUse
	also     func(n *Node) string // what the shapes alone don't say; "" when nothing is wrong
}

// Operand describes an operand. Dims gives a name to each dimension: a name stands for one size in the whole node, a
// number for itself, T and S for the symbols, and ... for any number of leading dimensions; n/32 is a 32nd of n, which an
// earlier operand gave a size. In operands that repeat, m is another size in each repetition.
type Operand struct {
	Name     string
	Dims     string
	Elem     ElemRule
	Repeat   bool // one or more
	Optional bool // none or one; of operands that repeat, as many as attribute bias asks for
}

// ElemRule says which element types an operand may have.
type ElemRule uint8

// The rules for element types.
const (
	Float  ElemRule = iota // an f32 value
	Vector                 // an f32 value or a weight of any type, dequantised when it is loaded
	Stored                 // a weight of any type, dequantised row by row
	Index                  // u32
	Cached                 // f32 or f16
	Code                   // i8, from -127 to 127
)

// Result describes a result. Shape and type follow from the operands, but for an Open one, which the node declares.
type Result struct {
	Dims   string
	Elem   ElemRule
	Repeat bool // one for each of the operands that repeat
	Open   bool
}

// AttrUse names an attribute that an op reads. An optional one may be zero and is then not printed.
type AttrUse struct {
	Name     string
	Optional bool
}

// ops is the table of ops. What each computes stands beside its constant in graph.go.
var ops = map[Op]Spec{
	Embed: {
		Name:     "embed",
		Operands: []Operand{{Name: "w", Dims: "vocab n", Elem: Stored}, {Name: "tokens", Dims: "t", Elem: Index}},
		Results:  []Result{{Dims: "t n"}},
		Attrs:    []AttrUse{{"scale", true}},
	},
	RMSNorm: {
		Name:     "rms_norm",
		Operands: []Operand{{Name: "x", Dims: "... n"}, {Name: "w", Dims: "n", Elem: Vector}},
		Results:  []Result{{Dims: "... n"}},
		Attrs:    []AttrUse{{"eps", false}},
	},
	Linear: {
		Name: "linear",
		Operands: []Operand{{Name: "x", Dims: "t n"}, {Name: "w", Dims: "m n", Elem: Stored, Repeat: true},
			{Name: "bias", Dims: "m", Elem: Vector, Repeat: true, Optional: true}},
		Results: []Result{{Dims: "t m", Repeat: true}},
		Attrs:   []AttrUse{{"bias", true}},
	},
	Reshape: {
		Name:     "reshape",
		Operands: []Operand{{Name: "x", Dims: "..."}},
		Results:  []Result{{Open: true}},
		also:     checkReshape,
	},
	RoPE: {
		Name:     "rope",
		Operands: []Operand{{Name: "x", Dims: "t h d"}, {Name: "factors", Dims: "half", Elem: Vector, Optional: true}},
		Results:  []Result{{Dims: "t h d"}},
		Attrs:    []AttrUse{{"style", false}, {"dims", false}, {"base", false}, {"factor", true}},
		also:     checkRoPE,
	},
	KVAppend: {
		Name:     "kv_append",
		Operands: []Operand{{Name: "k", Dims: "T h d"}, {Name: "v", Dims: "T h d"}},
		Results:  []Result{{Dims: "2 S h d", Elem: Cached, Open: true}},
		Attrs:    []AttrUse{{"layer", false}},
	},
	Attention: {
		Name:     "attention",
		Operands: []Operand{{Name: "q", Dims: "T h d"}, {Name: "kv", Dims: "2 S kvheads d", Elem: Cached}},
		Results:  []Result{{Dims: "T h d"}},
		Attrs:    []AttrUse{{"scale", false}, {"window", true}},
		also:     checkAttention,
	},
	GLU: {
		Name:     "glu",
		Operands: []Operand{{Name: "gate", Dims: "t n"}, {Name: "up", Dims: "t n"}},
		Results:  []Result{{Dims: "t n"}},
		Attrs:    []AttrUse{{"act", false}},
	},
	Add: {
		Name:     "add",
		Operands: []Operand{{Name: "a", Dims: "..."}, {Name: "b", Dims: "..."}},
		Results:  []Result{{Dims: "..."}},
	},
	Last: {
		Name:     "last",
		Operands: []Operand{{Name: "x", Dims: "t n"}},
		Results:  []Result{{Dims: "1 n"}},
	},
	Softcap: {
		Name:     "softcap",
		Operands: []Operand{{Name: "x", Dims: "..."}},
		Results:  []Result{{Dims: "..."}},
		Attrs:    []AttrUse{{"cap", false}},
	},
	ArgMax: {
		Name:     "argmax",
		Operands: []Operand{{Name: "x", Dims: "r n"}},
		Results:  []Result{{Dims: "r", Elem: Index}},
	},
	QuantQ8: {
		Name:     "quant_q8",
		Operands: []Operand{{Name: "x", Dims: "t n"}},
		Results:  []Result{{Dims: "t n", Elem: Code}, {Dims: "t n/32"}, {Dims: "t n/32"}},
	},
	LinearQ8: {
		Name: "linear_q8",
		Operands: []Operand{{Name: "codes", Dims: "t n", Elem: Code}, {Name: "d", Dims: "t n/32"}, {Name: "s", Dims: "t n/32"},
			{Name: "w", Dims: "m n", Elem: Stored, Repeat: true}, {Name: "bias", Dims: "m", Elem: Vector, Repeat: true, Optional: true}},
		Results: []Result{{Dims: "t m", Repeat: true}},
		Attrs:   []AttrUse{{"bias", true}},
	},
}

// Spec returns the op's row of the table; ok is false for a number that is no op, such as 0.
func (o Op) Spec() (s Spec, ok bool) {
	s, ok = ops[o]
	return s, ok
}

// String prints the op as the text form has it.
func (o Op) String() string {
	if s, ok := ops[o]; ok {
		return s.Name
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// ParseOp returns the op with the given name.
func ParseOp(name string) (Op, bool) {
	for o, s := range ops {
		if s.Name == name {
			return o, true
		}
	}
	return 0, false
}

// opNames lists the names of all ops in the order of their numbers.
func opNames() []string {
	names := make([]string, len(ops))
	for o, s := range ops {
		names[o-1] = s.Name
	}
	return names
}

// reads reports whether the op reads an attribute, and whether it may be zero.
func (s Spec) reads(name string) (optional, ok bool) {
	i := slices.IndexFunc(s.Attrs, func(u AttrUse) bool { return u.Name == name })
	if i < 0 {
		return false, false
	}
	return s.Attrs[i].Optional, true
}

// signature prints the operands for messages: "x [t, n], w [m, n]..., bias [m]... when bias".
func (s Spec) signature() string {
	var parts []string
	for _, o := range s.Operands {
		text := o.Name + " [" + strings.Join(strings.Fields(o.Dims), ", ") + "]"
		if o.Repeat {
			text += "..."
		}
		if o.Optional && o.Repeat {
			text += " when bias is true"
		} else if o.Optional {
			text = "optional " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func checkReshape(n *Node) string {
	x, y := n.In[0], n.Out[0]
	if x.Elem != y.Elem || !sameElements(x.Shape, y.Shape) {
		return fmt.Sprintf("cannot reshape %s to %s: the elements differ", x.Type(), y.Type())
	}
	return ""
}

// sameElements reports whether two shapes have equally many elements whatever the symbols stand for.
func sameElements(a, b []Dim) bool {
	pa, sa := factors(a)
	pb, sb := factors(b)
	return pa == pb && sa == sb
}

// factors splits a shape's number of elements into the product of its integers and how often each symbol occurs.
func factors(shape []Dim) (product int, symbols [3]int) {
	product = 1
	for _, d := range shape {
		if d.Symbolic() {
			symbols[-1-d]++
		} else {
			product *= int(d)
		}
	}
	return product, symbols
}

func checkRoPE(n *Node) string {
	dims, d := n.Attrs.Dims, n.In[0].Shape[2]
	switch {
	case dims <= 0 || dims%2 != 0 || dims > int(d):
		return fmt.Sprintf("attribute dims is %d, not an even number from 2 to the head's %s", dims, d)
	case len(n.In) == 2 && int(n.In[1].Shape[0]) != dims/2:
		return fmt.Sprintf("operand factors is %s, not [%d], half of dims", n.In[1].Type(), dims/2)
	}
	return ""
}

func checkAttention(n *Node) string {
	heads, kvHeads := n.In[0].Shape[1], n.In[1].Shape[2]
	if heads.Symbolic() || kvHeads.Symbolic() || heads%kvHeads != 0 {
		return fmt.Sprintf("%s query heads cannot share %s KV heads evenly", heads, kvHeads)
	}
	return ""
}
