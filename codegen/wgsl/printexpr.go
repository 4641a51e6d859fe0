package wgsl

import (
	"slices"
	"strings"
)

// FormatExpr prints an expression with the fewest parentheses that the grammar of WGSL allows.
func FormatExpr(e Expr) string {
	var b strings.Builder
	writeExpr(&b, e)
	return b.String()
}

func writeExpr(b *strings.Builder, e Expr) {
	switch e := e.(type) {
	case *Ident:
		b.WriteString(e.Name)
	case *Literal:
		writeLiteral(b, e)
	case *Unary:
		b.WriteString(e.Op)
		inner, unary := e.X.(*Unary)
		_, binary := e.X.(*Binary)
		joins := unary && inner.Op == e.Op && (e.Op == "-" || e.Op == "&") // -- and && are other tokens
		writeParenthesised(b, e.X, binary || joins)
	case *Binary:
		writeParenthesised(b, e.X, !operand(e.Op, e.X, false))
		b.WriteString(" " + e.Op + " ")
		writeParenthesised(b, e.Y, !operand(e.Op, e.Y, true))
	case *Index:
		writeParenthesised(b, e.X, loose(e.X))
		b.WriteByte('[')
		writeExpr(b, e.I)
		b.WriteByte(']')
	case *Member:
		writeParenthesised(b, e.X, loose(e.X))
		b.WriteString("." + e.Name)
	case *Call:
		b.WriteString(e.Name)
		writeArgs(b, e.Args)
	case *Construct:
		b.WriteString(e.Written)
		writeArgs(b, e.Args)
	case *Bitcast:
		b.WriteString("bitcast<" + e.To.String() + ">")
		writeArgs(b, []Expr{e.X})
	}
}

func writeLiteral(b *strings.Builder, e *Literal) {
	switch {
	case e.Value.Kind == FloatValue && strings.ContainsAny(e.Text, ".eEpP") || e.Suffix == "f" || e.Suffix == "h":
		t, _ := e.Type.(Scalar)
		b.WriteString(floatText(e.Value.Float, t))
	default:
		b.WriteString(e.Text)
	}
	b.WriteString(e.Suffix)
}

// writeArgs prints arguments. A comparison with < is put in parentheses where a > comes after it, in the same list: the two would read as
// a template list.
func writeArgs(b *strings.Builder, args []Expr) {
	b.WriteByte('(')
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		list := hasBare(a, "<") && slices.ContainsFunc(args[i+1:], func(later Expr) bool { return hasBare(later, ">", ">>", ">=") })
		writeParenthesised(b, a, list)
	}
	b.WriteByte(')')
}

// hasBare reports whether an expression prints one of some operators outside of brackets.
func hasBare(e Expr, ops ...string) bool {
	switch e := e.(type) {
	case *Unary:
		_, binary := e.X.(*Binary)
		return !binary && hasBare(e.X, ops...)
	case *Binary:
		return slices.Contains(ops, e.Op) || operand(e.Op, e.X, false) && hasBare(e.X, ops...) || operand(e.Op, e.Y, true) && hasBare(e.Y, ops...)
	}
	return false
}

func writeParenthesised(b *strings.Builder, e Expr, needed bool) {
	if needed {
		b.WriteByte('(')
	}
	writeExpr(b, e)
	if needed {
		b.WriteByte(')')
	}
}

// loose reports whether an expression binds less tightly than [ ] and a point.
func loose(e Expr) bool {
	switch e.(type) {
	case *Binary, *Unary, *Literal: // the point would join a number
		return true
	}
	return false
}

// operand reports whether the grammar lets x be an operand of op as it is.
func operand(op string, x Expr, right bool) bool {
	inner, ok := x.(*Binary)
	if !ok {
		return true
	}
	in, out := level(inner.Op), level(op)
	switch out {
	case bitwiseLevel:
		return !right && inner.Op == op
	case logicalLevel:
		return !right && inner.Op == op || in >= relationalLevel
	case relationalLevel:
		return in >= shiftLevel
	case shiftLevel:
		return false
	case additiveLevel, multiplicativeLevel:
		return in > out && in >= additiveLevel || !right && in == out
	}
	return false
}
