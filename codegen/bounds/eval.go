package bounds

import (
	"math/bits"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// facts are what conditions on the way to a place say. They never change: assuming makes others.
type facts struct {
	spans map[*node]span
	apart map[[2]*node]int64 // the first is at least so much more than the second
	memo  map[*node]span
}

func newFacts() *facts {
	return &facts{map[*node]span{}, map[[2]*node]int64{}, map[*node]span{}}
}

// copied returns facts to which others can be added.
func (f *facts) copied() *facts {
	c := newFacts()
	for n, s := range f.spans {
		c.spans[n] = s
	}
	for n, d := range f.apart {
		c.apart[n] = d
	}
	return c
}

// span returns what is known of a node where the facts hold.
func (p *prover) span(f *facts, n *node) span {
	if s, ok := f.memo[n]; ok {
		return s
	}
	p.spend(1)
	if p.left < 0 || !scalar(n.typ) {
		return limits(n.typ)
	}
	s := n.base
	if n.op != opAny {
		s = p.transfer(f, n)
	}
	if known, ok := f.spans[n]; ok {
		s = s.meet(known)
	}
	f.memo[n] = s
	return s
}

// transfer computes the span of an operation from those of its arguments.
func (p *prover) transfer(f *facts, n *node) span {
	if n.op == opSelect {
		return p.choice(f, n)
	}
	a, b := p.span(f, n.args[0]), nothing
	if a.empty() {
		return nothing
	}
	if len(n.args) > 1 {
		if b = p.span(f, n.args[1]); b.empty() {
			return nothing
		}
	}
	switch n.op {
	case opAdd:
		return p.regrouped(f, n, a.add(b).wrapped(n.typ))
	case opSub:
		r := a.sub(b)
		if least, ok := f.apart[[2]*node{n.args[0], n.args[1]}]; ok {
			r.lo = max(r.lo, least)
		}
		return r.wrapped(n.typ)
	case opMul:
		if r, ok := a.mul(b); ok {
			return r.wrapped(n.typ)
		}
		return limits(n.typ)
	case opDiv:
		return divided(a, b, n.typ)
	case opMod:
		return left(a, b, n.typ)
	case opAnd, opOr, opXor:
		return bitwise(n.op, a, b, n.typ)
	case opShl, opShr:
		return shifted(n.op, a, b, n.typ)
	case opMin:
		r := a.join(b)
		r.hi = min(a.hi, b.hi)
		return r.tight()
	case opMax:
		r := a.join(b)
		r.lo = max(a.lo, b.lo)
		return r.tight()
	case opConvert:
		return a.wrapped(n.typ)
	}
	return p.truth(f, n, a, b)
}

// regrouped is the span of (u + v) + y, of which s is known, as that of u + (v + y) or v + (u + y) where these were met: a guard may
// speak of another grouping than the index.
func (p *prover) regrouped(f *facts, n *node, s span) span {
	for side, x := range n.args {
		if x.op != opAdd {
			continue
		}
		y := n.args[1-side]
		for i, u := range x.args {
			v := x.args[1-i]
			for _, key := range []nodeKey{{op: opAdd, typ: n.typ, a: v, b: y}, {op: opAdd, typ: n.typ, a: y, b: v}} {
				if m := p.nodes[key]; m != nil {
					s = s.meet(p.span(f, u).add(p.span(f, m)).wrapped(n.typ))
				}
			}
		}
	}
	return s
}

// choice is the span of select: of each value where its condition holds.
func (p *prover) choice(f *facts, n *node) span {
	s := nothing
	for i, want := range []bool{false, true} {
		if g, ok := p.assume(f, n.args[2], want); ok {
			s = s.join(p.span(g, n.args[i]))
		}
	}
	return s
}

// truth is the span of a comparison or of what joins them.
func (p *prover) truth(f *facts, n *node, a, b span) span {
	yes, no := false, false // it is sure to hold, not to hold
	switch n.op {
	case opLess:
		yes = a.hi < b.lo || f.least(n.args[1], n.args[0]) >= 1
		no = a.lo >= b.hi || f.least(n.args[0], n.args[1]) >= 0
	case opAtMost:
		yes = a.hi <= b.lo || f.least(n.args[1], n.args[0]) >= 0
		no = a.lo > b.hi || f.least(n.args[0], n.args[1]) >= 1
	case opEqual:
		yes = a.single() && a == b || n.args[0] == n.args[1]
		no = a.meet(b).empty() || f.least(n.args[0], n.args[1]) >= 1 || f.least(n.args[1], n.args[0]) >= 1
	case opNot:
		yes, no = a.is(0), a.is(1)
	case opBoth:
		yes, no = a.is(1) && b.is(1), a.is(0) || b.is(0)
	case opEither:
		yes, no = a.is(1) || b.is(1), a.is(0) && b.is(0)
	}
	switch {
	case yes:
		return constant(1)
	case no:
		return constant(0)
	}
	return between(0, 1)
}

// least returns by how much a is at least more than b; below every difference where nothing says so.
func (f *facts) least(a, b *node) int64 {
	if d, ok := f.apart[[2]*node{a, b}]; ok {
		return d
	}
	return -2 * word
}

// divided is a / b. Division by zero, which WGSL defines, and overflow are left out of what is known.
func divided(a, b span, t wgsl.Type) span {
	switch {
	case b.lo < 1:
		return limits(t)
	case a.lo >= 0 && b.single():
		return a.over(b.lo)
	}
	return between(min(a.lo/b.lo, a.lo/b.hi), max(a.hi/b.lo, a.hi/b.hi))
}

// left is a % b. What Vulkan makes of a negative a is not defined.
func left(a, b span, t wgsl.Type) span {
	switch {
	case b.lo < 1 || a.lo < 0:
		return limits(t)
	case b.single():
		return a.pieces(b.lo)
	}
	return between(0, min(a.hi, b.hi-1))
}

func bitwise(o op, a, b span, t wgsl.Type) span {
	switch {
	case o == opAnd && a.lo < 0 && b.lo >= 0:
		return between(0, b.hi)
	case o == opAnd && b.lo < 0 && a.lo >= 0:
		return between(0, a.hi)
	case a.lo < 0 || b.lo < 0:
		return limits(t)
	}
	if a.single() {
		a, b = b, a
	}
	if a.single() {
		return constant(map[op]int64{opAnd: a.lo & b.lo, opOr: a.lo | b.lo, opXor: a.lo ^ b.lo}[o])
	}
	filled := int64(1)<<bits.Len64(uint64(a.hi|b.hi)) - 1
	switch o {
	case opOr:
		return between(max(a.lo, b.lo), filled)
	case opXor:
		return between(0, filled)
	}
	r := between(0, min(a.hi, b.hi))
	if !b.single() || b.lo == 0 {
		return r
	}
	if b.lo&(b.lo+1) == 0 {
		return a.pieces(b.lo + 1)
	}
	if power := b.lo & -b.lo; power < mostMod {
		return r.remainder(power, 0).tight()
	}
	return r
}

// shifted is a << b or a >> b. WGSL takes b modulo 32; naga leaves that to the driver, for which a shift by more is not defined.
func shifted(o op, a, b span, t wgsl.Type) span {
	switch {
	case b.lo < 0 || b.hi > 31:
		return limits(t)
	case o == opShr && a.lo < 0:
		return between(a.lo, max(a.hi, 0))
	case o == opShr && b.single():
		return a.over(1 << b.lo)
	case o == opShr:
		return between(a.lo>>b.hi, a.hi>>b.lo)
	}
	if r, ok := a.mul(between(1<<b.lo, 1<<b.hi)); ok {
		return r.wrapped(t)
	}
	return limits(t)
}
