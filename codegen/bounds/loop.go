package bounds

import (
	"cmp"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// carried is a variable that a loop assigns, with what it may be when a round starts. Each round sees it as a new value.
type carried struct {
	variable *wgsl.Symbol
	typ      wgsl.Type
	spans    []span // of each part; none of what isn't followed
}

// rounds of the search for what holds in every round: exact ones, and all before it gives up on everything.
const (
	exactRounds = 3
	mostRounds  = 40
)

// loop finds spans of the variables that hold at the start of every round, then follows one round from them. Behind it nothing counts
// that is known for the reason alone that the loop ended: compilers of Metal and HLSL may take every loop for one that ends, and leave
// out one that changes nothing else, and some drivers stop loops that take long.
func (p *prover) loop(s *state, stmt wgsl.Stmt) {
	if f, ok := stmt.(*wgsl.For); ok && f.Init != nil {
		p.stmt(s, f.Init)
	}
	first := p.carry(s, stmt)
	now := first
	p.quiet++
	for round := 0; p.left >= 0; round++ {
		next := joined(first, p.round(s, now, stmt).after(p, first))
		if allInside(next, now) {
			now = p.refine(s, stmt, first, now, next)
			break
		}
		now = grown(now, next, round)
	}
	p.quiet--
	*s = *p.round(s, now, stmt).exit
}

// refine goes back from spans that hold in every round to tighter ones, as long as these hold too.
func (p *prover) refine(s *state, stmt wgsl.Stmt, first, now, next []carried) []carried {
	for range 3 {
		if allInside(now, next) {
			return now
		}
		after := joined(first, p.round(s, next, stmt).after(p, first))
		if !allInside(after, next) {
			return now
		}
		now, next = next, after
	}
	return now
}

// grown is what is tried next.
func grown(now, next []carried, round int) []carried {
	out := make([]carried, len(now))
	for i, c := range now {
		out[i] = carried{c.variable, c.typ, nil}
		for j, s := range c.spans {
			most := limits(elementOf(c.typ))
			switch {
			case round < exactRounds:
				s = s.join(next[i].spans[j])
			case round < mostRounds:
				s = s.widen(next[i].spans[j], most)
			default:
				s = most
			}
			out[i].spans = append(out[i].spans, s)
		}
	}
	return out
}

func elementOf(t wgsl.Type) wgsl.Type {
	if v, ok := t.(wgsl.Vector); ok {
		return v.Elem
	}
	return t
}

func joined(a, b []carried) []carried {
	out := make([]carried, len(a))
	for i, c := range a {
		out[i] = carried{c.variable, c.typ, nil}
		for j, s := range c.spans {
			out[i].spans = append(out[i].spans, s.join(b[i].spans[j]))
		}
	}
	return out
}

func allInside(a, b []carried) bool {
	for i, c := range a {
		for j, s := range c.spans {
			if !s.inside(b[i].spans[j]) {
				return false
			}
		}
	}
	return true
}

// carry lists the variables that a loop assigns, with what they are in a state.
func (p *prover) carry(s *state, stmt wgsl.Stmt) []carried {
	var out []carried
	seen := map[*wgsl.Symbol]bool{}
	assigned(stmt, func(v *wgsl.Symbol) {
		n := s.env[v]
		if seen[v] || n == nil || !p.memory.followed(v) {
			return
		}
		seen[v] = true
		out = append(out, carried{v, v.Type, p.spans(s, v.Type, n)})
	})
	return out
}

// spans are those of the parts of a value.
func (p *prover) spans(s *state, t wgsl.Type, n *node) []span {
	if !scalar(elementOf(t)) {
		return nil
	}
	var out []span
	parts := []*node{n}
	if v, ok := t.(wgsl.Vector); ok {
		if parts = n.args; n.op != opParts || len(parts) != v.Width {
			parts = p.fresh(t).args
		}
	}
	for _, part := range parts {
		out = append(out, p.span(s.facts, part))
	}
	return out
}

// round is what comes of one round.
type round struct {
	back *state // at the start of the next
	exit *state // behind the loop
}

// after is what the carried variables are when the next round starts.
func (r round) after(p *prover, like []carried) []carried {
	out := make([]carried, len(like))
	for i, c := range like {
		out[i] = carried{c.variable, c.typ, make([]span, len(c.spans))}
		for j := range c.spans {
			out[i].spans[j] = nothing
		}
		if r.back == nil || r.back.dead {
			continue
		}
		if n := r.back.env[c.variable]; n != nil && len(c.spans) > 0 {
			copy(out[i].spans, p.spans(r.back, c.typ, n))
			continue
		}
		for j := range c.spans {
			out[i].spans[j] = limits(elementOf(c.typ))
		}
	}
	return out
}

// round follows one round, at the start of which the variables are what now says.
func (p *prover) round(before *state, now []carried, stmt wgsl.Stmt) round {
	s := before.copied()
	for _, c := range now {
		s.env[c.variable] = p.initial(c)
	}
	j := &jump{loop: true, before: s.facts}
	p.jumps = append(p.jumps, j)
	p.loops++
	defer func() { p.jumps, p.loops = p.jumps[:len(p.jumps)-1], p.loops-1 }()
	switch t := stmt.(type) {
	case *wgsl.For:
		return p.tested(s, j, t.Cond, t.Body, t.Post)
	case *wgsl.While:
		return p.tested(s, j, t.Cond, t.Body, nil)
	}
	t, start := stmt.(*wgsl.Loop), s.copied()
	p.block(s, t.Body)
	s = p.join(s, j.continues)
	p.block(s, t.Continuing)
	exit := j.breaks
	if t.BreakIf != nil && !s.dead {
		cond := p.value(s, t.BreakIf)
		exit = p.join(exit, p.ended(j, s, cond, true))
		p.where(s, cond, false)
	}
	return round{s, cmp.Or(exit, start)}
}

// initial is a carried variable at the start of a round.
func (p *prover) initial(c carried) *node {
	if len(c.spans) == 0 {
		return p.fresh(c.typ)
	}
	if _, ok := c.typ.(wgsl.Vector); !ok {
		return p.known(c.typ, c.spans[0])
	}
	n := &node{op: opParts, typ: c.typ}
	for _, s := range c.spans {
		n.args = append(n.args, p.known(elementOf(c.typ), s))
	}
	return n
}

// tested is a round of a loop with its condition at the start.
func (p *prover) tested(s *state, j *jump, cond wgsl.Expr, body *wgsl.Block, post wgsl.Stmt) round {
	start, exit := s.copied(), (*state)(nil)
	if cond != nil {
		n := p.value(s, cond)
		exit = p.ended(j, s, n, false)
		p.where(s, n, true)
	}
	p.block(s, body)
	s = p.join(s, j.continues)
	if post != nil && !s.dead {
		p.stmt(s, post)
	}
	return round{s, cmp.Or(p.join(exit, j.breaks), start)}
}

// ended is the state behind a loop that a condition ends; nil where it never does.
func (p *prover) ended(j *jump, s *state, cond *node, holds bool) *state {
	if _, ok := p.assume(s.facts, cond, holds); !ok {
		return nil
	}
	return j.left(s)
}

// assigned calls visit for the variables that a statement assigns.
func assigned(s wgsl.Stmt, visit func(*wgsl.Symbol)) {
	block := func(b *wgsl.Block) {
		if b == nil {
			return
		}
		for _, inner := range b.List {
			assigned(inner, visit)
		}
	}
	switch t := s.(type) {
	case *wgsl.Assign:
		if v := variable(t.To); v != nil {
			visit(v)
		}
	case *wgsl.Block:
		block(t)
	case *wgsl.If:
		block(t.Then)
		block(t.Else)
	case *wgsl.Switch:
		for _, c := range t.Cases {
			block(c.Body)
		}
	case *wgsl.For:
		if t.Init != nil {
			assigned(t.Init, visit)
		}
		if t.Post != nil {
			assigned(t.Post, visit)
		}
		block(t.Body)
	case *wgsl.While:
		block(t.Body)
	case *wgsl.Loop:
		block(t.Body)
		block(t.Continuing)
	}
}
