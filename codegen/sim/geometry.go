package sim

import (
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// geometry compiles the functions of whole vectors, out of operators, as WGSL defines them.
func (c *compiler) geometry(e *wgsl.Call, v [][]int) []int {
	t := e.Args[0].Expression().Type
	s := component(t)
	do := func(op string, x, y []int) []int { return c.arithmetic(op, e.Pos, s, s, x, y, s, nil) }
	each := func(name string, x ...[]int) []int {
		return c.components(&wgsl.Call{Info: wgsl.Info{Pos: e.Pos, Type: s}, Name: name}, s, x, nil)
	}
	dot := func(x, y []int) []int { return c.reduce("+", e.Pos, s, do("*", x, y)) }
	switch e.Name {
	case "dot":
		return dot(v[0], v[1])
	case "cross":
		turn := func(x []int, by int) []int { return []int{x[by%3], x[(by+1)%3], x[(by+2)%3]} }
		a, b := v[0], v[1]
		return do("-", do("*", turn(a, 1), turn(b, 2)), do("*", turn(a, 2), turn(b, 1)))
	case "length":
		if len(v[0]) == 1 {
			return each("abs", v[0])
		}
		return each("sqrt", dot(v[0], v[0]))
	case "distance":
		d := do("-", v[0], v[1])
		if len(d) == 1 {
			return each("abs", d)
		}
		return each("sqrt", dot(d, d))
	case "normalize":
		return do("/", v[0], each("sqrt", dot(v[0], v[0])))
	case "reflect": // x - 2·(n·x)·n
		twice := do("*", []int{c.constant(bitsOf(wgsl.Value{Kind: wgsl.FloatValue, Float: 2}, s))}, dot(v[1], v[0]))
		return do("-", v[0], do("*", twice, v[1]))
	case "refract":
		return c.refract(e, s, v)
	case "faceForward": // x where n·y < 0, else -x
		return c.selects([][]int{each("negate", v[0]), v[0], {c.below(dot(v[1], v[2])[0], c.constant(0), s)}}, nil)
	}
	c.fail(e.Pos, "%s is not simulated", e.Name)
	return nil
}

// below returns the register of x < y.
func (c *compiler) below(x, y int, s wgsl.Scalar) int {
	cond, f := c.slot(), binaryLoop("<", s)
	c.emit(func(m *machine, a *lanes) {
		f(m.regs[cond][a.lo:a.hi], m.regs[x][a.lo:a.hi], m.regs[y][a.lo:a.hi])
	})
	return cond
}

// refract compiles r·x - (r·(n·x) + √k)·n with k = 1 - r²·(1 - (n·x)²), and 0 where k < 0.
func (c *compiler) refract(e *wgsl.Call, s wgsl.Scalar, v [][]int) []int {
	do := func(op string, x, y []int) []int { return c.arithmetic(op, e.Pos, s, s, x, y, s, nil) }
	each := func(name string, x ...[]int) []int {
		return c.components(&wgsl.Call{Info: wgsl.Info{Pos: e.Pos, Type: s}, Name: name}, s, x, nil)
	}
	zero, one := []int{c.constant(0)}, []int{c.constant(floatOne)}
	x, n, ratio := v[0], v[1], v[2]
	along := c.reduce("+", e.Pos, s, do("*", n, x))
	k := do("-", one, do("*", do("*", ratio, ratio), do("-", one, do("*", along, along))))
	root := each("sqrt", each("max", k, zero)) // of a number below 0 it would be a NaN
	bent := do("-", do("*", ratio, x), do("*", do("+", do("*", ratio, along), root), n))
	none := slices.Repeat(zero, len(bent))
	return c.selects([][]int{bent, none, {c.below(k[0], zero[0], s)}}, nil)
}
