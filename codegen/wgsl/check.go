package wgsl

import (
	"strings"
)

// checker resolves the names of one piece in a scope, and infers and checks types. Expressions come back from it with Type
// and Value set, and rewritten where an operand lives in a merged binding or integer arithmetic on literals says nothing.
type checker struct {
	scope *scope
	file  *File // learns of the extensions used
	text  string
	plain bool // a file's text: by the rules of WGSL alone, and nothing is rewritten
	err   *Error
}

// fail reports a mistake at an expression, which thereby has type Bad.
func (c *checker) fail(e Expr, format string, args ...any) Expr {
	info := e.Expression()
	if c.err == nil {
		c.err = errorAt(info.Pos, c.text, format, args...)
	}
	info.Type, info.Value = Bad, Value{}
	return e
}

// failAt reports a mistake in e at a part of it.
func (c *checker) failAt(e, part Expr, format string, args ...any) Expr {
	c.fail(part, format, args...)
	set(e, Bad)
	return e
}

func typeOf(e Expr) Type     { return e.Expression().Type }
func valueOf(e Expr) Value   { return e.Expression().Value }
func bad(e Expr) bool        { return typeOf(e) == Bad }
func constant(e Expr) bool   { return e.Expression().Const }
func set(e Expr, t Type)     { e.Expression().Type = t }
func scalarOf(e Expr) Scalar { return component(typeOf(e)) }

// value checks an expression whose value is used: not a function without result, not a whole array in a buffer, no atomic.
func (c *checker) value(e Expr) Expr {
	e = c.expr(e)
	if c.plain {
		return c.plainValue(e)
	}
	switch typeOf(e).(type) {
	case nil:
		return c.fail(e, "the call returns nothing")
	case Atomic:
		return c.fail(e, "an atomic is read with atomicLoad")
	case Pointer:
		return c.fail(e, "a pointer can only be an argument of a built-in function; pass values or indices")
	case Array:
		if s := root(e); s != nil && s.Space > PrivateSpace {
			return c.fail(e, "array %s must be indexed", s.Name)
		}
	}
	return e
}

// valueAs checks an expression and converts it to type t; what says for whom.
func (c *checker) valueAs(e Expr, t Type, what string) Expr {
	return c.convert(c.value(e), t, what)
}

// settle gives an expression of abstract type the type that it takes by default.
func (c *checker) settle(e Expr) Expr { return c.convert(e, concrete(typeOf(e)), "the value") }

// expr checks an expression that may be part of a reference.
func (c *checker) expr(e Expr) Expr {
	switch e := e.(type) {
	case *Literal:
		if e.Type == F16 {
			c.file.F16 = true
		}
		return e
	case *Ident:
		return c.ident(e)
	case *Unary:
		return c.unary(e)
	case *Binary:
		return c.binary(e)
	case *Index:
		return c.index(e)
	case *Member:
		return c.member(e)
	case *Construct:
		return c.construct(e)
	case *Bitcast:
		return c.bitcast(e)
	case *Call:
		return c.call(e)
	}
	return e
}

func (c *checker) ident(e *Ident) Expr {
	e.Symbol = c.scope.find(e.Name)
	if e.Symbol == nil {
		return c.unknown(e, e.Name)
	}
	switch e.Symbol.Kind {
	case FuncSymbol:
		return c.fail(e, "%s is a function", e.Name)
	case TypeSymbol:
		return c.fail(e, "%s is a type", e.Name)
	case AliasSymbol:
		return c.fail(e, "%s is an operand within binding %s: it must be indexed", e.Name, e.Symbol.alias.binding.Name)
	}
	e.Type, e.Value, e.Const = e.Symbol.Type, e.Symbol.Value, e.Symbol.Kind == ConstSymbol
	return e
}

func (c *checker) unknown(e Expr, name string) Expr {
	switch near := c.scope.nearest(name); {
	case strings.EqualFold(name, "inf") || strings.EqualFold(name, "nan"):
		return c.fail(e, "%s is not a WGSL constant: use a finite value", name)
	case builtins[name] != "":
		return c.fail(e, "%s is a function", name)
	case near != nil:
		return c.fail(e, "%s is not declared; near: %s", name, strings.Join(near, ", "))
	}
	return c.fail(e, "%s is not declared", name)
}

func (c *checker) index(e *Index) Expr {
	if id, ok := e.X.(*Ident); ok {
		if s := c.scope.find(id.Name); s != nil && s.Kind == AliasSymbol {
			return c.operand(e, id, s)
		}
	}
	e.X = c.expr(e.X)
	e.I = c.indexValue(e.I)
	if bad(e.X) || bad(e.I) {
		set(e, Bad)
		return e
	}
	if c.plain && !constant(e.I) { // which element it is isn't known, so abstract ones take a type
		e.X = c.settle(e.X)
	}
	n := 0
	switch t := c.pointed(e.X).(type) {
	case Vector:
		e.Type, n = t.Elem, t.Width
	case Array:
		e.Type, n = t.Elem, t.Len
		if t.Size != nil {
			n = 0 // not known
		}
	default:
		return c.fail(e, "%s can't be indexed", t)
	}
	if v := valueOf(e.I); v.Kind == IntValue && (v.Int < 0 || n > 0 && v.Int >= int64(n)) {
		return c.failAt(e, e.I, "index %d is outside of %s", v.Int, typeOf(e.X))
	}
	e.Const = constant(e.X) && constant(e.I)
	if v := valueOf(e.I); c.plain && e.Const && v.Kind == IntValue {
		e.Value = partOf(e.X, int(v.Int))
	}
	return e
}

func (c *checker) indexValue(i Expr) Expr {
	i = c.settle(c.value(i))
	if t := typeOf(i); t != U32 && t != I32 && t != Bad {
		return c.fail(i, "an index is i32 or u32, not %s", t)
	}
	return i
}

func (c *checker) member(e *Member) Expr {
	e.X = c.expr(e.X)
	if bad(e.X) {
		set(e, Bad)
		return e
	}
	if s, ok := c.pointed(e.X).(*Struct); ok {
		m := s.member(e.Name)
		if m == nil {
			return c.fail(e, "%s has no member %s", s, e.Name)
		}
		e.Type, e.Const = m.Type, constant(e.X)
		return e
	}
	v, ok := c.pointed(e.X).(Vector)
	if !ok {
		return c.fail(e, "%s has no member %s", typeOf(e.X), e.Name)
	}
	set := "xyzw"
	if !strings.Contains(set, e.Name[:1]) {
		set = "rgba"
	}
	for i := range len(e.Name) {
		if at := strings.IndexByte(set, e.Name[i]); at < 0 || at >= v.Width || len(e.Name) > 4 {
			return c.fail(e, "%s has no member %s", v, e.Name)
		}
	}
	e.Type, e.Const = shaped(v.Elem, len(e.Name)), constant(e.X)
	if c.plain && e.Const && len(e.Name) == 1 {
		e.Value = partOf(e.X, strings.IndexByte(set, e.Name[0]))
	}
	return e
}

// root returns the variable or value that an expression is a part of, or nil.
func root(e Expr) *Symbol {
	for {
		switch x := e.(type) {
		case *Ident:
			return x.Symbol
		case *Index:
			e = x.X
		case *Member:
			e = x.X
		case *Unary:
			if x.Op != "*" && x.Op != "&" {
				return nil
			}
			e = x.X
		default:
			return nil
		}
	}
}

// target checks the left side of an assignment. An operand whose type differs from its binding's comes back as a Bitcast.
func (c *checker) target(e Expr) Expr {
	e = c.expr(e)
	if bad(e) || c.plain {
		return c.plainTarget(e)
	}
	if m, ok := e.(*Member); ok && len(m.Name) > 1 {
		return c.fail(e, "only one component can be assigned at a time, not .%s", m.Name)
	}
	place, _ := uncast(e)
	s := root(place)
	switch {
	case s == nil:
		return c.fail(e, "this can't be assigned to")
	case s.Kind != VarSymbol:
		return c.fail(e, "%s is a %s and can't be assigned to", s.Name, s.Kind)
	case !s.Writable:
		return c.fail(e, "binding %s is read-only", s.Name)
	}
	switch typeOf(e).(type) {
	case Atomic:
		return c.fail(e, "an atomic is written with atomicStore")
	case Array:
		if s.Space > PrivateSpace {
			return c.fail(e, "%s must be indexed", s.Name)
		}
	}
	return e
}
