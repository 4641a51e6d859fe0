package bounds

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// value is what an expression computes. Expressions change no variable that is followed.
func (p *prover) value(s *state, e wgsl.Expr) *node {
	info := e.Expression()
	p.spend(1)
	switch v := info.Value; {
	case v.Kind == wgsl.IntValue && integer(info.Type), v.Kind == wgsl.BoolValue:
		return p.number(info.Type, v.Int)
	case v.Kind == wgsl.IntValue && info.Type == wgsl.AbstractInt:
		return p.number(wgsl.I32, v.Int)
	case v.Kind != wgsl.NoValue:
		return p.fresh(info.Type)
	}
	switch e := e.(type) {
	case *wgsl.Ident:
		return p.ident(s, e)
	case *wgsl.Unary:
		return p.unary(s, e)
	case *wgsl.Binary:
		return p.binary(s, e)
	case *wgsl.Index:
		return p.indexed(s, e)
	case *wgsl.Member:
		return p.member(s, e)
	case *wgsl.Call:
		return p.call(s, e)
	case *wgsl.Construct:
		return p.construct(s, e)
	case *wgsl.Bitcast:
		return p.cast(info.Type, p.value(s, e.X))
	}
	return p.fresh(info.Type)
}

func (p *prover) ident(s *state, e *wgsl.Ident) *node {
	if rooted(e) {
		return p.load(s, p.place(s, e), e.Type)
	}
	if e.Symbol != nil {
		if n := s.env[e.Symbol]; n != nil {
			return n
		}
		if v, ok := e.Type.(wgsl.Vector); ok && integer(v.Elem) && len(e.Symbol.Parts()) == v.Width {
			n := &node{op: opParts, typ: e.Type}
			for _, part := range e.Symbol.Parts() {
				n.args = append(n.args, p.constantPart(v.Elem, part))
			}
			return n
		}
	}
	return p.fresh(e.Type)
}

func (p *prover) constantPart(t wgsl.Type, v wgsl.Value) *node {
	if v.Kind != wgsl.IntValue {
		return p.fresh(t)
	}
	return p.number(t, v.Int)
}

func (p *prover) unary(s *state, e *wgsl.Unary) *node {
	switch e.Op {
	case "&":
		p.place(s, e)
		return p.fresh(e.Type)
	case "*":
		return p.load(s, p.place(s, e), e.Type)
	}
	x := p.value(s, e.X)
	return p.each(e.Type, func(t wgsl.Type, a []*node) *node {
		switch {
		case e.Op == "!":
			return p.make(opNot, t, a[0])
		case e.Op == "-" && integer(t):
			return p.make(opSub, t, p.number(t, 0), a[0])
		case e.Op == "~" && t == wgsl.U32:
			return p.make(opSub, t, p.number(t, word-1), a[0])
		case e.Op == "~":
			return p.make(opSub, t, p.number(t, -1), a[0])
		}
		return p.fresh(t)
	}, x)
}

var arithmetic = map[string]op{
	"+": opAdd, "-": opSub, "*": opMul, "/": opDiv, "%": opMod, "&": opAnd, "|": opOr, "^": opXor, "<<": opShl, ">>": opShr,
}

func (p *prover) binary(s *state, e *wgsl.Binary) *node {
	x := p.value(s, e.X)
	if e.Op == "&&" || e.Op == "||" {
		right := s.copied() // where the right side is looked at, the left one has not decided
		p.where(right, x, e.Op == "&&")
		y := p.value(right, e.Y)
		return p.make(map[string]op{"&&": opBoth, "||": opEither}[e.Op], wgsl.Bool, x, y)
	}
	return p.operate(e.Op, e.Type, x, p.value(s, e.Y))
}

// operate is x op y, part by part.
func (p *prover) operate(text string, t wgsl.Type, x, y *node) *node {
	return p.each(t, func(t wgsl.Type, a []*node) *node {
		if a[0].typ == wgsl.Bool {
			return p.logic(text, a[0], a[1])
		}
		if o, ok := arithmetic[text]; ok {
			return p.make(o, t, a...)
		}
		switch text {
		case "<":
			return p.make(opLess, t, a[0], a[1])
		case ">":
			return p.make(opLess, t, a[1], a[0])
		case "<=":
			return p.make(opAtMost, t, a[0], a[1])
		case ">=":
			return p.make(opAtMost, t, a[1], a[0])
		case "==":
			return p.make(opEqual, t, a[0], a[1])
		case "!=":
			return p.make(opNot, t, p.make(opEqual, t, a[0], a[1]))
		}
		return p.fresh(t)
	}, x, y)
}

// logic joins two bools of which both are looked at.
func (p *prover) logic(text string, x, y *node) *node {
	switch text {
	case "&":
		return p.make(opBoth, wgsl.Bool, x, y)
	case "|":
		return p.make(opEither, wgsl.Bool, x, y)
	case "==":
		return p.make(opEqual, wgsl.Bool, x, y)
	case "!=":
		return p.make(opNot, wgsl.Bool, p.make(opEqual, wgsl.Bool, x, y))
	}
	return p.fresh(wgsl.Bool)
}

func (p *prover) indexed(s *state, e *wgsl.Index) *node {
	if rooted(e) {
		return p.load(s, p.place(s, e), e.Type)
	}
	x, i := p.value(s, e.X), p.value(s, e.I)
	n, known := elements(e.X.Expression().Type)
	p.judge(s, e, i, extent{n, nil, known})
	if id, ok := e.X.(*wgsl.Ident); ok && id.Symbol != nil && integer(e.Type) && x.op != opParts {
		return p.tabled(s, e.Type, id.Symbol.Parts(), i)
	}
	return p.part(s, x, i, e.Type)
}

// tabled is an element of a constant array.
func (p *prover) tabled(s *state, t wgsl.Type, parts []wgsl.Value, i *node) *node {
	at, held := p.span(s.facts, i), nothing
	if at.lo < 0 || at.hi >= int64(len(parts)) {
		return p.fresh(t)
	}
	for _, v := range parts[at.lo : at.hi+1] {
		if v.Kind != wgsl.IntValue {
			return p.fresh(t)
		}
		held = held.join(constant(v.Int))
	}
	return p.known(t, held)
}

func (p *prover) member(s *state, e *wgsl.Member) *node {
	if rooted(e) && len(e.Name) == 1 || rooted(e) && !isVector(e.X.Expression().Type) {
		return p.load(s, p.place(s, e), e.Type)
	}
	x := p.value(s, e.X)
	if x.op != opParts {
		return p.fresh(e.Type)
	}
	if st, ok := x.typ.(*wgsl.Struct); ok {
		for i, m := range st.Members {
			if m.Name == e.Name && i < len(x.args) {
				return x.args[i]
			}
		}
		return p.fresh(e.Type)
	}
	n := &node{op: opParts, typ: e.Type}
	for i := range e.Name {
		c := component(e.Name[i])
		if c < 0 || c >= len(x.args) {
			return p.fresh(e.Type)
		}
		n.args = append(n.args, x.args[c])
	}
	if len(n.args) == 1 {
		return n.args[0]
	}
	return n
}

func isVector(t wgsl.Type) bool {
	if ptr, ok := t.(wgsl.Pointer); ok {
		t = ptr.Elem
	}
	_, ok := t.(wgsl.Vector)
	return ok
}

// construct makes a value of a type. Values of structs and arrays are not followed.
func (p *prover) construct(s *state, e *wgsl.Construct) *node {
	var args []*node
	for _, a := range e.Args {
		args = append(args, p.value(s, a))
	}
	t := e.Type
	v, vector := t.(wgsl.Vector)
	switch {
	case scalar(t) && len(args) == 0 || vector && scalar(v.Elem) && len(args) == 0:
		return p.zero(t)
	case scalar(t):
		return p.converted(t, args[0])
	case !vector || !scalar(v.Elem):
		return p.fresh(t)
	}
	n := &node{op: opParts, typ: t}
	for _, a := range args {
		if a.op == opParts {
			n.args = append(n.args, a.args...)
		} else {
			n.args = append(n.args, a)
		}
	}
	for len(args) == 1 && scalar(args[0].typ) && len(n.args) < v.Width {
		n.args = append(n.args, args[0])
	}
	if len(n.args) != v.Width {
		return p.fresh(t)
	}
	for i, a := range n.args {
		n.args[i] = p.converted(v.Elem, a)
	}
	return n
}

// zero is the value that variables start with.
func (p *prover) zero(t wgsl.Type) *node {
	v, ok := t.(wgsl.Vector)
	switch {
	case scalar(t):
		return p.number(t, 0)
	case !ok || !scalar(v.Elem):
		return p.fresh(t)
	}
	n := &node{op: opParts, typ: t}
	for range v.Width {
		n.args = append(n.args, p.number(v.Elem, 0))
	}
	return n
}

// converted is T(x).
func (p *prover) converted(t wgsl.Type, x *node) *node {
	switch {
	case x.typ == t:
		return x
	case integer(t) && integer(x.typ):
		return p.make(opConvert, t, x)
	case integer(t) && x.typ == wgsl.Bool:
		return p.make(opSelect, t, p.number(t, 0), p.number(t, 1), x)
	case t == wgsl.Bool && integer(x.typ):
		return p.make(opNot, t, p.make(opEqual, t, x, p.number(x.typ, 0)))
	}
	return p.fresh(t)
}

// cast is bitcast<T>(x).
func (p *prover) cast(t wgsl.Type, x *node) *node {
	return p.each(t, func(t wgsl.Type, a []*node) *node {
		if integer(t) && integer(a[0].typ) {
			return p.converted(t, a[0])
		}
		return p.fresh(t)
	}, x)
}
