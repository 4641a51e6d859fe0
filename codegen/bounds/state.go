package bounds

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// state is what is known at a place in the text.
type state struct {
	env   map[*wgsl.Symbol]*node
	facts *facts
	dead  bool // no invocation gets here
}

func (s *state) copied() *state {
	c := &state{env: make(map[*wgsl.Symbol]*node, len(s.env)), facts: s.facts, dead: s.dead}
	for v, n := range s.env {
		c.env[v] = n
	}
	return c
}

// where narrows a state to a condition.
func (p *prover) where(s *state, cond *node, holds bool) {
	f, ok := p.assume(s.facts, cond, holds)
	s.facts, s.dead = f, s.dead || !ok
}

// join is the state where ways meet. Either may be nil.
func (p *prover) join(a, b *state) *state {
	switch {
	case a == nil || a.dead && b != nil:
		return b
	case b == nil || b.dead:
		return a
	}
	p.spend(len(a.env))
	r := &state{env: map[*wgsl.Symbol]*node{}}
	for v, x := range a.env {
		if y, ok := b.env[v]; ok {
			r.env[v] = p.either(a.facts, x, b.facts, y)
		}
	}
	r.facts = p.shared(a.facts, b.facts)
	return r
}

// either is a value that comes from one of two ways.
func (p *prover) either(fa *facts, x *node, fb *facts, y *node) *node {
	switch {
	case x == y:
		return x
	case x.op == opParts && y.op == opParts && len(x.args) == len(y.args):
		n := &node{op: opParts, typ: x.typ}
		for i := range x.args {
			n.args = append(n.args, p.either(fa, x.args[i], fb, y.args[i]))
		}
		return n
	case scalar(x.typ) && x.typ == y.typ:
		return p.known(x.typ, p.span(fa, x).join(p.span(fb, y)))
	}
	return p.fresh(x.typ)
}

// shared are the facts that hold on both ways.
func (p *prover) shared(a, b *facts) *facts {
	if a == b {
		return a
	}
	r := newFacts()
	for _, from := range []*facts{a, b} {
		p.spend(len(from.spans))
		for n := range from.spans {
			if s := p.span(a, n).join(p.span(b, n)); !limits(n.typ).inside(s) {
				r.spans[n] = s
			}
		}
	}
	for pair, d := range a.apart {
		if e, ok := b.apart[pair]; ok {
			r.apart[pair] = min(d, e)
		}
	}
	return r
}
