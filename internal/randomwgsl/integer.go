package randomwgsl

import "fmt"

// value returns an expression of a scalar or vector with at most depth operators above each other.
func (g *generator) value(k *kind, depth int) expr {
	if depth <= 0 || g.chance(15) {
		return g.leaf(k)
	}
	if k.width > 1 && g.chance(25) {
		return g.vector(k, depth)
	}
	if g.chance(8) {
		if text, ok := g.called(k); ok {
			return expr{text: text, size: tame(k.scalar)}
		}
	}
	if g.chance(8) {
		return g.choice(k, depth)
	}
	switch k.scalar {
	case "bool":
		return g.condition(k, depth)
	case "f32", "f16":
		return g.float(k, depth)
	}
	return g.integer(k, depth)
}

// operands returns n expressions that are not all constants, so that no compiler evaluates what it may refuse then.
func (g *generator) operands(k *kind, depth, n int) []expr {
	var list []expr
	constant := true
	for range n {
		e := g.value(k, depth-1)
		constant = constant && e.constant
		list = append(list, e)
	}
	if constant {
		list[g.r.IntN(n)] = g.runtime(k)
	}
	return list
}

// vector makes a vector of its parts, or of a scalar.
func (g *generator) vector(k *kind, depth int) expr {
	if g.chance(25) {
		e := g.value(plain(k.scalar, 1), depth-1)
		e.text = fmt.Sprintf("%s(%s)", k, e.text)
		return e
	}
	out := expr{constant: true}
	var parts []expr
	for left := k.width; left > 0; {
		width := 1 + g.r.IntN(min(left, k.width-1))
		e := g.value(plain(k.scalar, width), depth-1)
		parts, left = append(parts, e), left-width
		out.constant = out.constant && e.constant
		out.size, out.fraction = max(out.size, e.size), max(out.fraction, e.fraction)
	}
	out.text = fmt.Sprintf("%s(%s)", k, joined(parts))
	if !exact(k.scalar, out) {
		return g.leaf(k)
	}
	return out
}

// choice is select, of scalars by a scalar, of vectors by either.
func (g *generator) choice(k *kind, depth int) expr {
	width := pick(g, 1, k.width)
	v := g.operands(k, depth, 2)
	c := g.operands(plain("bool", width), depth, 1)[0]
	out := expr{size: max(v[0].size, v[1].size), fraction: max(v[0].fraction, v[1].fraction)}
	out.text = fmt.Sprintf("select(%s, %s, %s)", v[0].text, v[1].text, c.text)
	if !exact(k.scalar, out) {
		return g.leaf(k)
	}
	return out
}

// integer returns an operator or function of i32 or u32.
func (g *generator) integer(k *kind, depth int) expr {
	text := ""
	signed := k.scalar == "i32"
	switch g.r.IntN(12) {
	default:
		v := g.operands(k, depth, 2)
		text = fmt.Sprintf("(%s %s %s)", v[0].text, pick(g, "+", "-", "*", "&", "|", "^"), v[1].text)
		if k.width > 1 && g.chance(20) { // a scalar beside a vector
			s := g.operands(plain(k.scalar, 1), depth, 1)[0]
			text = fmt.Sprintf("(%s %s %s)", s.text, pick(g, "+", "-", "*"), v[1].text)
		}
	case 3:
		v := g.operands(k, depth, 4)
		text = fmt.Sprintf("(%s %s %s * %s - %s)", v[0].text, pick(g, "+", "-"), v[1].text, v[2].text, v[3].text)
	case 4:
		text = g.division(k, depth)
	case 5:
		v, n := g.operands(k, depth, 1)[0], g.value(plain("u32", k.width), depth-1)
		text = fmt.Sprintf("(%s %s (%s & %s))", v.text, pick(g, "<<", ">>"), n.text, splat(plain("u32", k.width), "31u"))
	case 6:
		v := g.operands(k, depth, 1)[0]
		text = "(~" + v.text + ")"
		if signed && g.chance(60) {
			text = "(-" + g.unary(v) + ")"
		}
	case 7:
		names := []string{"abs", "countLeadingZeros", "countOneBits", "countTrailingZeros", "firstLeadingBit", "firstTrailingBit", "reverseBits"}
		if signed {
			names = append(names, "sign")
		}
		text = fmt.Sprintf("%s(%s)", pick(g, names...), g.operands(k, depth, 1)[0].text)
	case 8:
		text = g.fieldOrBounds(k, depth)
	case 9:
		text = g.packed(k, depth)
	case 10:
		text = g.converted(k, depth)
	}
	return expr{text: text}
}

// division divides by anything but a constant 0. The remainder of i32 is that of two positive numbers, as compilers differ over
// others.
func (g *generator) division(k *kind, depth int) string {
	v := g.operands(k, depth, 2)
	if v[1].constant {
		v[1].text = splat(k, pick(g, "3", "7", "1"))
	}
	if k.scalar == "i32" && g.chance(50) {
		mask := splat(k, pick(g, "1023", "2147483647"))
		return fmt.Sprintf("((%s & %s) %% ((%s & %s) + %s))", v[0].text, mask, v[1].text, splat(k, "15"), splat(k, "1"))
	}
	operator := "/"
	if k.scalar == "u32" {
		operator = pick(g, "/", "%")
	}
	return fmt.Sprintf("(%s %s %s)", v[0].text, operator, v[1].text)
}

// fieldOrBounds returns a function of several integers.
func (g *generator) fieldOrBounds(k *kind, depth int) string {
	v := g.operands(k, depth, 3)
	a, b, c := v[0].text, v[1].text, v[2].text
	switch g.r.IntN(4) {
	case 0:
		return fmt.Sprintf("%s(%s, %s)", pick(g, "min", "max"), a, b)
	case 1:
		return fmt.Sprintf("clamp(%s, min(%s, %s), max(%s, %s))", g.runtime(k).text, a, b, a, b)
	}
	n := g.operands(plain("u32", 1), depth, 2)
	place := fmt.Sprintf("(%s & 15u), (%s & 15u)", n[0].text, n[1].text)
	if g.chance(50) {
		return fmt.Sprintf("extractBits(%s, %s)", a, place)
	}
	return fmt.Sprintf("insertBits(%s, %s, %s)", a, c, place)
}

// packed returns a product of packed integers, or what packs and unpacks them.
func (g *generator) packed(k *kind, depth int) string {
	word := plain("u32", 1)
	switch {
	case k.width == 1 && g.chance(50):
		v := g.operands(word, depth, 2)
		name := "dot4U8Packed"
		if k.scalar == "i32" {
			name = "dot4I8Packed"
		}
		return fmt.Sprintf("%s(%s, %s)", name, v[0].text, v[1].text)
	case k.width == 1 && k.scalar == "u32":
		scalar, name := "i32", pick(g, "pack4xI8", "pack4xI8Clamp")
		if g.chance(50) {
			scalar, name = "u32", pick(g, "pack4xU8", "pack4xU8Clamp")
		}
		return fmt.Sprintf("%s(%s)", name, g.operands(plain(scalar, 4), depth, 1)[0].text)
	case k.width == 1:
		v := g.operands(plain(k.scalar, 2+g.r.IntN(3)), depth, 2)
		return fmt.Sprintf("dot(%s, %s)", v[0].text, v[1].text)
	case k.width == 4:
		name := "unpack4xI8"
		if k.scalar == "u32" {
			name = "unpack4xU8"
		}
		return fmt.Sprintf("%s(%s)", name, g.operands(word, depth, 1)[0].text)
	}
	return g.operands(k, depth, 1)[0].text
}

// converted returns a value of another type as an integer.
func (g *generator) converted(k *kind, depth int) string {
	other := "u32"
	if k.scalar == "u32" {
		other = "i32"
	}
	switch g.r.IntN(4) {
	case 0:
		return fmt.Sprintf("%s(%s)", k, g.operands(plain("bool", k.width), depth, 1)[0].text)
	case 1:
		float := pick(g, "f32", "f16")
		if !g.half {
			float = "f32"
		}
		f := g.operands(plain(float, k.width), depth, 1)[0].text
		if k.scalar == "u32" {
			f = fmt.Sprintf("abs(%s)", f)
		}
		return fmt.Sprintf("%s(%s)", k, f)
	case 2:
		return fmt.Sprintf("bitcast<%s>(%s)", k, g.operands(plain(other, k.width), depth, 1)[0].text)
	}
	return fmt.Sprintf("%s(%s)", k, g.operands(plain(other, k.width), depth, 1)[0].text)
}
