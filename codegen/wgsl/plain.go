package wgsl

// What the checker does differently for the text of a file, where the rules are those of WGSL and not the narrower ones that kgen
// sets itself.

// simplify is simplify, for what the builder makes.
func (c *checker) simplify(e Expr) Expr {
	if c.plain {
		return e
	}
	return simplify(e)
}

// plainValue ends the check of an expression whose value is used.
func (c *checker) plainValue(e Expr) Expr {
	switch t := typeOf(e).(type) {
	case nil:
		return c.fail(e, "the call returns nothing")
	case Pointer:
		return e
	case Atomic:
		return c.fail(e, "an atomic is read with atomicLoad")
	default:
		if !bad(e) && !constructible(t) {
			return c.fail(e, "%s can't be used as a value: it has atomics, or no fixed size", t)
		}
	}
	return e
}

// pointed returns the type of an expression that is indexed or has a member: behind a pointer, that of what it points to.
func (c *checker) pointed(e Expr) Type {
	if p, ok := typeOf(e).(Pointer); ok && c.plain {
		return p.Elem
	}
	return typeOf(e)
}

func componentOf(e Expr) bool {
	t := typeOf(e)
	if p, ok := t.(Pointer); ok {
		t = p.Elem
	}
	return width(t) > 1
}

// place is where the memory behind an expression lies. NoSpace says that there is none: the expression is a value.
type place struct {
	space    Space
	writable bool
}

// placeOf returns the place of a checked expression.
func placeOf(e Expr) place {
	if p, ok := typeOf(e).(Pointer); ok {
		return place{p.Space, p.Writable}
	}
	switch e := e.(type) {
	case *Ident:
		if e.Symbol != nil && e.Symbol.Kind == VarSymbol {
			return place{e.Symbol.Space, e.Symbol.Writable}
		}
	case *Index:
		return placeOf(e.X)
	case *Member:
		if componentOf(e.X) && len(e.Name) > 1 {
			return place{} // a swizzle is a value
		}
		return placeOf(e.X)
	case *Unary:
		if e.Op == "*" {
			return placeOf(e.X)
		}
	}
	return place{}
}

// deref checks *x.
func (c *checker) deref(e *Unary) Expr {
	e.X = c.expr(e.X)
	if bad(e.X) {
		set(e, Bad)
		return e
	}
	p, ok := typeOf(e.X).(Pointer)
	if !ok {
		return c.fail(e, "* needs a pointer, not %s", typeOf(e.X))
	}
	e.Type = p.Elem
	return e
}

// plainTarget ends the check of the left side of an assignment.
func (c *checker) plainTarget(e Expr) Expr {
	if bad(e) {
		return e
	}
	p, s := placeOf(e), root(e)
	_, pointer := typeOf(e).(Pointer)
	if m, ok := e.(*Member); ok && len(m.Name) > 1 && componentOf(m.X) {
		return c.fail(e, "only one component can be assigned at a time, not .%s", m.Name)
	}
	switch {
	case s == nil || pointer && s.Kind == VarSymbol:
		return c.fail(e, "this can't be assigned to")
	case pointer:
		return c.fail(e, "%s is a pointer: *%s can be assigned to", s.Name, s.Name)
	case p.space == NoSpace:
		return c.fail(e, "%s is a %s and can't be assigned to", s.Name, s.Kind)
	case !p.writable:
		return c.fail(e, "%s is read-only", s.Name)
	case atomicType(typeOf(e)):
		return c.fail(e, "an atomic is written with atomicStore")
	case !constructible(typeOf(e)):
		return c.fail(e, "%s can't be assigned: it has atomics, or no fixed size", typeOf(e))
	}
	return e
}

// inferArray checks array(...), which takes its element type from the arguments.
func (c *checker) inferArray(e *Construct) Expr {
	if len(e.Args) == 0 {
		return c.fail(e, "array() doesn't say of what")
	}
	t := typeOf(e.Args[0])
	for _, a := range e.Args[1:] {
		if convertible(t, typeOf(a)) {
			t = typeOf(a)
		} else if !convertible(typeOf(a), t) {
			return c.fail(e, "the elements of array have types %s and %s", t, typeOf(a))
		}
	}
	if !constructible(t) {
		return c.fail(e, "an array can't have elements of type %s", t)
	}
	e.To = Array{Elem: t, Len: len(e.Args)}
	return c.array(e, e.To.(Array))
}

// structure checks S(...), with a value for each member or with none.
func (c *checker) structure(e *Construct, t *Struct) Expr {
	e.Type = t
	if !constructible(t) {
		return c.fail(e, "%s can't be constructed: it has atomics, or no fixed size", t)
	}
	if len(e.Args) != 0 && len(e.Args) != len(t.Members) {
		return c.fail(e, "%s takes %d members, not %d", t, len(t.Members), len(e.Args))
	}
	for i, m := range t.Members[:len(e.Args)] {
		e.Args[i] = c.convert(e.Args[i], m.Type, "member "+m.Name)
	}
	return e
}

// partOf returns component or element i of a constant vector or array, where it is a scalar that is known.
func partOf(e Expr, i int) Value {
	v := partAsWritten(e, i)
	if v.Kind == NoValue {
		return v
	}
	v, ok := v.convert(component(elementOf(typeOf(e))))
	if !ok {
		return Value{}
	}
	return v
}

// partAsWritten is partOf before the part takes the type of the expression.
func partAsWritten(e Expr, i int) Value {
	switch e := e.(type) {
	case *Ident:
		if e.Symbol != nil && i < len(e.Symbol.parts) {
			return e.Symbol.parts[i]
		}
	case *Unary:
		v := partOf(e.X, i)
		switch {
		case e.Op == "-" && v.Kind == FloatValue:
			return floatValue(-v.Float)
		case e.Op == "-" && v.Kind == IntValue:
			return intValue(-v.Int)
		}
	case *Binary:
		return foldPart(e, scalarOrPart(e.X, i), scalarOrPart(e.Y, i))
	case *Construct:
		if len(e.Args) == 0 {
			v, _ := boolValue(false).cast(component(elementOf(e.Type)))
			return v
		}
		if _, array := e.Type.(Array); array {
			return valueOf(e.Args[i])
		}
		if len(e.Args) == 1 && width(typeOf(e.Args[0])) == 1 {
			return valueOf(e.Args[0])
		}
		for _, a := range e.Args {
			w := width(typeOf(a))
			switch {
			case i < w && w == 1:
				return valueOf(a)
			case i < w && len(e.Args) > 1:
				return partOf(a, i)
			}
			i -= w
		}
	}
	return Value{}
}

func elementOf(t Type) Type {
	if a, ok := t.(Array); ok {
		return a.Elem
	}
	return component(t)
}

// partCount is the number of parts that partOf knows of.
func partCount(t Type) int {
	if a, ok := t.(Array); ok && width(a.Elem) == 1 {
		return a.Len
	}
	if n := width(t); n > 1 {
		return n
	}
	return 0
}

// partsKnown reports whether an expression is a vector or array of abstract scalars that all have a value.
func partsKnown(e Expr) bool {
	n := partCount(typeOf(e))
	if n == 0 || n > maxParts || !component(elementOf(typeOf(e))).abstract() {
		return false
	}
	for i := range n {
		if partOf(e, i).Kind == NoValue {
			return false
		}
	}
	return true
}

// maxParts bounds the arrays whose elements are known one by one: array(...) has no more in any text that someone wrote.
const maxParts = 1 << 12

func scalarOrPart(e Expr, i int) Value {
	if width(typeOf(e)) == 1 {
		return valueOf(e)
	}
	return partOf(e, i)
}

// foldPart computes one part of an arithmetic operator on constant vectors.
func foldPart(e *Binary, x, y Value) Value {
	zero := y.Kind == IntValue && y.Int == 0 || y.Kind == FloatValue && y.Float == 0
	switch {
	case level(e.Op) < additiveLevel || x.Kind != y.Kind || zero && (e.Op == "/" || e.Op == "%"):
		return Value{}
	case x.Kind == IntValue:
		v, ok := foldInt(e.Op, x.Int, y.Int)
		if s := scalarOf(e); s != AbstractInt {
			v.Int = wrap(v.Int, s)
		} else if !ok {
			return Value{}
		}
		return v
	case x.Kind == FloatValue:
		return foldFloat(e.Op, x.Float, y.Float)
	}
	return Value{}
}

// partsOf returns the parts of a constant vector or array of scalars.
func partsOf(e Expr) []Value {
	n := partCount(typeOf(e))
	if n > maxParts {
		return nil
	}
	parts := make([]Value, n)
	for i := range parts {
		parts[i] = partOf(e, i)
	}
	return parts
}
