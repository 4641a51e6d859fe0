package wgsl

import "strings"

func (p *parser) unary() Expr {
	t := p.peek()
	if t.kind == opToken && strings.Contains("- ! ~ & *", t.text) {
		if p.depth++; p.depth > maxDepth {
			p.fail(t, "the expression is nested more than %d deep", maxDepth)
		}
		defer func() { p.depth-- }()
		p.take()
		return &Unary{Info: Info{Pos: p.pos(t)}, Op: t.text, X: p.unary()}
	}
	return p.postfix(p.primary())
}

func (p *parser) postfix(x Expr) Expr {
	for {
		t := p.peek()
		switch {
		case p.accept("["):
			x = &Index{Info: Info{Pos: p.pos(t)}, X: x, I: p.expr()}
			p.expect("]")
		case p.accept("."):
			n := p.name("a member")
			x = &Member{Info: Info{Pos: p.pos(n)}, X: x, Name: n.text}
		default:
			return x
		}
	}
}

func (p *parser) primary() Expr {
	t := p.peek()
	switch {
	case t.kind == numberToken:
		p.take()
		return p.number(t)
	case t.kind == nameToken && (t.text == "true" || t.text == "false"):
		p.take()
		return &Literal{Info: Info{Pos: p.pos(t), Type: Bool, Const: true, Value: boolValue(t.text == "true")}, Text: t.text}
	case t.kind == nameToken && t.text == "bitcast":
		p.take()
		p.expect("<")
		to := p.typ()
		p.closeTemplate()
		args := p.args()
		if len(args) != 1 {
			p.fail(t, "bitcast takes one argument, not %d", len(args))
			return &Ident{Info: Info{Pos: p.pos(t)}, Name: t.text}
		}
		return &Bitcast{Info: Info{Pos: p.pos(t)}, To: to, X: args[0]}
	case t.kind == nameToken && (typeName(t.text) || p.types != nil && p.types(t.text) != nil):
		return p.construct()
	case t.kind == nameToken && p.types != nil && outside(t.text) != "":
		p.outside(t, "%s: %s are", t.text, outside(t.text))
		return &Ident{Info: Info{Pos: p.pos(t)}}
	case t.kind == nameToken:
		p.take()
		if p.is("(") {
			return &Call{Info: Info{Pos: p.pos(t)}, Name: t.text, Args: p.args()}
		}
		return &Ident{Info: Info{Pos: p.pos(t)}, Name: t.text}
	case p.accept("("):
		x := p.expr()
		p.expect(")")
		return x
	}
	p.fail(t, "an expression is missing before %s", describe(t))
	return &Ident{Info: Info{Pos: p.pos(t)}}
}

func (p *parser) construct() Expr {
	t := p.peek()
	c := &Construct{Info: Info{Pos: p.pos(t)}, Written: t.text}
	inferred := vectorWidth(t.text) > 0 || p.types != nil && t.text == "array"
	if inferred && p.tokens[p.next+1].text != "<" { // vec4(x): the arguments say of what
		p.take()
	} else {
		c.To = p.typ()
		if p.err == nil {
			c.Written = writtenType(t.text, c.To)
		}
	}
	c.Args = p.args()
	return c
}

func (p *parser) args() []Expr {
	var args []Expr
	p.expect("(")
	for p.err == nil && !p.is(")") {
		args = append(args, p.expr())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return args
}
