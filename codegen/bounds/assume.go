package bounds

// assume returns the facts where a condition holds, or where it doesn't; ok is false when that can't be.
func (p *prover) assume(f *facts, cond *node, holds bool) (out *facts, ok bool) {
	a := &assumption{p, f, false, true}
	a.condition(cond, holds)
	return a.facts, a.possible
}

// assumption collects what follows from a condition.
type assumption struct {
	*prover
	facts    *facts
	own      bool // the facts are not shared
	possible bool
}

// change prepares for a fact more. What was computed from fewer facts is forgotten.
func (a *assumption) change() {
	if !a.own {
		a.facts, a.own = a.facts.copied(), true
	}
	clear(a.facts.memo)
}

func (a *assumption) condition(c *node, holds bool) {
	a.spend(1)
	if !a.possible || a.left < 0 {
		return
	}
	s := a.span(a.facts, c)
	if s.empty() || holds && s.is(0) || !holds && s.is(1) {
		a.possible = false
		return
	}
	switch c.op {
	case opNot:
		a.condition(c.args[0], !holds)
	case opBoth, opEither:
		a.joined(c, holds)
	case opLess:
		if holds {
			a.order(c.args[0], c.args[1], 1)
		} else {
			a.order(c.args[1], c.args[0], 0)
		}
	case opAtMost:
		if holds {
			a.order(c.args[0], c.args[1], 0)
		} else {
			a.order(c.args[1], c.args[0], 1)
		}
	case opEqual:
		a.equal(c, holds)
	default:
		if holds {
			a.narrow(c, constant(1))
		} else {
			a.narrow(c, constant(0))
		}
	}
}

// joined takes a && b or a || b apart, where it says something of either.
func (a *assumption) joined(c *node, holds bool) {
	if holds == (c.op == opBoth) {
		a.condition(c.args[0], holds)
		a.condition(c.args[1], holds)
		return
	}
	for i := range 2 { // one of them decides when the other can't
		if s := a.span(a.facts, c.args[i]); s.single() && s.is(1) != holds {
			a.condition(c.args[1-i], holds)
		}
	}
}

// order says that high is at least low + by.
func (a *assumption) order(low, high *node, by int64) {
	if by > a.facts.least(high, low) && !(low.op == opAny && low.base.single()) && !(high.op == opAny && high.base.single()) {
		a.change()
		a.facts.apart[[2]*node{high, low}] = by
	}
	l, h := a.span(a.facts, low), a.span(a.facts, high)
	a.narrow(low, span{l.lo, h.hi - by, 1, 0})
	a.narrow(high, span{l.lo + by, h.hi, 1, 0})
}

func (a *assumption) equal(c *node, holds bool) {
	x, y := c.args[0], c.args[1]
	if !holds {
		a.differ(x, a.span(a.facts, y))
		a.differ(y, a.span(a.facts, x))
		return
	}
	both := a.span(a.facts, x).meet(a.span(a.facts, y))
	a.narrow(x, both)
	a.narrow(y, both)
}

// differ takes one value from the ends of a span.
func (a *assumption) differ(n *node, from span) {
	if !from.single() {
		return
	}
	s := a.span(a.facts, n)
	if s.lo == from.lo {
		s.lo++
	}
	if s.hi == from.lo {
		s.hi--
	}
	a.narrow(n, span{s.lo, s.hi, 1, 0})
}

// narrow says that a node's value lies in a span, and what follows for the values that it was computed from.
func (a *assumption) narrow(n *node, to span) {
	a.spend(1)
	if !a.possible || a.left < 0 {
		return
	}
	have := a.span(a.facts, n)
	s := have.meet(to)
	if s.empty() {
		a.possible = false
		return
	}
	if s == have {
		return
	}
	a.change()
	a.facts.spans[n] = s
	a.back(n, s)
}

// back narrows the arguments of an operation whose result is s. Where it may wrap around, the result says nothing of them.
func (a *assumption) back(n *node, s span) {
	switch n.op {
	case opAny, opParts, opSelect:
		return
	}
	if len(n.args) == 1 {
		if x := a.span(a.facts, n.args[0]); n.op == opConvert && x.within(limits(n.typ)) {
			a.narrow(n.args[0], span{s.lo, s.hi, 1, 0})
		}
		return
	}
	x, y := n.args[0], n.args[1]
	sx, sy, most := a.span(a.facts, x), a.span(a.facts, y), limits(n.typ)
	switch n.op {
	case opAdd:
		if sx.add(sy).within(most) {
			a.narrow(x, span{s.lo - sy.hi, s.hi - sy.lo, 1, 0})
			a.narrow(y, span{s.lo - sx.hi, s.hi - sx.lo, 1, 0})
		}
	case opSub:
		if sx.sub(sy).within(most) {
			a.narrow(x, span{s.lo + sy.lo, s.hi + sy.hi, 1, 0})
			a.narrow(y, span{sx.lo - s.hi, sx.hi - s.lo, 1, 0})
		}
	case opMul:
		if sx.single() {
			x, y, sx, sy = y, x, sy, sx
		}
		if sy.single() {
			a.factor(x, sx, sy.lo, s, most)
		}
	case opShl:
		if sy.single() && sy.within(between(0, 31)) {
			a.factor(x, sx, 1<<sy.lo, s, most)
		}
	case opMin:
		a.least(x, sx, y, sy, s)
	case opMax:
		a.most(x, sx, y, sy, s)
	default:
		a.parts(n.op, x, sx, y, sy, s)
	}
}

// factor narrows x where x times a constant is s.
func (a *assumption) factor(x *node, sx span, by int64, s, most span) {
	if r, ok := sx.mul(constant(by)); ok && by > 0 && r.within(most) {
		a.narrow(x, span{ceilDiv(s.lo, by), floorDiv(s.hi, by), 1, 0})
	}
}

// least narrows x and y where the lesser of them is s.
func (a *assumption) least(x *node, sx span, y *node, sy, s span) {
	a.narrow(x, span{s.lo, sx.hi, 1, 0})
	a.narrow(y, span{s.lo, sy.hi, 1, 0})
	if sy.lo > s.hi {
		a.narrow(x, span{sx.lo, s.hi, 1, 0})
	}
	if sx.lo > s.hi {
		a.narrow(y, span{sy.lo, s.hi, 1, 0})
	}
}

// most narrows x and y where the greater of them is s.
func (a *assumption) most(x *node, sx span, y *node, sy, s span) {
	a.narrow(x, span{sx.lo, s.hi, 1, 0})
	a.narrow(y, span{sy.lo, s.hi, 1, 0})
	if sy.hi < s.lo {
		a.narrow(x, span{s.lo, sx.hi, 1, 0})
	}
	if sx.hi < s.lo {
		a.narrow(y, span{s.lo, sy.hi, 1, 0})
	}
}

// parts narrows x, no less than zero, where s is a quotient, a remainder or some bits of it.
func (a *assumption) parts(o op, x *node, sx span, y *node, sy, s span) {
	if sx.lo < 0 || sy.lo < 0 {
		return
	}
	by := sy.lo
	switch o {
	case opAnd:
		a.narrow(x, span{s.lo, sx.hi, 1, 0})
		a.narrow(y, span{s.lo, sy.hi, 1, 0})
		if by&(by+1) != 0 {
			return
		}
		o, by = opMod, by+1
	case opShr:
		if sy.hi > 31 {
			return
		}
		o, by = opDiv, 1<<by
	}
	if !sy.single() || by < 1 {
		return
	}
	switch o {
	case opDiv:
		a.narrow(x, span{s.lo * by, s.hi*by + by - 1, 1, 0})
	case opMod:
		lo, hi := sx.lo, sx.hi
		if lo%by < s.lo {
			lo += s.lo - lo%by
		}
		if hi%by > s.hi {
			hi -= hi%by - s.hi
		}
		a.narrow(x, span{lo, hi, 1, 0})
	}
}
