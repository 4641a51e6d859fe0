package mutate

import (
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// lane takes the element beside the right one, the next component of three or four, or the lane beside.
func lane(p place) []wgsl.Expr {
	switch parent := p.parent().(type) {
	case *wgsl.Index:
		if parent.I == p.expr() {
			return beside(p.expr())
		}
	case *wgsl.Call:
		if strings.HasPrefix(parent.Name, "subgroupShuffle") || strings.HasPrefix(parent.Name, "subgroupBroadcast") {
			if len(parent.Args) == 2 && p.slot == &parent.Args[1] {
				return beside(p.expr())
			}
		}
	}
	m, ok := p.expr().(*wgsl.Member)
	if !ok || widthOf(m.X) < 3 || len(m.Name) != 1 {
		return nil
	}
	components := "xyzw"[:widthOf(m.X)]
	at := strings.Index(components, m.Name)
	if at < 0 {
		return nil
	}
	next := (at + 1) % len(components)
	return []wgsl.Expr{member(m, components[next:next+1])}
}

func beside(index wgsl.Expr) []wgsl.Expr {
	var list []wgsl.Expr
	for _, n := range []int64{1, -1} {
		if e := shifted(index, n); e != nil {
			list = append(list, e)
		}
	}
	return list
}

// scale takes the other component of two, or the other half of four.
func scale(p place) []wgsl.Expr {
	m, ok := p.expr().(*wgsl.Member)
	if !ok {
		return nil
	}
	if other, ok := map[string]string{"x": "y", "y": "x"}[m.Name]; ok && widthOf(m.X) == 2 {
		return []wgsl.Expr{member(m, other)}
	}
	if other, ok := map[string]string{"xy": "zw", "zw": "xy"}[m.Name]; ok && widthOf(m.X) == 4 {
		return []wgsl.Expr{member(m, other)}
	}
	return nil
}

// mask leaves the bits that a mask takes away, or takes one of a select's values in any case.
func mask(p place) []wgsl.Expr {
	switch e := p.expr().(type) {
	case *wgsl.Binary:
		if e.Op != "&" {
			return nil
		}
		if _, ok := bits(e.Y); ok {
			return []wgsl.Expr{e.X}
		}
		if _, ok := bits(e.X); ok {
			return []wgsl.Expr{e.Y}
		}
	case *wgsl.Call:
		if e.Name == "select" && len(e.Args) == 3 {
			return []wgsl.Expr{e.Args[1], e.Args[0]}
		}
	}
	return nil
}

// bits returns the value of an integer literal, or of a vector of one.
func bits(e wgsl.Expr) (int64, bool) {
	if c, ok := e.(*wgsl.Construct); ok && len(c.Args) == 1 {
		e = c.Args[0]
	}
	l, ok := integerLiteral(e)
	if !ok {
		return 0, false
	}
	return l.Value.Int, true
}

// nibble forgets a shift, or shifts what lies low.
func nibble(p place) []wgsl.Expr {
	b, ok := p.expr().(*wgsl.Binary)
	if !ok {
		return nil
	}
	if b.Op == ">>" || b.Op == "<<" {
		return []wgsl.Expr{b.X}
	}
	l, literal := integerLiteral(b.Y)
	if inner, ok := b.X.(*wgsl.Binary); !literal || b.Op != "&" || !lowNibbles(l.Value.Int) || ok && inner.Op == ">>" {
		return nil
	}
	four := withInt(l, 4)
	four.Suffix = "u"
	return []wgsl.Expr{binary(b, "&", binary(b, ">>", b.X, four), b.Y)}
}

// lowNibbles reports whether a mask leaves the low four bits of bytes.
func lowNibbles(m int64) bool { return m == 0x0f || m == 0x0f0f || m == 0x0f0f0f0f }

// binding takes the variable or value that was declared before one of the same type, or else the one after it.
func binding(p place) []wgsl.Expr {
	id, ok := p.expr().(*wgsl.Ident)
	if !ok || id.Symbol == nil {
		return nil
	}
	var before, after *wgsl.Symbol
	found := false
	for _, s := range p.names {
		switch {
		case s == id.Symbol:
			found = true
		case s.Type != id.Symbol.Type || s.Space != id.Symbol.Space:
		case !found:
			before = s
		case after == nil:
			after = s
		}
	}
	if before == nil {
		before = after
	}
	if !found || before == nil {
		return nil
	}
	return []wgsl.Expr{&wgsl.Ident{Info: infoOf(id), Name: before.Name, Symbol: before}}
}
