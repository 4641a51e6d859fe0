package randomwgsl

import (
	"fmt"
	"strings"
)

// literal returns a constant of a scalar or vector.
func (g *generator) literal(k *kind) expr {
	for _, c := range g.constants {
		if c.kind.scalar == k.scalar && c.kind.width == k.width && g.chance(30) {
			return expr{text: c.name, constant: true, size: tame(k.scalar)}
		}
	}
	if k.width == 1 {
		return expr{text: g.number(k.scalar), constant: true, size: tame(k.scalar)}
	}
	if g.chance(30) {
		return expr{text: fmt.Sprintf("%s(%s)", k, g.number(k.scalar)), constant: true, size: tame(k.scalar)}
	}
	var parts []string
	for range k.width {
		parts = append(parts, g.number(k.scalar))
	}
	return expr{text: fmt.Sprintf("%s(%s)", k, strings.Join(parts, ", ")), constant: true, size: tame(k.scalar)}
}

// number returns a literal of a scalar type, of floats a whole one.
func (g *generator) number(scalar string) string {
	switch n := g.r.IntN(32); scalar {
	case "bool":
		return pick(g, "true", "false")
	case "f16":
		return fmt.Sprintf("%d.0h", n%tame16)
	case "f32":
		return fmt.Sprintf(pick(g, "%d.0", "%d.0f", "%df"), n)
	case "u32":
		if g.chance(30) {
			return fmt.Sprintf("0x%xu", g.r.Uint32()>>g.r.IntN(32))
		}
		return fmt.Sprintf("%du", n)
	default:
		if g.chance(20) {
			return pick(g, "2147483647i", "i32(-2147483648)", "(-1i)", "0x7fi", "65535i")
		}
		return fmt.Sprintf(pick(g, "%di", "(-%di)", "%d"), n)
	}
}

// leaf returns a value without operators: most often a variable's.
func (g *generator) leaf(k *kind) expr {
	if g.chance(20) {
		return g.literal(k)
	}
	if t := g.table; t != nil && *t.kind.elem == *k && g.chance(30) {
		index := g.unary(g.runtime(plain("u32", 1))) // a literal would make it a constant
		return expr{text: fmt.Sprintf("%s[%s %% %du]", t.name, index, t.kind.length), size: tame(k.scalar)}
	}
	return g.runtime(k)
}

// runtime returns the value of a variable, or a part of one, or of the program's input.
func (g *generator) runtime(k *kind) expr {
	for _, v := range g.visible(func(v *variable) bool { return g.only == nil || v == g.only }) {
		for range 2 {
			if text, ok := g.walk(v.name, v.kind, k, false); ok {
				return expr{text: text, size: tame(k.scalar)}
			}
		}
	}
	word := func() string { return fmt.Sprintf("input[%d]", g.r.IntN(64)) }
	var parts []string
	for range k.width {
		w := word()
		switch k.scalar {
		case "i32":
			w = fmt.Sprintf("i32(%s)", w)
		case "bool":
			w = fmt.Sprintf("((%s & 1u) == 0u)", w)
		case "f32", "f16":
			w = fmt.Sprintf("%s(%s & 15u)", k.scalar, w)
		}
		parts = append(parts, w)
	}
	if k.width == 1 {
		return expr{text: parts[0], size: tame(k.scalar)}
	}
	return expr{text: fmt.Sprintf("%s(%s)", k, strings.Join(parts, ", ")), size: tame(k.scalar)}
}

// walk goes at random from a variable to a part of the wanted kind. A place to write to is no swizzle.
func (g *generator) walk(text string, from, to *kind, place bool) (string, bool) {
	switch {
	case from.elem != nil:
		return g.walk(fmt.Sprintf("%s[%s]", text, g.index(from.length)), from.elem, to, place)
	case from.record != nil:
		f := pick(g, from.record.fields...)
		return g.walk(text+"."+f.name, f.kind, to, place)
	case from.scalar != to.scalar:
		return "", false
	case !place && from.width > 1 && g.chance(10): // a swizzle of a swizzle
		wide := plain(from.scalar, 2+g.r.IntN(3))
		return g.walk(text+"."+g.swizzle(from.width, wide.width), wide, to, place)
	case from.width == to.width && (from.width == 1 || place || g.chance(70)):
		return text, true
	case from.width == 1 || place && to.width > 1:
		return "", false
	case to.width == 1 && g.chance(30):
		return fmt.Sprintf("%s[%s]", text, g.index(from.width)), true
	}
	return text + "." + g.swizzle(from.width, to.width), true
}

// swizzle returns n letters for components of a vector.
func (g *generator) swizzle(width, n int) string {
	letters, text := pick(g, "xyzw", "xyzw", "rgba"), ""
	for range n {
		c := g.r.IntN(width)
		text += letters[c : c+1]
	}
	return text
}

// index returns an index below n: a literal, or a value brought into range.
func (g *generator) index(n int) string {
	if g.chance(40) || g.depth > 3 {
		return fmt.Sprintf(pick(g, "%d", "%du"), g.r.IntN(n))
	}
	g.depth += 2
	defer func() { g.depth -= 2 }()
	if n&(n-1) == 0 && g.chance(50) {
		scalar := pick(g, "i32", "u32")
		return fmt.Sprintf("(%s & %d)", g.value(plain(scalar, 1), 1).text, n-1)
	}
	return fmt.Sprintf("%s %% %du", g.unary(g.value(plain("u32", 1), 1)), n)
}

// unary returns an expression that may stand beside an operator.
func (g *generator) unary(e expr) string {
	if strings.ContainsAny(e.text, " ") && !enclosed(e.text) {
		return "(" + e.text + ")"
	}
	return e.text
}

// enclosed reports whether a text is one call, index or pair of parentheses, so that no operator stands open in it.
func enclosed(text string) bool {
	depth := 0
	for _, r := range text {
		switch {
		case r == '(' || r == '[':
			depth++
		case r == ')' || r == ']':
			depth--
		case r == ' ' && depth == 0:
			return false
		}
	}
	return true
}
