package mutate

import (
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// scalarOf returns the scalar of a scalar or vector, and Bad for other types.
func scalarOf(e wgsl.Expr) wgsl.Scalar {
	switch t := e.Expression().Type.(type) {
	case wgsl.Scalar:
		return t
	case wgsl.Vector:
		return t.Elem
	}
	return wgsl.Bad
}

// widthOf returns the components of a vector, 1 for a scalar and 0 for other types.
func widthOf(e wgsl.Expr) int {
	switch t := e.Expression().Type.(type) {
	case wgsl.Scalar:
		return 1
	case wgsl.Vector:
		return t.Width
	}
	return 0
}

func integer(e wgsl.Expr) bool {
	s := scalarOf(e)
	return s == wgsl.I32 || s == wgsl.U32 || s == wgsl.AbstractInt
}

func float(e wgsl.Expr) bool {
	s := scalarOf(e)
	return s == wgsl.F32 || s == wgsl.F16 || s == wgsl.AbstractFloat
}

// integerLiteral returns an integer literal.
func integerLiteral(e wgsl.Expr) (*wgsl.Literal, bool) {
	l, ok := e.(*wgsl.Literal)
	return l, ok && l.Value.Kind == wgsl.IntValue && !floatText(l)
}

// floatLiteral returns a literal that is a float by what it says.
func floatLiteral(e wgsl.Expr) (*wgsl.Literal, bool) {
	l, ok := e.(*wgsl.Literal)
	return l, ok && floatText(l)
}

func floatText(l *wgsl.Literal) bool {
	return l.Suffix == "f" || l.Suffix == "h" || l.Value.Kind == wgsl.FloatValue && strings.ContainsAny(l.Text, ".eEpP")
}

// withInt returns a copy of an integer literal with another value.
func withInt(l *wgsl.Literal, n int64) *wgsl.Literal {
	c := *l
	c.Value = wgsl.Value{Kind: wgsl.IntValue, Int: n}
	c.Text = strconv.FormatInt(n, 10)
	return &c
}

// withFloat returns a copy of a float literal with another value.
func withFloat(l *wgsl.Literal, f float64) *wgsl.Literal {
	c := *l
	c.Value = wgsl.Value{Kind: wgsl.FloatValue, Float: f}
	c.Text = strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(c.Text, ".e") {
		c.Text += ".0"
	}
	return &c
}

// truth returns the literal true or false.
func truth(at wgsl.Expr, v bool) wgsl.Expr {
	value := wgsl.Value{Kind: wgsl.BoolValue}
	if v {
		value.Int = 1
	}
	return &wgsl.Literal{Info: wgsl.Info{Pos: at.Expression().Pos, Type: wgsl.Bool, Value: value, Const: true}, Text: strconv.FormatBool(v)}
}

// binary returns a copy of an operation with other parts.
func binary(b *wgsl.Binary, op string, x, y wgsl.Expr) *wgsl.Binary {
	return &wgsl.Binary{Info: infoOf(b), Op: op, X: x, Y: y}
}

// call returns a copy of a call of a built-in function with other parts.
func call(c *wgsl.Call, name string, args ...wgsl.Expr) *wgsl.Call {
	return &wgsl.Call{Info: infoOf(c), Name: name, Args: args, Func: c.Func}
}

// member returns a copy of a swizzle with other components.
func member(m *wgsl.Member, name string) *wgsl.Member {
	return &wgsl.Member{Info: infoOf(m), X: m.X, Name: name}
}

// infoOf returns what is known of an expression that takes the place of e: a value is no longer.
func infoOf(e wgsl.Expr) wgsl.Info {
	i := *e.Expression()
	i.Value = wgsl.Value{}
	return i
}

// shifted returns an index that is n further, with a literal at its end changed rather than a new one added.
func shifted(e wgsl.Expr, n int64) wgsl.Expr {
	if l, ok := integerLiteral(e); ok {
		if v := l.Value.Int + n; v >= 0 {
			return withInt(l, v)
		}
		return nil
	}
	if b, ok := e.(*wgsl.Binary); ok && b.Op == "+" {
		if l, ok := integerLiteral(b.Y); ok {
			switch v := l.Value.Int + n; {
			case v > 0:
				return binary(b, "+", b.X, withInt(l, v))
			case v == 0:
				return b.X
			}
		}
	}
	if !integer(e) || widthOf(e) != 1 {
		return nil
	}
	info := infoOf(e)
	one := &wgsl.Literal{Info: wgsl.Info{Pos: info.Pos, Type: info.Type, Value: wgsl.Value{Kind: wgsl.IntValue, Int: 1}, Const: true}, Text: "1", Suffix: suffix(scalarOf(e))}
	if n < 0 {
		return &wgsl.Binary{Info: info, Op: "-", X: e, Y: one}
	}
	return &wgsl.Binary{Info: info, Op: "+", X: e, Y: one}
}

func suffix(s wgsl.Scalar) string {
	switch s {
	case wgsl.U32:
		return "u"
	case wgsl.I32:
		return "i"
	}
	return ""
}
