package wgsl

// convert gives an expression type t, if it has that type or an abstract one that converts. what says for whom, in errors.
func (c *checker) convert(e Expr, t Type, what string) Expr {
	info := e.Expression()
	if info.Type == t || info.Type == Bad || t == Bad {
		return e
	}
	if !convertible(info.Type, t) {
		return c.fail(e, "%s must be %s, not %s", what, t, info.Type)
	}
	to := component(t)
	if info.Value.Kind != NoValue {
		v, ok := info.Value.convert(to)
		if !ok {
			return c.fail(e, "%s is out of the range of %s", FormatExpr(e), t)
		}
		info.Value = v
	} else {
		c.convertParts(e, t)
	}
	c.usesF16(t)
	info.Type = t
	return e
}

func (c *checker) usesF16(t Type) {
	if component(t) == F16 {
		c.file.F16 = true
	}
}

// convertParts hands a conversion of a vector or array down to what it is made of, so that no abstract part is left that
// has no Value.
func (c *checker) convertParts(e Expr, t Type) {
	part := func(x *Expr, elem Type) {
		*x = c.convert(*x, elem, "the value")
	}
	same := func(x *Expr) { // keeps its own width
		if component(typeOf(*x)).abstract() {
			part(x, shaped(component(t), width(typeOf(*x))))
		}
	}
	switch e := e.(type) {
	case *Ident:
		for i := range partCount(e.Type) {
			if v := partOf(e, i); v.Kind != NoValue {
				if _, ok := v.convert(component(elementOf(t))); !ok {
					c.fail(e, "%s is out of the range of %s", e.Name, t)
				}
			}
		}
	case *Construct:
		e.To = t
		for i := range e.Args {
			if a, ok := t.(Array); ok {
				part(&e.Args[i], a.Elem)
			} else {
				same(&e.Args[i])
			}
		}
	case *Unary:
		same(&e.X)
	case *Binary:
		same(&e.X)
		same(&e.Y)
	case *Member:
		same(&e.X)
	case *Index:
		if a, ok := typeOf(e.X).(Array); ok {
			part(&e.X, Array{t, a.Len, a.Size})
		} else {
			same(&e.X)
		}
	case *Call:
		for i := range e.Args {
			same(&e.Args[i])
		}
	}
}

// unify converts two operands to one component type; false when neither converts to the other's.
func (c *checker) unify(x, y *Expr) (Scalar, bool) {
	sx, sy := scalarOf(*x), scalarOf(*y)
	switch {
	case sx == Bad || sy == Bad:
		return Bad, false
	case sx == sy:
	case sx.converts(sy):
		*x = c.convert(*x, shaped(sy, width(typeOf(*x))), "the operand")
		return sy, true
	case sy.converts(sx):
		*y = c.convert(*y, shaped(sx, width(typeOf(*y))), "the operand")
	default:
		return Bad, false
	}
	return sx, true
}

func (c *checker) construct(e *Construct) Expr {
	e.Const = true
	for i := range e.Args {
		e.Args[i] = c.value(e.Args[i])
		if bad(e.Args[i]) {
			set(e, Bad)
			return e
		}
		e.Const = e.Const && constant(e.Args[i])
	}
	c.usesF16(e.To)
	switch t := e.To.(type) {
	case nil:
		if e.Written == "array" {
			return c.inferArray(e)
		}
		return c.inferVector(e)
	case Scalar:
		return c.cast(e, t)
	case Vector:
		return c.vector(e, t)
	case Array:
		return c.array(e, t)
	case *Struct:
		return c.structure(e, t)
	}
	return c.fail(e, "%s can't be constructed", e.To)
}

// cast checks T(x) of a scalar T.
func (c *checker) cast(e *Construct, t Scalar) Expr {
	e.Type = t
	if len(e.Args) == 0 {
		e.Value, _ = boolValue(false).cast(t)
		return e
	}
	from, ok := typeOf(e.Args[0]).(Scalar)
	if len(e.Args) != 1 || !ok {
		return c.fail(e, "%s takes one scalar", t)
	}
	v := valueOf(e.Args[0])
	if v.Kind == NoValue {
		e.Args[0] = c.settle(e.Args[0])
		return e
	}
	if !from.abstract() && v.Kind == IntValue {
		v.Int = wrap(v.Int, t)
	}
	if v, ok = v.cast(t); !ok {
		return c.fail(e, "%s is out of the range of %s", FormatExpr(e.Args[0]), t)
	}
	e.Value = v
	return e
}

// inferVector checks vecN(...), which takes its component type from the arguments.
func (c *checker) inferVector(e *Construct) Expr {
	w := vectorWidth(e.Written)
	if len(e.Args) == 0 {
		return c.fail(e, "%s() doesn't say of what", e.Written)
	}
	for i := 1; i < len(e.Args); i++ {
		if _, ok := c.unify(&e.Args[0], &e.Args[i]); !ok {
			return c.fail(e, "the components of %s have types %s and %s", e.Written, typeOf(e.Args[0]), typeOf(e.Args[i]))
		}
	}
	for i := range e.Args[1:] { // again, as the first may have changed
		c.unify(&e.Args[0], &e.Args[i+1])
	}
	s := scalarOf(e.Args[0])
	if s == Bad {
		return c.fail(e, "%s can't be made of %s", e.Written, typeOf(e.Args[0]))
	}
	e.To = Vector{s, w}
	return c.vector(e, Vector{s, w})
}

func (c *checker) vector(e *Construct, t Vector) Expr {
	e.Type = t
	if len(e.Args) == 1 && width(typeOf(e.Args[0])) == t.Width { // a conversion of each component
		if component(typeOf(e.Args[0])).abstract() && !t.Elem.abstract() {
			e.Args[0] = c.convert(e.Args[0], t, "the vector")
		}
		return e
	}
	n := 0
	for i := range e.Args {
		w := width(typeOf(e.Args[i]))
		e.Args[i] = c.convert(e.Args[i], shaped(t.Elem, max(w, 1)), "a component of "+e.Written)
		if bad(e.Args[i]) {
			set(e, Bad)
			return e
		}
		n += w
	}
	splat := len(e.Args) == 1 && n == 1
	if n != t.Width && n != 0 && !splat {
		return c.fail(e, "%s takes %d components, not %d", e.Written, t.Width, n)
	}
	return e
}

func (c *checker) array(e *Construct, t Array) Expr {
	e.Type = t
	if t.Len == 0 {
		return c.fail(e, "%s needs a length", e.Written)
	}
	if !constructible(t) {
		return c.fail(e, "%s can't be constructed", t)
	}
	if len(e.Args) != 0 && len(e.Args) != t.Len {
		return c.fail(e, "%s takes %d elements, not %d", e.Written, t.Len, len(e.Args))
	}
	for i := range e.Args {
		e.Args[i] = c.convert(e.Args[i], t.Elem, "an element")
	}
	return e
}

func (c *checker) bitcast(e *Bitcast) Expr {
	e.X = c.settle(c.value(e.X))
	if bad(e.X) {
		set(e, Bad)
		return e
	}
	from := typeOf(e.X)
	if !castable(from, e.To) {
		return c.fail(e, "bitcast from %s to %s: both must be 32-bit numbers, or vectors of them, of one width", from, e.To)
	}
	e.Type, e.Const = e.To, constant(e.X)
	c.usesF16(e.To)
	if v := valueOf(e.X); v.Kind == IntValue || v.Kind == FloatValue {
		if e.Value = bits(v, from.(Scalar), e.To); e.Value.Kind == FloatValue && !finite(e.Value.Float) {
			return c.fail(e, "the constant is infinite or not a number")
		}
	}
	return e
}

// castable reports whether a bitcast is one of numbers of 32 bits or of vectors of them: WGSL knows more, naga doesn't.
func castable(from, to Type) bool {
	numbers := component(from).numeric() && component(to).numeric()
	return numbers && width(from) == width(to) && SizeOf(component(from)) == 4 && SizeOf(component(to)) == 4
}
