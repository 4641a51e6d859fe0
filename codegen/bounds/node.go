package bounds

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// op says how a node's value comes from those of its arguments.
type op uint8

const (
	opAny   op = iota // nothing is known but the span
	opParts           // a vector of its arguments

	opAdd
	opSub
	opMul
	opDiv
	opMod
	opAnd
	opOr
	opXor
	opShl
	opShr
	opMin
	opMax
	opConvert // the same 32 bits as another integer type
	opSelect  // of false, true and condition

	opLess   // a < b
	opAtMost // a <= b
	opEqual  // a == b
	opNot    // !a
	opBoth   // a && b
	opEither // a || b
)

// node is a value of one invocation at one time. A node never changes what it stands for: a variable that is assigned stands for
// another node after. Equal operations on equal nodes are the same node.
type node struct {
	op   op
	typ  wgsl.Type // of a vector with parts, that of the vector
	args []*node
	base span // of opAny

	from *wgsl.Symbol // of opAny: the array with stated words that it was loaded from
	word int64        // the word, if it is one
}

type nodeKey struct {
	op      op
	typ     wgsl.Type
	a, b, c *node
}

type numberKey struct {
	typ wgsl.Type
	n   int64
}

// integer reports whether a type has an order that the prover follows.
func integer(t wgsl.Type) bool { return t == wgsl.U32 || t == wgsl.I32 }

func scalar(t wgsl.Type) bool { return integer(t) || t == wgsl.Bool }

// fresh makes a value of a type of which nothing is known.
func (p *prover) fresh(t wgsl.Type) *node {
	if v, ok := t.(wgsl.Vector); ok && scalar(v.Elem) {
		n := &node{op: opParts, typ: t}
		for range v.Width {
			n.args = append(n.args, p.fresh(v.Elem))
		}
		return n
	}
	return &node{typ: t, base: limits(t)}
}

// known makes a value within a span.
func (p *prover) known(t wgsl.Type, s span) *node { return &node{typ: t, base: s.meet(limits(t))} }

func (p *prover) number(t wgsl.Type, n int64) *node {
	key := numberKey{t, n}
	if p.numbers[key] == nil {
		p.numbers[key] = &node{typ: t, base: constant(n)}
	}
	return p.numbers[key]
}

// make returns the node of an operation on scalars.
func (p *prover) make(o op, t wgsl.Type, args ...*node) *node {
	p.spend(1)
	key := nodeKey{op: o, typ: t, a: args[0]}
	if len(args) > 1 {
		key.b = args[1]
	}
	if len(args) > 2 {
		key.c = args[2]
	}
	n := p.nodes[key]
	if n == nil {
		n = &node{op: o, typ: t, args: args}
		p.nodes[key] = n
	}
	return n
}

// each applies an operation part by part; a scalar stands for a vector of it. It is unknown where parts are.
func (p *prover) each(t wgsl.Type, f func(elem wgsl.Type, args []*node) *node, args ...*node) *node {
	v, vector := t.(wgsl.Vector)
	if !vector {
		for _, a := range args {
			if !scalar(a.typ) {
				return p.fresh(t)
			}
		}
		return f(t, args)
	}
	n := &node{op: opParts, typ: t}
	for i := range v.Width {
		part := make([]*node, len(args))
		for j, a := range args {
			switch {
			case a.op == opParts && i < len(a.args):
				part[j] = a.args[i]
			case scalar(a.typ):
				part[j] = a
			default:
				return p.fresh(t)
			}
		}
		n.args = append(n.args, f(v.Elem, part))
	}
	return n
}
