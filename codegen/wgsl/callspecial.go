package wgsl

import (
	"math"
	"strings"
)

// special checks the functions whose signature isn't in the table.
func (c *checker) special(e *Call) Expr {
	want := map[string]int{"select": 3, "dot": 2, "arrayLength": 1, "workgroupUniformLoad": 1, "atomicLoad": 1,
		"atomicCompareExchangeWeak": 3, "modf": 1, "frexp": 1, "refract": 3, "mix": 3}[e.Name]
	if want == 0 {
		want = 2
	}
	if len(e.Args) != want {
		return c.fail(e, "%s takes %d arguments, not %d", e.Name, want, len(e.Args))
	}
	switch {
	case e.Name == "select":
		return c.selectCall(e)
	case e.Name == "atomicCompareExchangeWeak" && !c.plain:
		return c.fail(e, "atomicCompareExchangeWeak is not for the builder")
	case e.Name == "dot":
		return c.dot(e)
	case e.Name == "modf" || e.Name == "frexp":
		return c.parts(e)
	case e.Name == "ldexp":
		return c.ldexp(e)
	case e.Name == "cross" || e.Name == "refract" || e.Name == "mix":
		return c.vectors(e)
	case isSubgroupName(e.Name):
		return c.lane(e)
	}
	return c.pointerCall(e)
}

func (c *checker) selectCall(e *Call) Expr {
	tx, ty, cond := typeOf(e.Args[0]), typeOf(e.Args[1]), typeOf(e.Args[2])
	_, ok := c.unify(&e.Args[0], &e.Args[1])
	e.Args[0], e.Args[1] = c.settle(e.Args[0]), c.settle(e.Args[1])
	t := typeOf(e.Args[0])
	if !ok || width(t) == 0 || t != typeOf(e.Args[1]) {
		return c.fail(e, "select takes two values of one type, not %s and %s", tx, ty)
	}
	if cond != Bool && cond != shaped(Bool, width(t)) {
		return c.failAt(e, e.Args[2], "select's condition must be bool, not %s", cond)
	}
	e.Type = t
	if v := valueOf(e.Args[2]); c.plain && v.Kind == BoolValue {
		e.Value = valueOf(e.Args[v.Int])
	}
	return e
}

func (c *checker) dot(e *Call) Expr {
	tx, ty := typeOf(e.Args[0]), typeOf(e.Args[1])
	_, ok := c.unify(&e.Args[0], &e.Args[1])
	e.Args[0], e.Args[1] = c.settle(e.Args[0]), c.settle(e.Args[1])
	v, vector := typeOf(e.Args[0]).(Vector)
	if !ok || !vector || !v.Elem.numeric() || typeOf(e.Args[1]) != v {
		return c.fail(e, "dot takes two vectors of one type, not %s and %s", tx, ty)
	}
	if v.Elem == F16 && !c.plain {
		return c.fail(e, sumInF16)
	}
	e.Type = v.Elem
	if c.plain && e.Const {
		e.Value = constantDot(e, v)
	}
	return e
}

// laneIndex makes an abstract constant a literal of type u32: naga takes it for i32 in subgroup functions.
func laneIndex(e Expr) Expr {
	if v := valueOf(e); typeOf(e) == AbstractInt && v.Kind == IntValue && v.Int >= 0 && v.Int <= math.MaxUint32 {
		return literal(v.Int, U32, e.Expression().Pos)
	}
	return e
}

// lane checks the subgroup functions that take the index of a lane.
func (c *checker) lane(e *Call) Expr {
	e.Args[0] = c.settle(e.Args[0])
	if c.plain {
		e.Args[1] = c.settle(e.Args[1])
	} else {
		e.Args[1] = laneIndex(e.Args[1])
	}
	t, lane := typeOf(e.Args[0]), typeOf(e.Args[1])
	switch {
	case !component(t).numeric():
		return c.fail(e, "%s doesn't take %s", e.Name, t)
	case lane != U32: // WGSL takes i32 too, naga doesn't
		return c.failAt(e, e.Args[1], "a lane is u32, not %s", lane)
	case strings.HasSuffix(e.Name, "Broadcast") && !constant(e.Args[1]):
		return c.failAt(e, e.Args[1], "the lane of %s must be a constant; use subgroupShuffle", e.Name)
	}
	e.Type = t
	return e
}

// pointerCall checks the functions that take a pointer first.
func (c *checker) pointerCall(e *Call) Expr {
	p, ok := typeOf(e.Args[0]).(Pointer)
	if !ok {
		return c.failAt(e, e.Args[0], "%s takes a pointer: &%s", e.Name, FormatExpr(e.Args[0]))
	}
	switch e.Name {
	case "arrayLength":
		if a, ok := p.Elem.(Array); !ok || a.Len != 0 || p.Space != StorageSpace {
			return c.failAt(e, e.Args[0], "arrayLength takes a runtime-sized array")
		}
		e.Type = U32
		return e
	case "workgroupUniformLoad":
		e.Type = p.Elem
		if a, ok := p.Elem.(Atomic); ok {
			e.Type = a.Elem
		}
		if p.Space != WorkgroupSpace {
			return c.failAt(e, e.Args[0], "workgroupUniformLoad takes a workgroup variable")
		}
		return e
	}
	a, ok := p.Elem.(Atomic)
	if !ok || !p.Writable {
		return c.failAt(e, e.Args[0], "%s takes an atomic in workgroup memory or in a read-write binding", e.Name)
	}
	for i := range e.Args[1:] {
		e.Args[i+1] = c.convert(e.Args[i+1], a.Elem, "the value")
	}
	if e.Name == "atomicCompareExchangeWeak" {
		e.Type = exchangeResult[a.Elem]
		return e
	}
	if e.Type = a.Elem; e.Name == "atomicStore" {
		e.Type = nil
	}
	return e
}
