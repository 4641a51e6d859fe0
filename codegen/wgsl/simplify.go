package wgsl

import (
	"strconv"
	"strings"
)

// simplify removes integer arithmetic that says nothing, so that text made of literals reads as if written by hand:
// x + 0, x - 0, x * 1, x / 1, x % 1, x << 0, literals combined, (x + 1) + 2. Floats stay as written: they round.
func simplify(e Expr) Expr {
	b, ok := e.(*Binary)
	if !ok || !scalarOf(e).integer() || width(typeOf(e)) != 1 {
		return e
	}
	if decimal(b.X) && decimal(b.Y) && b.Value.Kind == IntValue && level(b.Op) >= additiveLevel {
		exact, _ := foldInt(b.Op, valueOf(b.X).Int, valueOf(b.Y).Int)
		if exact == b.Value && exact.Int >= 0 { // not where it wraps: that deserves to be seen
			return literal(b.Value.Int, b.Type.(Scalar), b.Pos)
		}
	}
	x, y := small(b.X), small(b.Y)
	switch {
	case y == 0 && strings.Contains("+ - << >>", b.Op), y == 1 && strings.Contains("* /", b.Op):
		return retyped(b.X, b.Type)
	case x == 0 && b.Op == "+", x == 1 && b.Op == "*":
		return retyped(b.Y, b.Type)
	case y == 1 && b.Op == "%" && harmless(b.X), y == 0 && b.Op == "*" && harmless(b.X), x == 0 && b.Op == "*" && harmless(b.Y):
		return literal(0, b.Type.(Scalar), b.Pos)
	}
	return joinSums(b)
}

// joinSums makes x + (m+n) of x + m + n, and of x - m + n what is left of it. Integers wrap, so this changes no value.
func joinSums(b *Binary) Expr {
	inner, ok := b.X.(*Binary)
	if !ok || b.Op != "+" || inner.Op != "+" && inner.Op != "-" || !decimal(b.Y) || !decimal(inner.Y) || typeOf(inner.X) != b.Type {
		return b
	}
	first := valueOf(inner.Y).Int
	if inner.Op == "-" {
		first = -first
	}
	sum, op := first+valueOf(b.Y).Int, "+"
	if sum < 0 {
		sum, op = -sum, "-"
	}
	s := b.Type.(Scalar)
	if s == AbstractInt || wrap(sum, s) != sum {
		return b
	}
	if sum == 0 {
		return retyped(inner.X, b.Type)
	}
	y := literal(sum, s, b.Y.Expression().Pos)
	if l, m := inner.Y.(*Literal), b.Y.(*Literal); l.Suffix == "" && m.Suffix == "" {
		y.Suffix = ""
	}
	return &Binary{Info: Info{Pos: b.Pos, Type: b.Type}, Op: op, X: inner.X, Y: y}
}

// small returns the value of a literal 0 or 1, and -1 for anything else.
func small(e Expr) int64 {
	if l, ok := e.(*Literal); ok && l.Value.Kind == IntValue && l.Value.Int <= 1 {
		return l.Value.Int
	}
	return -1
}

// decimal reports whether an expression is an integer literal that isn't written in hex: masks stay as written.
func decimal(e Expr) bool {
	l, ok := e.(*Literal)
	return ok && l.Value.Kind == IntValue && !strings.HasPrefix(l.Text, "0x") && !strings.HasPrefix(l.Text, "0X")
}

// retyped passes the type of a dropped operation on: in i * 1u the literal fixed it.
func retyped(e Expr, t Type) Expr {
	if l, ok := e.(*Literal); ok && l.Type != AbstractInt && l.Suffix == "" {
		l.Suffix = suffix(t.(Scalar))
	}
	return e
}

// literal makes an integer literal, with the suffix of its type.
func literal(n int64, t Scalar, p Pos) *Literal {
	return &Literal{Info: Info{Pos: p, Type: t, Value: intValue(n), Const: true}, Text: strconv.FormatInt(n, 10), Suffix: suffix(t)}
}

func suffix(t Scalar) string {
	switch t {
	case U32:
		return "u"
	case I32:
		return "i"
	}
	return ""
}

// harmless reports whether an expression has no effect, so that it can be dropped or repeated.
func harmless(e Expr) bool {
	ok := true
	Walk(e, func(x Expr) {
		if call, is := x.(*Call); is && (call.Func != nil || !pure(call.Name)) {
			ok = false
		}
	})
	return ok
}

// Walk calls visit for e and every expression in it, outer ones first.
func Walk(e Expr, visit func(Expr)) {
	visit(e)
	for _, x := range Children(e) {
		Walk(x, visit)
	}
}

// Children returns the expressions that e is made of, in the order in which they are evaluated.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Unary:
		return []Expr{e.X}
	case *Binary:
		return []Expr{e.X, e.Y}
	case *Index:
		return []Expr{e.X, e.I}
	case *Member:
		return []Expr{e.X}
	case *Call:
		return e.Args
	case *Construct:
		return e.Args
	case *Bitcast:
		return []Expr{e.X}
	}
	return nil
}
