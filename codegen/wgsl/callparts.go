package wgsl

// Functions that return several values at once, and others whose parameters differ in type.

// exchangeResult is what atomicCompareExchangeWeak returns.
var exchangeResult = map[Scalar]*Struct{U32: exchanged(U32), I32: exchanged(I32)}

func exchanged(t Scalar) *Struct {
	return resultOf("__atomic_compare_exchange_result<"+t.String()+">", Field{Name: "old_value", Type: t}, Field{Name: "exchanged", Type: Bool})
}

// modfResult and frexpResult are what these functions return, by the type of their argument.
var modfResult, frexpResult = partsResults()

func partsResults() (modf, frexp map[Type]*Struct) {
	modf, frexp = map[Type]*Struct{}, map[Type]*Struct{}
	for _, s := range []Scalar{F32, F16} {
		for w := 1; w <= 4; w++ {
			t := shaped(s, w)
			modf[t] = resultOf("__modf_result<"+t.String()+">", Field{Name: "fract", Type: t}, Field{Name: "whole", Type: t})
			frexp[t] = resultOf("__frexp_result<"+t.String()+">", Field{Name: "fract", Type: t}, Field{Name: "exp", Type: shaped(I32, w)})
		}
	}
	return modf, frexp
}

// resultOf makes a struct that no text can name.
func resultOf(name string, members ...Field) *Struct {
	s := &Struct{Name: name, Members: members}
	s.layout()
	return s
}

// parts checks modf and frexp.
func (c *checker) parts(e *Call) Expr {
	t := typeOf(e.Args[0])
	if component(t) == AbstractInt {
		e.Args[0] = c.convert(e.Args[0], shaped(F32, width(t)), "the argument")
	}
	e.Args[0] = c.settle(e.Args[0])
	results := modfResult
	if e.Name == "frexp" {
		results = frexpResult
	}
	r := results[typeOf(e.Args[0])]
	if r == nil {
		return c.fail(e, "%s doesn't take %s", e.Name, t)
	}
	e.Type = r
	return e
}

// ldexp checks ldexp(x, exponent).
func (c *checker) ldexp(e *Call) Expr {
	x, y := typeOf(e.Args[0]), typeOf(e.Args[1])
	if component(x) == AbstractInt {
		e.Args[0] = c.convert(e.Args[0], shaped(F32, width(x)), "the argument")
	}
	e.Args[0] = c.settle(e.Args[0])
	if !scalarOf(e.Args[0]).float() || width(x) != width(y) || !component(y).converts(I32) {
		return c.fail(e, "ldexp takes a float and an i32 of one width, not %s and %s", x, y)
	}
	e.Args[1] = c.convert(e.Args[1], shaped(I32, width(y)), "the exponent")
	e.Type = typeOf(e.Args[0])
	return e
}

// vectors checks cross, and refract and mix, whose third argument may be a scalar.
func (c *checker) vectors(e *Call) Expr {
	tx, ty := typeOf(e.Args[0]), typeOf(e.Args[1])
	for i := range e.Args {
		if t := typeOf(e.Args[i]); component(t) == AbstractInt {
			e.Args[i] = c.convert(e.Args[i], shaped(AbstractFloat, width(t)), "the argument")
		}
	}
	_, ok := c.unify(&e.Args[0], &e.Args[1])
	if len(e.Args) == 3 {
		_, third := c.unify(&e.Args[0], &e.Args[2])
		_, again := c.unify(&e.Args[0], &e.Args[1])
		e.Args[2] = c.settle(e.Args[2])
		w := width(typeOf(e.Args[2]))
		ok = ok && third && again && (w == 1 || e.Name == "mix" && w == width(tx))
	}
	e.Args[0], e.Args[1] = c.settle(e.Args[0]), c.settle(e.Args[1])
	v := typeOf(e.Args[0])
	if !ok || !component(v).float() || typeOf(e.Args[1]) != v || e.Name != "mix" && width(v) < 2 || e.Name == "cross" && width(v) != 3 {
		return c.fail(e, "%s doesn't take %s and %s", e.Name, tx, ty)
	}
	e.Type = v
	return e
}
