package bounds

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// memory is what variables of which the prover doesn't follow each value may hold at any time: arrays, variables shared by
// invocations, and those that pointers point to. It grows until a pass over the kernel stores nothing beyond it.
type memory struct {
	holds   map[*wgsl.Symbol]span
	pointed map[*wgsl.Symbol]bool // variables of functions whose address is taken
	starts  []*wgsl.Var           // private variables that start with a value
	rounds  int
}

func newMemory(f *wgsl.File) *memory {
	m := &memory{holds: map[*wgsl.Symbol]span{}, pointed: map[*wgsl.Symbol]bool{}}
	for _, d := range f.Decls {
		if v, ok := d.(*wgsl.Var); ok && v.Init != nil {
			m.starts = append(m.starts, v)
		}
	}
	wgsl.Inspect(f, func(e wgsl.Expr) {
		u, ok := e.(*wgsl.Unary)
		if !ok || u.Op != "&" {
			return
		}
		if v := variable(u.X); v != nil {
			m.pointed[v] = true
		}
	})
	return m
}

// variable returns the variable that an expression is a part of, nil for others.
func variable(e wgsl.Expr) *wgsl.Symbol {
	for {
		switch x := e.(type) {
		case *wgsl.Ident:
			if x.Symbol != nil && x.Symbol.Kind == wgsl.VarSymbol {
				return x.Symbol
			}
			return nil
		case *wgsl.Index:
			e = x.X
		case *wgsl.Member:
			e = x.X
		default:
			return nil
		}
	}
}

// followed reports whether each value of a variable is followed, by where it was assigned.
func (m *memory) followed(v *wgsl.Symbol) bool {
	if v.Kind != wgsl.VarSymbol || v.Space != wgsl.FunctionSpace || m.pointed[v] {
		return false
	}
	switch v.Type.(type) {
	case wgsl.Scalar, wgsl.Vector:
		return true
	}
	return false
}

// element is the integer type that a variable consists of, nil where it consists of others too.
func element(t wgsl.Type) wgsl.Type {
	for {
		switch x := t.(type) {
		case wgsl.Array:
			t = x.Elem
		case wgsl.Vector:
			t = x.Elem
		case wgsl.Scalar:
			if integer(x) {
				return x
			}
			return nil
		default:
			return nil
		}
	}
}

// private reports whether nobody but the kernel writes a variable, and only where the prover sees it.
func private(v *wgsl.Symbol) bool {
	return v.Space == wgsl.FunctionSpace || v.Space == wgsl.PrivateSpace || v.Space == wgsl.WorkgroupSpace
}

// load returns what an element of a variable may be. Variables start as zero.
func (m *memory) load(v *wgsl.Symbol) span {
	t := element(v.Type)
	switch {
	case t == nil:
		return limits(wgsl.Bool)
	case !private(v):
		return limits(t)
	}
	if s, ok := m.holds[v]; ok {
		return s
	}
	return constant(0)
}

// grew adds what was stored, and reports whether anything was beyond what was known. After some rounds it gives up on a variable.
func (m *memory) grew(stored map[*wgsl.Symbol]span) bool {
	m.rounds++
	grew := false
	for v, s := range stored {
		have := m.load(v)
		if s.inside(have) {
			continue
		}
		grew = true
		if m.holds[v] = have.join(s); m.rounds > 3 {
			m.holds[v] = limits(element(v.Type))
		}
	}
	return grew
}

// keep records that a variable gets a value.
func (p *prover) keep(s *state, v *wgsl.Symbol, value *node) {
	t := element(v.Type)
	if p.quiet > 0 || s.dead || t == nil || !private(v) {
		return
	}
	all := []*node{value}
	if value.op == opParts {
		all = value.args
	}
	for _, n := range all {
		sp := limits(t)
		if n.typ == t {
			sp = p.span(s.facts, n)
		}
		if have, ok := p.stored[v]; ok {
			sp = sp.join(have)
		}
		p.stored[v] = sp
	}
}
