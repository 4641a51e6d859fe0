package bounds

import (
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// place is where a value lies: a part of a variable.
type place struct {
	root  *wgsl.Symbol
	typ   wgsl.Type
	depth int   // indices and members from the root on
	index *node // the only one, when there is one and it is an index or a component
}

// rooted reports whether an expression names a place rather than a value.
func rooted(e wgsl.Expr) bool {
	for {
		switch x := e.(type) {
		case *wgsl.Ident:
			_, pointer := x.Type.(wgsl.Pointer)
			return x.Symbol != nil && (x.Symbol.Kind == wgsl.VarSymbol || pointer)
		case *wgsl.Index:
			e = x.X
		case *wgsl.Member:
			e = x.X
		case *wgsl.Unary:
			if x.Op != "*" && x.Op != "&" {
				return false
			}
			e = x.X
		default:
			return false
		}
	}
}

// place follows an expression to where it points, and judges the indices on the way.
func (p *prover) place(s *state, e wgsl.Expr) place {
	switch e := e.(type) {
	case *wgsl.Ident:
		if to, ok := p.places[e.Symbol]; ok {
			return to
		}
		return place{root: e.Symbol, typ: e.Symbol.Type}
	case *wgsl.Unary:
		return p.place(s, e.X)
	case *wgsl.Index:
		base := p.place(s, e.X)
		i := p.value(s, e.I)
		p.judge(s, e, i, p.length(base))
		return base.step(e.Type, i)
	case *wgsl.Member:
		base := p.place(s, e.X)
		if _, vector := base.typ.(wgsl.Vector); vector && len(e.Name) == 1 {
			return base.step(e.Type, p.number(wgsl.U32, int64(component(e.Name[0]))))
		}
		return base.step(e.Type, nil)
	}
	return place{typ: e.Expression().Type}
}

// step goes on to a part. Pointers in the text stand for what they point to.
func (pl place) step(t wgsl.Type, index *node) place {
	if ptr, ok := t.(wgsl.Pointer); ok {
		t = ptr.Elem
	}
	pl.typ, pl.depth = t, pl.depth+1
	if pl.index = index; pl.depth > 1 {
		pl.index = nil
	}
	return pl
}

// component is the number of x, y, z, w or r, g, b, a.
func component(letter byte) int {
	if i := strings.IndexByte("xyzw", letter); i >= 0 {
		return i
	}
	return strings.IndexByte("rgba", letter)
}

// extent is how many elements there are: at least so many, and as many as a node says where it isn't known.
type extent struct {
	least int
	node  *node
	known bool
}

// length returns how many elements what lies at a place has.
func (p *prover) length(pl place) extent {
	n, known := elements(pl.typ)
	a, array := pl.typ.(wgsl.Array)
	if known || pl.root == nil || !array || a.Size != nil {
		return extent{n, nil, known}
	}
	if p.lengths[pl.root] == nil {
		least := p.use.Lengths[pl.root.Name]
		p.lengths[pl.root] = p.known(wgsl.U32, between(int64(least), word-1))
	}
	return extent{p.use.Lengths[pl.root.Name], p.lengths[pl.root], false}
}

// elements returns how many a type has; known is false where that depends on the buffer or on an override.
func elements(t wgsl.Type) (n int, known bool) {
	switch t := t.(type) {
	case wgsl.Vector:
		return t.Width, true
	case wgsl.Array:
		return t.Len, t.Len > 0 && t.Size == nil
	}
	return 0, false
}

// judge decides whether an index is in bounds.
func (p *prover) judge(s *state, e *wgsl.Index, i *node, of extent) {
	sp := p.span(s.facts, i)
	if !integer(i.typ) {
		sp = limits(wgsl.U32)
	}
	inside := sp.lo >= 0 && sp.hi < int64(of.least) || of.node != nil && sp.lo >= 0 && s.facts.least(of.node, i) >= 1
	p.note(s, e, sp, of, inside)
}

// load is the value at a place.
func (p *prover) load(s *state, pl place, t wgsl.Type) *node {
	switch {
	case pl.root == nil:
		return p.fresh(t)
	case p.memory.followed(pl.root):
		n := s.env[pl.root]
		if n == nil || pl.depth == 0 {
			return orFresh(p, n, t)
		}
		return p.part(s, n, pl.index, t)
	case p.stated(pl.root):
		return p.loadStated(s, pl, t)
	case !private(pl.root) || element(pl.root.Type) == nil:
		return p.fresh(t)
	}
	held := p.memory.load(pl.root)
	if v, ok := t.(wgsl.Vector); ok && integer(v.Elem) {
		n := &node{op: opParts, typ: t}
		for range v.Width {
			n.args = append(n.args, p.known(v.Elem, held))
		}
		return n
	}
	if !integer(t) {
		return p.fresh(t)
	}
	return p.known(t, held)
}

func orFresh(p *prover, n *node, t wgsl.Type) *node {
	if n == nil {
		return p.fresh(t)
	}
	return n
}

// part is an element of a vector.
func (p *prover) part(s *state, n, index *node, t wgsl.Type) *node {
	if n.op != opParts || index == nil || !scalar(t) {
		return p.fresh(t)
	}
	sp := p.span(s.facts, index)
	if sp.single() && sp.lo >= 0 && sp.lo < int64(len(n.args)) {
		return n.args[sp.lo]
	}
	all := nothing
	for _, a := range n.args {
		all = all.join(p.span(s.facts, a))
	}
	return p.known(t, all)
}

// store puts a value at a place.
func (p *prover) store(s *state, e wgsl.Expr, pl place, value *node) {
	switch {
	case pl.root == nil:
	case !p.memory.followed(pl.root):
		p.keep(s, pl.root, value)
		if p.stated(pl.root) {
			p.storeStated(s, e, pl, value)
		}
	case pl.depth == 0:
		s.env[pl.root] = value
	default:
		s.env[pl.root] = p.replace(s, s.env[pl.root], pl, value)
	}
}

// replace is a vector with another element.
func (p *prover) replace(s *state, n *node, pl place, value *node) *node {
	t := pl.root.Type
	if n == nil || n.op != opParts || pl.index == nil {
		return p.fresh(t)
	}
	sp := p.span(s.facts, pl.index)
	if !sp.single() || sp.lo < 0 || sp.lo >= int64(len(n.args)) {
		return p.fresh(t)
	}
	r := &node{op: opParts, typ: t, args: append([]*node(nil), n.args...)}
	r.args[sp.lo] = value
	return r
}
