package mutate

import (
	"math"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// arithmetic takes another operation.
func arithmetic(p place) []wgsl.Expr {
	switch e := p.expr().(type) {
	case *wgsl.Binary:
		if op, ok := map[string]string{"+": "-", "-": "+", "*": "+", "/": "*"}[e.Op]; ok {
			return []wgsl.Expr{binary(e, op, e.X, e.Y)}
		}
	case *wgsl.Unary:
		if e.Op == "-" {
			return []wgsl.Expr{e.X}
		}
	}
	return nil
}

// subtracted takes away what was to be added.
func subtracted(s spot) (wgsl.Stmt, bool) {
	a, ok := s.stmt().(*wgsl.Assign)
	if !ok || a.Op != "+" {
		return nil, false
	}
	return &wgsl.Assign{At: a.At, Op: "-", To: a.To, Value: a.Value}, true
}

// constant takes another number: twice a float, and an integer that is no bound, factor or index plus one.
func constant(p place) []wgsl.Expr {
	if l, ok := floatLiteral(p.expr()); ok {
		switch v := l.Value.Float; {
		case v == 0:
			return []wgsl.Expr{withFloat(l, 1)}
		case math.Abs(2*v) > math.MaxFloat32:
			return []wgsl.Expr{withFloat(l, v/2)}
		default:
			return []wgsl.Expr{withFloat(l, 2*v)}
		}
	}
	l, ok := integerLiteral(p.expr())
	if !ok || inIndex(p) || comparison(p.parent()) || clamp(p.parent()) || p.post {
		return nil
	}
	if b, ok := p.parent().(*wgsl.Binary); ok && (b.Op == "*" || b.Op == "/" || b.Op == "%" || b.Op == "&") {
		return nil
	}
	return []wgsl.Expr{withInt(l, l.Value.Int+1)}
}

// inIndex reports whether a place is an index or in a sum that is one.
func inIndex(p place) bool {
	e := p.expr()
	for i := len(p.around) - 1; i >= 0; i-- {
		switch outer := p.around[i].(type) {
		case *wgsl.Index:
			return outer.I == e
		case *wgsl.Binary:
			if outer.Op != "+" && outer.Op != "-" {
				return false
			}
			e = outer
		default:
			return false
		}
	}
	return false
}

// stride takes a factor of an index, or the step of a loop, that is one off.
func stride(p place) []wgsl.Expr {
	l, ok := integerLiteral(p.expr())
	if !ok {
		return nil
	}
	b, factor := p.parent().(*wgsl.Binary)
	factor = factor && (b.Op == "*" || b.Op == "/" || b.Op == "%")
	if factor || p.post && p.parent() == nil {
		return neighbours(l, 1)
	}
	return nil
}

// operands takes two operands the wrong way round.
func operands(p place) []wgsl.Expr {
	switch e := p.expr().(type) {
	case *wgsl.Binary:
		switch e.Op {
		case "-", "/", "%", "<<", ">>", "<", "<=", ">", ">=":
			return []wgsl.Expr{binary(e, e.Op, e.Y, e.X)}
		}
	case *wgsl.Call:
		switch {
		case e.Name == "select" && len(e.Args) == 3:
			return []wgsl.Expr{call(e, e.Name, e.Args[1], e.Args[0], e.Args[2])}
		case e.Name == "fma" && len(e.Args) == 3:
			return []wgsl.Expr{call(e, e.Name, e.Args[0], e.Args[2], e.Args[1])}
		}
	}
	return nil
}

// extreme takes the other end.
func extreme(p place) []wgsl.Expr {
	c, ok := p.expr().(*wgsl.Call)
	if !ok {
		return nil
	}
	if name, ok := map[string]string{"min": "max", "max": "min"}[c.Name]; ok {
		return []wgsl.Expr{call(c, name, c.Args...)}
	}
	return nil
}

// conversions are the built-in functions that are taken for others.
var conversions = map[string][]string{
	"unpack4xI8": {"unpack4xU8"}, "unpack4xU8": {"unpack4xI8"},
	"dot4I8Packed": {"dot4U8Packed"}, "dot4U8Packed": {"dot4I8Packed"},
	"round": {"floor", "trunc"}, "floor": {"round"}, "ceil": {"floor"}, "trunc": {"round"},
	"unpack2x16float": {"unpack2x16snorm"}, "pack2x16float": {"pack2x16snorm"},
	"exp": {"exp2"}, "log": {"log2"}, "inverseSqrt": {"sqrt"}, "sqrt": {"inverseSqrt"}, "sin": {"cos"}, "cos": {"sin"},
}

// unsigned reports whether a mask leaves no byte of a word its sign, so that both kinds of bytes are the same.
func unsigned(e wgsl.Expr) bool {
	b, ok := e.(*wgsl.Binary)
	if !ok || b.Op != "&" {
		return false
	}
	m, ok := bits(b.Y)
	return ok && m&0x80808080 == 0
}

// conversion takes another function of one value, and a conversion of the number for one of its bits.
func conversion(p place) []wgsl.Expr {
	switch e := p.expr().(type) {
	case *wgsl.Call:
		var list []wgsl.Expr
		if strings.HasPrefix(e.Name, "unpack4x") && unsigned(e.Args[0]) {
			return nil
		}
		for _, name := range conversions[e.Name] {
			list = append(list, call(e, name, e.Args...))
		}
		if e.Name == "abs" {
			list = append(list, e.Args[0])
		}
		if list != nil && e.Name[:3] == "dot" { // both return the type of their own sign
			return []wgsl.Expr{&wgsl.Construct{Info: infoOf(e), Written: e.Type.String(), To: e.Type, Args: list}}
		}
		return list
	case *wgsl.Bitcast:
		return []wgsl.Expr{&wgsl.Construct{Info: infoOf(e), Written: e.To.String(), To: e.To, Args: []wgsl.Expr{e.X}}}
	}
	return nil
}
