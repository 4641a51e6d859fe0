package wgsl

import (
	"math"
	"strings"
)

func (c *checker) call(e *Call) Expr {
	if s := c.scope.find(e.Name); s != nil {
		if s.Kind != FuncSymbol {
			return c.fail(e, "%s is a %s, not a function", e.Name, s.Kind)
		}
		return c.userCall(e, s.Func)
	}
	signature := builtins[e.Name]
	switch {
	case signature == "":
		return c.unknown(e, e.Name)
	case isSubgroupName(e.Name):
		c.file.Subgroups = true
	}
	e.Const = len(e.Args) > 0 && pure(e.Name) && e.Name != "arrayLength"
	for i := range e.Args {
		if _, address := e.Args[i].(*Unary); address && signature == "special" {
			e.Args[i] = c.expr(e.Args[i])
		} else {
			e.Args[i] = c.value(e.Args[i])
		}
		if bad(e.Args[i]) {
			set(e, Bad)
			return e
		}
		e.Const = e.Const && constant(e.Args[i])
	}
	if signature == "special" {
		return c.special(e)
	}
	matched := c.match(e, signature)
	if name := e.Name; !c.plain && scalarOf(matched) == F16 && (name == "subgroupAdd" || name == "subgroupExclusiveAdd" || name == "subgroupInclusiveAdd") {
		return c.fail(e, sumInF16)
	}
	if c.plain && !bad(matched) {
		c.bounds(e)
	}
	return c.constants(matched)
}

func (c *checker) userCall(e *Call, f *Func) Expr {
	e.Func, e.Type = f, f.Result
	if f.Entry() {
		return c.fail(e, "an entry point can't be called")
	}
	if len(e.Args) != len(f.Params) {
		return c.fail(e, "%s takes %d arguments, not %d", e.Name, len(f.Params), len(e.Args))
	}
	for i, p := range f.Params {
		e.Args[i] = c.valueAs(e.Args[i], p.Type, "argument "+p.Name+" of "+e.Name)
	}
	return e
}

// match checks arguments against a signature of the table.
func (c *checker) match(e *Call, signature string) Expr {
	before, result, _ := strings.Cut(signature, "->")
	params, result := strings.Fields(before), strings.TrimSpace(result)
	if len(e.Args) != len(params) {
		return c.fail(e, "%s takes %d arguments, not %d", e.Name, len(params), len(e.Args))
	}
	shared := c.sharedType(e, params)
	if shared == Bad {
		return e
	}
	for i, p := range params {
		t := shorthands[p]
		switch {
		case t == nil:
			t = shared
		case t == U32 && isSubgroupName(e.Name) && !c.plain:
			e.Args[i] = laneIndex(e.Args[i])
		}
		e.Args[i] = c.convert(e.Args[i], t, "the argument")
		if bad(e.Args[i]) {
			set(e, Bad)
			return e
		}
	}
	switch result {
	case "": // nothing
	case "E":
		e.Type = component(shared)
	case "N", "F", "I", "B", "V":
		e.Type = shared
	default:
		e.Type = shorthands[result]
	}
	return e
}

// sharedType returns the type that the letters of a signature stand for: the first one that isn't abstract, or the default of
// the abstract one. It is nil when there are no letters, and Bad after a mistake.
func (c *checker) sharedType(e *Call, params []string) Type {
	var shared Type
	class := ""
	for i, p := range params {
		if shorthands[p] != nil {
			continue
		}
		class = p
		t := typeOf(e.Args[i])
		if width(t) == 0 {
			c.fail(e.Args[i], "%s doesn't take %s", e.Name, t)
			set(e, Bad)
			return Bad
		}
		if shared == nil || component(shared).converts(component(t)) && component(shared).abstract() {
			shared = t
		}
	}
	if shared == nil {
		return nil
	}
	if s := component(shared); s == AbstractInt && (class == "F" || class == "V") {
		shared = shaped(AbstractFloat, width(shared))
	}
	folds := allValues(e.Args) && pure(e.Name) && (e.Name == "min" || e.Name == "max" || e.Name == "abs" || e.Name == "clamp")
	if !folds {
		shared = concrete(shared)
	}
	s := component(shared)
	if e.Name == "sign" && s == U32 {
		c.fail(e, "sign doesn't take %s", shared)
		return Bad
	}
	fits := map[string]bool{"N": s.numeric(), "F": s.float(), "V": s.float() && width(shared) > 1, "I": s.integer(), "B": s == Bool}[class]
	if !fits {
		c.fail(e, "%s doesn't take %s", e.Name, shared)
		return Bad
	}
	for i, p := range params {
		if shorthands[p] == nil && !convertible(typeOf(e.Args[i]), shared) {
			c.fail(e, "the arguments of %s have types %s and %s", e.Name, shared, typeOf(e.Args[i]))
			return Bad
		}
	}
	return shared
}

func allValues(args []Expr) bool {
	for _, a := range args {
		if valueOf(a).Kind == NoValue {
			return false
		}
	}
	return true
}

// constants evaluates a few functions on constants, and refuses those that are infinite or not a number, as WGSL does.
func (c *checker) constants(e Expr) Expr {
	call := e.(*Call)
	if bad(e) || !allValues(call.Args) || len(call.Args) == 0 {
		return e
	}
	v := make([]Value, len(call.Args))
	for i, a := range call.Args {
		v[i] = valueOf(a)
	}
	less := func(a, b Value) bool { return a.Int < b.Int || a.Float < b.Float }
	switch call.Name {
	case "min", "max":
		call.Value = v[0]
		if less(v[1], v[0]) == (call.Name == "min") {
			call.Value = v[1]
		}
	case "abs":
		call.Value = v[0]
		call.Value.Float = math.Abs(v[0].Float)
		if v[0].Int < 0 && v[0].Int != math.MinInt32 {
			call.Value.Int = -v[0].Int
		}
	case "clamp":
		call.Value = v[0]
		if less(v[2], v[1]) {
			return c.fail(e, "clamp's lower bound is above its upper one")
		}
		if less(v[0], v[1]) {
			call.Value = v[1]
		}
		if less(v[2], v[0]) {
			call.Value = v[2]
		}
	}
	if v[0].Kind != NoValue {
		call.Value = c.constantCall(call, v)
	}
	if f := risky[call.Name]; f != nil && !finite(float64(float32(f(v[0].Float)))) {
		return c.fail(e, "the constant is infinite or not a number")
	}
	return e
}

// risky holds functions of one float that have no finite result for some.
var risky = map[string]func(float64) float64{
	"exp": math.Exp, "exp2": math.Exp2, "log": math.Log, "log2": math.Log2, "sqrt": math.Sqrt,
	"inverseSqrt": func(x float64) float64 { return 1 / math.Sqrt(x) }, "acos": math.Acos, "asin": math.Asin,
	"cosh": math.Cosh, "sinh": math.Sinh, "acosh": math.Acosh, "atanh": math.Atanh,
}
