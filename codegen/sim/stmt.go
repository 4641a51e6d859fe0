package sim

import (
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// block compiles statements with a scope of their own.
func (c *compiler) block(b *wgsl.Block) {
	if b != nil {
		c.scope(func() { c.statements(b) })
	}
}

func (c *compiler) statements(b *wgsl.Block) {
	for _, s := range b.List {
		c.statement(s)
	}
}

func (c *compiler) statement(s wgsl.Stmt) {
	switch s := s.(type) {
	case *wgsl.Declare:
		c.declare(s)
	case *wgsl.Assign:
		c.scope(func() { c.assign(s) })
	case *wgsl.Ignore:
		c.scope(func() { c.ignore(s.Value) })
	case *wgsl.CallStmt:
		c.scope(func() { c.call(s.Call, nil) })
	case *wgsl.If:
		c.ifElse(s)
	case *wgsl.Switch:
		c.switchCase(s)
	case *wgsl.For:
		c.scope(func() { c.forLoop(s) })
	case *wgsl.While:
		c.loop(loop{pos: s.Pos, cond: s.Cond, body: func() { c.block(s.Body) }})
	case *wgsl.Loop:
		c.endless(s)
	case *wgsl.Return:
		c.returns(s)
	case *wgsl.Break:
		c.jump(c.leave)
	case *wgsl.Continue:
		c.jump(c.again)
	case *wgsl.Block:
		c.block(s)
	}
}

// ignore computes a value, or finds the place of one that has none, for what that does.
func (c *compiler) ignore(e wgsl.Expr) {
	if _, pointer := e.Expression().Type.(wgsl.Pointer); pointer {
		c.ref(e)
		return
	}
	c.expr(e, nil)
}

func (c *compiler) declare(d *wgsl.Declare) {
	s := d.Symbol
	_, pointer := s.Type.(wgsl.Pointer)
	switch {
	case s.Kind == wgsl.ConstSymbol:
		c.env[s] = d
	case s.Kind == wgsl.LetSymbol && pointer:
		c.env[s] = c.ref(d.Init) // what its indices take stays taken
	case s.Kind == wgsl.LetSymbol:
		slots := c.take(len(parts(s.Type)), nil)
		c.scope(func() { c.exprTo(d.Init, slots) })
		c.env[s] = held(slots)
	default:
		c.frame.bytes += wgsl.SizeOf(s.Type)
		r := ref{name: s.Name, space: wgsl.FunctionSpace, whole: s.Type, typ: s.Type, dynamic: -1, static: c.reserve(d.Pos, s.Type)}
		c.scope(func() { c.initialise(r, d.Init) })
		c.env[s] = r
	}
}

// initialise gives a variable in registers its first value: zero without init. Nobody reads it outside of the invocations that do this.
func (c *compiler) initialise(r ref, init wgsl.Expr) {
	slots := make([]int, len(parts(r.typ)))
	for i := range slots {
		slots[i] = r.static + i
	}
	if init != nil {
		c.exprTo(init, slots)
		return
	}
	c.emit(func(m *machine, a *lanes) {
		for _, s := range slots {
			clear(m.regs[s][a.lo:a.hi])
		}
	})
}

func (c *compiler) assign(s *wgsl.Assign) {
	if m, ok := s.To.(*wgsl.Member); ok && len(m.Name) > 1 && c.isVector(m.X) {
		c.fail(m.Pos, "assignments to a swizzle are not simulated")
	}
	r := c.ref(s.To)
	if s.Op == "" {
		c.store(r, c.expr(s.Value, nil), s.Pos)
		return
	}
	to := s.To.Expression()
	old := c.load(r, nil, to.Pos)
	if hasCall(s.Value) {
		old = c.copyOf(old)
	}
	right := c.expr(s.Value, nil)
	c.store(r, c.arithmetic(s.Op, s.Pos, r.typ, s.Value.Expression().Type, old, right, r.typ, nil), s.Pos)
}

func (c *compiler) isVector(e wgsl.Expr) bool {
	t := e.Expression().Type
	if p, ok := t.(wgsl.Pointer); ok {
		t = p.Elem
	}
	_, ok := t.(wgsl.Vector)
	return ok
}

func (c *compiler) ifElse(s *wgsl.If) {
	yes, no := c.mask(), c.mask()
	mark := c.next
	cond := c.expr(s.Cond, nil)[0]
	then := c.list(func() { c.block(s.Then) })
	otherwise := c.list(func() { c.block(s.Else) })
	c.next = mark
	c.emit(func(m *machine, a *lanes) {
		t, e := &m.masks[yes], &m.masks[no]
		split(a, t, e, m.regs[cond])
		m.run(then, t)
		m.run(otherwise, e)
		a.copy(t)
		a.add(e)
	})
}

// run runs operations until no invocation is left.
func (m *machine) run(ops []op, a *lanes) {
	for _, o := range ops {
		if a.hi == 0 || m.ended {
			return
		}
		if m.steps%64 == 0 && m.stopped() {
			m.ended = true
			return
		}
		o(m, a)
		m.steps++
	}
}

func (c *compiler) switchCase(s *wgsl.Switch) {
	type clause struct {
		values []uint32
		all    bool
		ops    []op
	}
	selector := c.copyOf(c.expr(s.Value, nil))[0]
	saved := c.leave
	c.leave = c.mask()
	left, here, rest, spare, done := c.leave, c.mask(), c.mask(), c.mask(), c.mask()
	var clauses []clause
	for _, k := range s.Cases {
		cl := clause{all: k.Default}
		for _, v := range k.Values {
			cl.values = append(cl.values, uint32(v.Expression().Value.Int))
		}
		cl.ops = c.list(func() { c.block(k.Body) })
		clauses = append(clauses, cl)
	}
	c.leave = saved
	matches := func(m *machine, values []uint32) { // divides rest into here and what stays
		h, r, all := &m.masks[here], &m.masks[rest], &m.masks[spare]
		all.copy(r)
		for i := all.lo; i < all.hi; i++ {
			in, hit := all.dense || all.on[i], slices.Contains(values, m.regs[selector][i])
			h.on[i], r.on[i] = in && hit, in && !hit
		}
		h.settle(all.lo, all.hi)
		r.settle(all.lo, all.hi)
	}
	c.emit(func(m *machine, a *lanes) {
		l, h, r := &m.masks[left], &m.masks[here], &m.masks[rest]
		l.clear()
		r.copy(a)
		done := lanes{dense: true, on: m.masks[done].on}
		for _, cl := range clauses {
			if cl.all || r.empty() {
				continue
			}
			matches(m, cl.values)
			m.run(cl.ops, h)
			done.add(h)
		}
		for _, cl := range clauses {
			if cl.all {
				m.run(cl.ops, r) // whatever no other case took
			}
		}
		a.copy(l)
		a.add(r)
		a.add(&done)
	})
}

// jump takes the invocations out of everything up to a loop or switch.
func (c *compiler) jump(to int) {
	c.emit(func(m *machine, a *lanes) {
		m.masks[to].add(a)
		a.clear()
	})
}

func (c *compiler) returns(s *wgsl.Return) {
	if s.Value != nil {
		c.scope(func() {
			from, to := c.expr(s.Value, nil), c.frame.result
			c.emit(func(m *machine, a *lanes) {
				for i, slot := range from {
					a.move(m.regs[to[i]], m.regs[slot])
					if m.made.taint {
						m.moved(a, to[i], slot)
					}
				}
			})
		})
	}
	c.emit(func(m *machine, a *lanes) { a.clear() })
}

func (c *compiler) forLoop(s *wgsl.For) {
	if s.Init != nil {
		c.statement(s.Init)
	}
	l := loop{pos: s.Pos, cond: s.Cond, body: func() { c.block(s.Body) }}
	if s.Post != nil {
		l.post = func() { c.statement(s.Post) }
	}
	c.loop(l)
}

// endless compiles loop { ... continuing { ... break if ... } }.
func (c *compiler) endless(s *wgsl.Loop) {
	l := loop{pos: s.Pos, body: func() { c.statements(s.Body) }}
	if s.Continuing != nil || s.BreakIf != nil {
		l.post = func() {
			if s.Continuing != nil {
				c.statements(s.Continuing)
			}
			if s.BreakIf != nil {
				l.breakIf(c, s.BreakIf)
			}
		}
	}
	c.scope(func() { c.loop(l) })
}

// breakIf ends the loop where a condition holds.
func (l loop) breakIf(c *compiler, e wgsl.Expr) {
	yes, no := c.mask(), c.mask()
	cond, leave := c.expr(e, nil)[0], c.leave
	c.emit(func(m *machine, a *lanes) {
		y, n := &m.masks[yes], &m.masks[no]
		split(a, y, n, m.regs[cond])
		m.masks[leave].add(y)
		a.copy(n)
	})
}

// loop is what all loops have in common.
type loop struct {
	pos  wgsl.Pos
	cond wgsl.Expr // nil for none
	body func()
	post func() // nil for none; sees the scope of body
}

func (c *compiler) loop(l loop) {
	leave, again := c.leave, c.again
	c.leave, c.again = c.mask(), c.mask()
	left, next, in, live, no := c.leave, c.again, c.mask(), c.mask(), c.mask()
	at := c.site(l.pos, "loop")
	condition := -1
	var cond, body, post []op
	if l.cond != nil {
		cond = c.list(func() {
			c.scope(func() { condition = c.expr(l.cond, nil)[0] })
		})
	}
	body = c.list(l.body)
	if l.post != nil {
		post = c.list(l.post)
	}
	c.leave, c.again = leave, again
	c.emit(func(m *machine, a *lanes) {
		out, cont, round, all := &m.masks[left], &m.masks[next], &m.masks[in], &m.masks[live]
		out.clear()
		all.copy(a)
		for !all.empty() && m.trip(all, at) {
			round.copy(all)
			if condition >= 0 {
				m.run(cond, all)
				n := &m.masks[no]
				split(all, round, n, m.regs[condition])
				out.add(n)
			}
			cont.clear()
			m.run(body, round)
			all.copy(round)
			all.add(cont)
			m.run(post, all)
		}
		a.copy(out)
	})
}

// trip counts a trip of the invocations of a set, and returns false where the run must end.
func (m *machine) trip(a *lanes, at site) bool {
	if m.ended || m.stopped() {
		m.ended = true
		return false
	}
	most := m.loopTrips
	if a.full(m.n) {
		m.trips++
	} else {
		for i := a.lo; i < a.hi; i++ {
			if a.dense || a.on[i] {
				m.extra[i]++
				m.most = max(m.most, m.extra[i])
			}
		}
	}
	if m.trips+m.most <= most {
		return true
	}
	for i := a.lo; i < a.hi; i++ {
		if n := m.trips + m.extra[i]; a.has(i) && n > most {
			if n > m.stopTrips {
				m.report(LoopCap, at, "", -1, func() string {
					return "an invocation made " + decimal(int64(n)) + " loop trips without an end: it was stopped"
				}, i)
				m.ended = true
				return false
			}
			if n == most+1 {
				m.report(LoopCap, at, "", -1, func() string {
					return "an invocation makes more than " + decimal(int64(most)) + " loop trips: some drivers end its loops there without a word"
				}, i)
			}
		}
	}
	return true
}
