package wgsl

import (
	"math"
	"strings"
)

// The levels of binary operators in the grammar, from loose to tight; 0 is no operator.
const (
	logicalLevel = iota + 1
	bitwiseLevel
	relationalLevel
	shiftLevel
	additiveLevel
	multiplicativeLevel
)

func level(op string) int {
	switch op {
	case "&&", "||":
		return logicalLevel
	case "&", "|", "^":
		return bitwiseLevel
	case "==", "!=", "<", "<=", ">", ">=":
		return relationalLevel
	case "<<", ">>":
		return shiftLevel
	case "+", "-":
		return additiveLevel
	case "*", "/", "%":
		return multiplicativeLevel
	}
	return 0
}

func (c *checker) unary(e *Unary) Expr {
	switch {
	case e.Op == "&":
		return c.address(e)
	case e.Op == "*" && c.plain:
		return c.deref(e)
	}
	e.X = c.value(e.X)
	if bad(e.X) {
		set(e, Bad)
		return e
	}
	s := scalarOf(e.X)
	ok := map[string]bool{"-": s.numeric() && s != U32, "!": s == Bool, "~": s.integer()}[e.Op]
	if !ok {
		return c.fail(e, "%s doesn't apply to %s", e.Op, typeOf(e.X))
	}
	e.Type, e.Const = typeOf(e.X), constant(e.X)
	switch v := valueOf(e.X); {
	case v.Kind == NoValue:
	case e.Op == "!":
		e.Value = boolValue(v.Int == 0)
	case e.Op == "~":
		e.Value = intValue(wrap(^v.Int, s))
	case v.Kind == FloatValue:
		e.Value = floatValue(-v.Float)
	case v.Int == math.MinInt64:
		return c.fail(e, "the negative is out of the range of %s", s)
	default:
		e.Value = intValue(wrap(-v.Int, s))
	}
	return e
}

// address checks &x: only for the built-in functions that take pointers.
func (c *checker) address(e *Unary) Expr {
	e.X = c.expr(e.X)
	if bad(e.X) {
		set(e, Bad)
		return e
	}
	p := placeOf(e.X)
	if m, ok := e.X.(*Member); p.space == NoSpace || ok && (!c.plain || componentOf(m.X)) {
		return c.fail(e, "& needs a variable")
	}
	if i, ok := e.X.(*Index); ok && c.plain && componentOf(i.X) {
		return c.fail(e, "& can't point to a component of a vector")
	}
	e.Type = Pointer{p.space, typeOf(e.X), p.writable}
	return e
}

func (c *checker) binary(e *Binary) Expr {
	e.X, e.Y = c.value(e.X), c.value(e.Y)
	if bad(e.X) || bad(e.Y) {
		set(e, Bad)
		return e
	}
	e.Const = constant(e.X) && constant(e.Y)
	if level(e.Op) == shiftLevel {
		return c.shift(e)
	}
	tx, ty := typeOf(e.X), typeOf(e.Y)
	s, ok := c.unify(&e.X, &e.Y)
	if c.err != nil {
		set(e, Bad)
		return e
	}
	wx, wy := width(tx), width(ty)
	fits := wx == wy || level(e.Op) >= additiveLevel && (wx == 1 || wy == 1)
	if !ok || !fits || !c.operates(e.Op, s, wx) {
		return c.fail(e, "%s doesn't apply to %s and %s", e.Op, tx, ty)
	}
	// Vulkan leaves the remainder undefined when an operand is negative, and naga 29 hands it on: an NVIDIA H200 (580.159) gives
	// what WGSL does not say. Tint computes it from a quotient.
	if e.Op == "%" && s == I32 && !e.Const && !c.plain {
		return c.fail(e, "the remainder of i32 differs from device to device when an operand is negative: take it of u32")
	}
	e.Type = shaped(s, max(wx, wy))
	if level(e.Op) == relationalLevel {
		e.Type = shaped(Bool, wx)
	}
	return c.simplify(c.fold(e, s))
}

// operates reports whether an operator that takes two operands of one type takes those of component s.
func (c *checker) operates(op string, s Scalar, width int) bool {
	switch op {
	case "&&", "||":
		return s == Bool && width == 1
	case "&", "|":
		return s == Bool || s.integer()
	case "^":
		return s.integer()
	case "==", "!=":
		return true
	}
	return s.numeric()
}

func (c *checker) shift(e *Binary) Expr {
	x, y := typeOf(e.X), typeOf(e.Y)
	if !component(x).integer() || width(x) != width(y) || !component(y).converts(U32) {
		return c.fail(e, "%s doesn't apply to %s and %s: it takes an integer and a u32 of the same width", e.Op, x, y)
	}
	e.Y = c.convert(e.Y, shaped(U32, width(y)), "the count")
	if !constant(e.Y) {
		e.X = c.settle(e.X)
	}
	if bad(e.Y) {
		set(e, Bad)
		return e
	}
	e.Type = typeOf(e.X)
	s := scalarOf(e.X)
	vx, vy := valueOf(e.X), valueOf(e.Y)
	if vy.Kind == NoValue {
		return e
	}
	bits := int64(32)
	if s == AbstractInt {
		bits = 64
	}
	if vy.Int >= bits {
		return c.failAt(e, e.Y, "a shift by %d of %s", vy.Int, s)
	}
	if vx.Kind == NoValue {
		return c.simplify(e)
	}
	if e.Op == ">>" {
		e.Value = intValue(vx.Int >> vy.Int)
		return e
	}
	n := vx.Int << vy.Int
	if n>>vy.Int != vx.Int || s != AbstractInt && wrap(n, s) != n {
		return c.fail(e, "the constant is out of the range of %s", s)
	}
	e.Value = intValue(n)
	return e
}

// fold computes the value of an operator on constants and refuses what WGSL refuses.
func (c *checker) fold(e *Binary, s Scalar) Expr {
	x, y := valueOf(e.X), valueOf(e.Y)
	if strings.Contains("/%", e.Op) && (y.Kind == IntValue && y.Int == 0 || y.Kind == FloatValue && y.Float == 0) {
		return c.fail(e, "division by zero")
	}
	if x.Kind == NoValue || y.Kind == NoValue {
		return e
	}
	switch x.Kind {
	case BoolValue:
		e.Value = foldBool(e.Op, x.Int != 0, y.Int != 0)
	case IntValue:
		v, ok := foldInt(e.Op, x.Int, y.Int)
		if v.Kind == IntValue {
			if s == AbstractInt && !ok {
				return c.fail(e, "the constant is out of the range of %s", s)
			}
			v.Int = wrap(v.Int, s) // concrete integers wrap, constants too
		}
		e.Value = v
	case FloatValue:
		v := foldFloat(e.Op, x.Float, y.Float)
		if v.Kind == FloatValue {
			var ok bool
			if v, ok = v.convert(s); !ok {
				return c.fail(e, "the constant is out of the range of %s", s)
			}
		}
		e.Value = v
	}
	return e
}

func foldBool(op string, x, y bool) Value {
	switch op {
	case "&&", "&":
		return boolValue(x && y)
	case "||", "|":
		return boolValue(x || y)
	case "==":
		return boolValue(x == y)
	}
	return boolValue(x != y)
}

// foldInt computes in 64 bits; false when even those don't hold the result.
func foldInt(op string, x, y int64) (Value, bool) {
	switch op {
	case "+":
		return intValue(x + y), (x+y > x) == (y > 0)
	case "-":
		return intValue(x - y), (x-y < x) == (y > 0)
	case "*":
		return intValue(x * y), x == 0 || x*y/x == y && (x != -1 || y != math.MinInt64)
	case "/":
		return intValue(x / y), x != math.MinInt64 || y != -1
	case "%":
		return intValue(x % y), true
	case "&":
		return intValue(x & y), true
	case "|":
		return intValue(x | y), true
	case "^":
		return intValue(x ^ y), true
	}
	return boolValue(compare(op, x < y, x == y)), true
}

func foldFloat(op string, x, y float64) Value {
	switch op {
	case "+":
		return floatValue(x + y)
	case "-":
		return floatValue(x - y)
	case "*":
		return floatValue(x * y)
	case "/":
		return floatValue(x / y)
	case "%":
		return floatValue(math.Mod(x, y))
	}
	return boolValue(compare(op, x < y, x == y))
}

func compare(op string, less, equal bool) bool {
	switch op {
	case "==":
		return equal
	case "!=":
		return !equal
	case "<":
		return less
	case "<=":
		return less || equal
	case ">":
		return !less && !equal
	}
	return !less
}

// bits reinterprets the bits of a 32-bit constant; no value for other widths.
func bits(v Value, from Scalar, to Type) Value {
	var word uint32
	switch {
	case SizeOf(from) != 4:
		return Value{}
	case from == F32:
		word = math.Float32bits(float32(v.Float))
	default:
		word = uint32(v.Int)
	}
	switch to {
	case F32:
		return floatValue(float64(math.Float32frombits(word)))
	case U32:
		return intValue(int64(word))
	case I32:
		return intValue(int64(int32(word)))
	}
	return Value{}
}
