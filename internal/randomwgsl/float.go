package randomwgsl

import (
	"fmt"
	"math"
)

// float returns an operator or function of floats whose value the type holds exactly, and every product and sum within.
func (g *generator) float(k *kind, depth int) expr {
	v := g.operands(k, depth, 3)
	if v[0].constant {
		v[0] = g.runtime(k) // every function below uses it, so that its value is no constant
	}
	a, b, c := v[0], v[1], v[2]
	if g.chance(15) {
		b = expr{text: splat(k, pick(g, "0.5", "0.25", "2.0")), size: 2, fraction: 2}
	}
	sum := func(x, y expr) expr { return expr{size: x.size + y.size, fraction: max(x.fraction, y.fraction)} }
	product := func(x, y expr) expr { return expr{size: x.size * y.size, fraction: x.fraction + y.fraction} }
	var out expr
	switch g.r.IntN(9) {
	case 0, 1:
		out = sum(a, b)
		out.text = fmt.Sprintf("(%s %s %s)", a.text, pick(g, "+", "-"), b.text)
	case 2:
		out = product(a, b)
		out.text = fmt.Sprintf("(%s * %s)", a.text, b.text)
	case 3:
		out = sum(product(a, b), c)
		out.text = fmt.Sprintf(pick(g, "fma(%s, %s, %s)", "(%s * %s + %s)", "(%s * %s - %s)"), a.text, b.text, c.text)
	case 4:
		out = sum(a, b)
		out.size = max(a.size, b.size)
		out.text = fmt.Sprintf("%s(%s, %s)", pick(g, "min", "max"), a.text, b.text)
	case 5:
		out = g.rounded(k, a)
	case 6:
		out = g.fromInteger(k, depth)
	case 7:
		out = g.stepped(k, a, b)
	default:
		if out = g.otherFloat(k, depth); out.text == "" {
			return a
		}
	}
	if !exact(k.scalar, out) || out.fraction > 12 {
		return g.leaf(k)
	}
	return out
}

// rounded returns a function of one float.
func (g *generator) rounded(k *kind, a expr) expr {
	name := pick(g, "-", "abs", "sign", "floor", "ceil", "round", "trunc", "fract", "saturate", "whole")
	out := expr{text: fmt.Sprintf("%s(%s)", name, a.text), size: a.size, fraction: a.fraction}
	switch name {
	case "-":
		out.text = fmt.Sprintf("(-%s)", g.unary(a))
	case "whole":
		out.text = fmt.Sprintf("modf(%s).whole", a.text)
		out.fraction = 0
	case "floor", "ceil", "round", "trunc":
		out.size, out.fraction = a.size+1, 0
	case "sign":
		out.size, out.fraction = 1, 0
	case "fract", "saturate":
		out.size = 1
	}
	return out
}

func (g *generator) fromInteger(k *kind, depth int) expr {
	scalar := pick(g, "i32", "u32")
	mask := int(tame(k.scalar)) / 2
	mask = 1<<int(math.Log2(float64(mask))) - 1
	if g.chance(20) {
		return expr{text: fmt.Sprintf("%s(%s)", k, g.operands(plain("bool", k.width), depth, 1)[0].text), size: 1}
	}
	integers := plain(scalar, k.width)
	text := g.operands(integers, depth, 1)[0].text
	return expr{text: fmt.Sprintf("%s(%s & %s)", k, text, splat(integers, fmt.Sprint(mask))), size: float64(mask)}
}

// stepped returns functions that choose between floats.
func (g *generator) stepped(k *kind, a, b expr) expr {
	if g.chance(30) {
		return expr{text: fmt.Sprintf("step(%s, %s)", a.text, b.text), size: 1}
	}
	low, high := -g.r.IntN(tame16), g.r.IntN(tame16)
	text := fmt.Sprintf("clamp(%s, %s, %s)", a.text, splat(k, fmt.Sprintf("%d.0", low)), splat(k, fmt.Sprintf("%d.0", high)))
	return expr{text: text, size: tame16, fraction: a.fraction}
}

// otherFloat returns a float made of others of another shape.
func (g *generator) otherFloat(k *kind, depth int) expr {
	switch {
	case k.width == 1 && g.chance(50):
		width := 2 + g.r.IntN(3)
		v := g.operands(plain(k.scalar, width), depth, 2)
		return expr{
			text: fmt.Sprintf("dot(%s, %s)", v[0].text, v[1].text),
			size: float64(width) * v[0].size * v[1].size, fraction: v[0].fraction + v[1].fraction,
		}
	case g.half && g.chance(50):
		other := "f16"
		if k.scalar == "f16" {
			other = "f32"
		}
		e := g.operands(plain(other, k.width), depth, 1)[0]
		return expr{text: fmt.Sprintf("%s(%s)", k, e.text), size: e.size, fraction: e.fraction}
	case k.scalar == "f32" && k.width == 2:
		e := g.operands(k, depth, 1)[0]
		if exact("f16", e) {
			return expr{text: fmt.Sprintf("unpack2x16float(pack2x16float(%s))", e.text), size: e.size, fraction: e.fraction}
		}
	case k.scalar == "f32":
		e := g.operands(k, depth, 1)[0]
		if exact("f16", e) {
			return expr{text: fmt.Sprintf("quantizeToF16(%s)", e.text), size: e.size, fraction: e.fraction}
		}
	}
	return expr{}
}

// tamed returns a float brought to what variables hold, and any other value as it is.
func (g *generator) tamed(k *kind, e expr) string {
	limit := tame(k.scalar)
	if k.scalar != "f32" && k.scalar != "f16" || e.size <= limit && e.fraction == 0 {
		return e.text
	}
	bound := func(sign string) string { return splat(k, fmt.Sprintf("%s%d.0", sign, int(limit))) }
	return fmt.Sprintf("clamp(%s(%s), %s, %s)", pick(g, "floor", "trunc", "round"), e.text, bound("-"), bound(""))
}

// condition returns a bool or a vector of them.
func (g *generator) condition(k *kind, depth int) expr {
	switch g.r.IntN(6) {
	case 0:
		if k.width == 1 { // of a swizzle of a vector of false, SwiftShader makes false
			return expr{text: "(!" + g.unary(g.operands(k, depth, 1)[0]) + ")"}
		}
	case 1:
		v := g.operands(k, depth, 2)
		return expr{text: fmt.Sprintf("(%s %s %s)", v[0].text, pick(g, "&", "|", "==", "!="), v[1].text)}
	case 2:
		if k.width == 1 {
			v := g.operands(k, depth, 2)
			return expr{text: fmt.Sprintf("(%s %s %s)", v[0].text, pick(g, "&&", "||"), v[1].text)}
		}
	case 3:
		if k.width == 1 {
			v := g.operands(plain("bool", 2+g.r.IntN(3)), depth, 1)[0]
			return expr{text: fmt.Sprintf("%s(%s)", pick(g, "all", "any"), v.text)}
		}
	}
	scalar := g.scalar()
	if scalar == "bool" {
		scalar = "i32"
	}
	v := g.operands(plain(scalar, k.width), depth, 2)
	return expr{text: fmt.Sprintf("(%s %s %s)", v[0].text, pick(g, "<", "<=", ">", ">=", "==", "!="), v[1].text)}
}
