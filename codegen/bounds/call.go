package bounds

import (
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// call is a function that is followed at one of its calls.
type call struct {
	returned *state
	value    *node // what it returned, where that is followed
}

func (p *prover) call(s *state, e *wgsl.Call) *node {
	switch {
	case e.Func != nil:
		return p.inline(s, e)
	case strings.HasPrefix(e.Name, "atomic"):
		return p.atomic(s, e)
	case e.Name == "arrayLength":
		pl := p.place(s, e.Args[0])
		if n := p.length(pl).node; n != nil {
			return n
		}
		return p.fresh(e.Type)
	case e.Name == "workgroupUniformLoad":
		return p.load(s, p.place(s, e.Args[0]), e.Type)
	}
	args := make([]*node, len(e.Args))
	for i, a := range e.Args {
		args[i] = p.value(s, a)
	}
	if e.Type == nil {
		return p.fresh(wgsl.Bool)
	}
	return p.builtin(s, e, args)
}

// builtin is the value of a function that WGSL defines.
func (p *prover) builtin(s *state, e *wgsl.Call, args []*node) *node {
	switch e.Name {
	case "min", "max":
		o := map[string]op{"min": opMin, "max": opMax}[e.Name]
		return p.each(e.Type, func(t wgsl.Type, a []*node) *node { return p.integers(o, t, a) }, args...)
	case "clamp":
		return p.each(e.Type, func(t wgsl.Type, a []*node) *node {
			if p.span(s.facts, a[1]).hi > p.span(s.facts, a[2]).lo {
				return p.fresh(t) // of limits the wrong way round WGSL makes the high one; Metal does not define it
			}
			return p.integers(opMin, t, []*node{p.integers(opMax, t, a[:2]), a[2]})
		}, args...)
	case "select":
		return p.each(e.Type, func(t wgsl.Type, a []*node) *node { return p.make(opSelect, t, a...) }, args...)
	case "countOneBits", "countLeadingZeros", "countTrailingZeros":
		return p.each(e.Type, func(t wgsl.Type, a []*node) *node { return p.known(t, between(0, 32)) }, args...)
	case "subgroupBroadcastFirst", "subgroupMin", "subgroupMax":
		return p.each(e.Type, func(t wgsl.Type, a []*node) *node { return p.known(t, p.span(s.facts, a[0])) }, args...)
	case "extractBits":
		n := p.span(s.facts, args[2])
		if e.Type == wgsl.U32 && n.hi < 32 {
			return p.known(e.Type, between(0, 1<<n.hi-1))
		}
	case "unpack4xU8":
		return p.bytes(e.Type, between(0, 255))
	case "unpack4xI8":
		return p.bytes(e.Type, between(-128, 127))
	}
	return p.fresh(e.Type)
}

func (p *prover) bytes(t wgsl.Type, s span) *node {
	v, _ := t.(wgsl.Vector)
	n := &node{op: opParts, typ: t}
	for range v.Width {
		n.args = append(n.args, p.known(v.Elem, s))
	}
	return n
}

// integers is an operation that is followed for integers alone.
func (p *prover) integers(o op, t wgsl.Type, args []*node) *node {
	if !integer(t) {
		return p.fresh(t)
	}
	return p.make(o, t, args...)
}

// atomic judges the place of an atomic operation. What atomics hold is not followed.
func (p *prover) atomic(s *state, e *wgsl.Call) *node {
	pl := p.place(s, e.Args[0])
	for _, a := range e.Args[1:] {
		p.value(s, a)
	}
	if pl.root != nil && p.stated(pl.root) && e.Name != "atomicLoad" {
		p.breach(s, e, limits(wgsl.U32), "an atomic operation on an array of which something is stated")
	}
	if e.Type == nil {
		return p.fresh(wgsl.Bool)
	}
	return p.fresh(e.Type)
}

// inline follows a function of the file from a call of it. WGSL has no recursion, but an argument may be a call of the same function:
// parameters get their meaning when all arguments are known.
func (p *prover) inline(s *state, e *wgsl.Call) *node {
	places, values := make([]place, len(e.Args)), make([]*node, len(e.Args))
	for i, a := range e.Args {
		if _, pointer := a.Expression().Type.(wgsl.Pointer); pointer {
			places[i] = p.place(s, a)
		} else {
			values[i] = p.value(s, a)
		}
	}
	for i, param := range e.Func.Params {
		if values[i] == nil {
			p.places[param] = places[i]
		} else {
			s.env[param] = values[i]
			defer delete(s.env, param) // what a parameter was means nothing after
		}
	}
	c := &call{}
	p.calls = append(p.calls, c)
	jumps := p.jumps
	p.jumps = nil
	p.block(s, e.Func.Body)
	p.jumps = jumps
	p.calls = p.calls[:len(p.calls)-1]
	if c.returned != nil {
		*s = *p.join(s, c.returned)
	}
	if c.value == nil {
		return p.fresh(orBool(e.Type))
	}
	return c.value
}

func orBool(t wgsl.Type) wgsl.Type {
	if t == nil {
		return wgsl.Bool
	}
	return t
}
