package bounds

import (
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// jump is a loop or switch that statements inside can leave.
type jump struct {
	loop              bool
	breaks, continues *state
	before            *facts // of a loop: where it starts
}

// left is a state in which a loop is left: see prover.loop.
func (j *jump) left(s *state) *state {
	c := s.copied()
	if j.loop {
		c.facts = j.before
	}
	return c
}

func (p *prover) block(s *state, b *wgsl.Block) {
	if b == nil {
		return
	}
	for _, stmt := range b.List {
		if s.dead || p.left < 0 {
			return
		}
		p.stmt(s, stmt)
	}
}

func (p *prover) stmt(s *state, stmt wgsl.Stmt) {
	switch t := stmt.(type) {
	case *wgsl.Declare:
		p.declare(s, t)
	case *wgsl.Assign:
		p.assign(s, t)
	case *wgsl.Ignore:
		p.value(s, t.Value)
	case *wgsl.CallStmt:
		p.call(s, t.Call)
	case *wgsl.Block:
		p.block(s, t)
	case *wgsl.If:
		p.branch(s, t)
	case *wgsl.Switch:
		p.choose(s, t)
	case *wgsl.For, *wgsl.While, *wgsl.Loop:
		p.loop(s, t)
	case *wgsl.Return:
		p.leave(s, t)
	case *wgsl.Break:
		j := p.jumps[len(p.jumps)-1]
		j.breaks = p.join(j.breaks, j.left(s))
		s.dead = true
	case *wgsl.Continue:
		for i := len(p.jumps) - 1; i >= 0; i-- {
			if j := p.jumps[i]; j.loop {
				j.continues = p.join(j.continues, s.copied())
				break
			}
		}
		s.dead = true
	}
}

func (p *prover) declare(s *state, t *wgsl.Declare) {
	v := t.Symbol
	if v.Kind == wgsl.ConstSymbol {
		return // expressions that name it have its value
	}
	if _, pointer := v.Type.(wgsl.Pointer); pointer {
		p.places[v] = p.place(s, t.Init)
		return
	}
	var n *node
	switch {
	case t.Init != nil:
		n = p.value(s, t.Init)
	case p.loops > 0: // naga 29 forgets to zero it again in later rounds
		n = p.fresh(v.Type)
	default:
		n = p.zero(v.Type)
	}
	if v.Kind == wgsl.VarSymbol && !p.memory.followed(v) {
		if t.Init != nil {
			p.keep(s, v, n)
		}
		return
	}
	s.env[v] = n
}

func (p *prover) assign(s *state, t *wgsl.Assign) {
	pl := p.place(s, t.To)
	if t.Op == "" {
		p.store(s, t.To, pl, p.value(s, t.Value))
		return
	}
	before := p.load(s, pl, pl.typ)
	p.store(s, t.To, pl, p.operate(t.Op, pl.typ, before, p.value(s, t.Value)))
}

func (p *prover) branch(s *state, t *wgsl.If) {
	cond := p.value(s, t.Cond)
	then, other := s.copied(), s.copied()
	p.where(then, cond, true)
	p.where(other, cond, false)
	p.block(then, t.Then)
	p.block(other, t.Else)
	*s = *p.join(then, other)
}

// choose follows a switch.
func (p *prover) choose(s *state, t *wgsl.Switch) {
	value := p.value(s, t.Value)
	j := &jump{}
	p.jumps = append(p.jumps, j)
	var after *state
	for _, c := range t.Cases {
		in := s.copied()
		if !c.Default {
			all := nothing
			for _, v := range c.Values {
				all = all.join(p.span(s.facts, p.value(s, v)))
			}
			a := &assumption{p, in.facts, false, true}
			a.narrow(value, all)
			in.facts, in.dead = a.facts, !a.possible
		}
		p.block(in, c.Body)
		after = p.join(after, in)
	}
	p.jumps = p.jumps[:len(p.jumps)-1]
	if after = p.join(after, j.breaks); after != nil {
		*s = *after
	}
}

// leave follows return.
func (p *prover) leave(s *state, t *wgsl.Return) {
	c := p.calls[len(p.calls)-1]
	var n *node
	if t.Value != nil {
		n = p.value(s, t.Value)
	}
	if !s.dead {
		left := s.copied()
		for _, j := range slices.Backward(p.jumps) {
			left = j.left(left)
		}
		switch {
		case c.returned == nil:
			c.value = n
		case n != nil:
			c.value = p.either(c.returned.facts, c.value, left.facts, n)
		}
		c.returned = p.join(c.returned, left)
	}
	s.dead = true
}
