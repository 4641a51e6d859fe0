package sim

import (
	"math"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// call compiles a call of a function of the module or a built-in one. A function without a result gives no registers.
func (c *compiler) call(e *wgsl.Call, into []int) []int {
	switch {
	case e.Func != nil:
		return c.userCall(e)
	case strings.HasPrefix(e.Name, "atomic"):
		return c.atomic(e)
	case strings.HasPrefix(e.Name, "subgroup"), strings.HasPrefix(e.Name, "quad"):
		return c.subgroupCall(e)
	}
	switch e.Name {
	case "workgroupBarrier", "storageBarrier":
		c.barrier(e)
		return nil
	case "workgroupUniformLoad":
		return c.uniformLoad(e)
	case "arrayLength":
		return c.lengthOf(e)
	}
	v := c.several(e.Args...)
	t := e.Args[0].Expression().Type
	switch e.Name {
	case "select":
		return c.selects(v, into)
	case "all", "any":
		return c.reduce(map[string]string{"all": "&", "any": "|"}[e.Name], e.Pos, wgsl.U32, v[0])
	case "dot", "cross", "length", "distance", "normalize", "reflect", "refract", "faceForward":
		return c.geometry(e, v)
	case "modf", "frexp":
		return c.splits(e, v[0])
	}
	if width, code := packer(e.Name); width > 0 {
		return c.packs(e, v[0], code)
	}
	if width, f := unpacker(e.Name); width > 0 {
		return c.unpacks(e.Name, v[0][0], width, f, into)
	}
	return c.components(e, component(t), v, into)
}

// userCall compiles a function's body in the place of its call.
func (c *compiler) userCall(e *wgsl.Call) []int {
	if c.depth++; c.depth > 64 {
		c.fail(e.Pos, "calls are nested too deep to be simulated")
	}
	args := make([]any, len(e.Args))
	for i, x := range e.Args {
		if _, pointer := x.Expression().Type.(wgsl.Pointer); pointer {
			args[i] = c.ref(x)
		} else {
			args[i] = held(c.copyOf(c.expr(x, nil)))
		}
	}
	var result []int
	if e.Func.Result != nil {
		result = c.take(len(parts(e.Func.Result)), nil)
	}
	for i, p := range e.Func.Params {
		c.env[p] = args[i]
	}
	saved, leave, again := c.frame, c.leave, c.again
	c.frame, c.leave, c.again = frame{function{of: e.Func}, result}, -1, -1
	inside := c.mask()
	body := c.list(func() { c.block(e.Func.Body) })
	c.ended(c.frame.function)
	c.frame, c.leave, c.again = saved, leave, again
	c.depth--
	c.emit(func(m *machine, a *lanes) {
		l := &m.masks[inside]
		l.copy(a)
		m.run(body, l)
		if m.ended {
			a.clear()
		}
	})
	return result
}

// components compiles the functions that work on each component.
func (c *compiler) components(e *wgsl.Call, s wgsl.Scalar, v [][]int, into []int) []int {
	n := 0
	for _, x := range v {
		n = max(n, len(x))
	}
	loop := builtinLoop(e.Name, s, len(v))
	if loop == nil {
		c.fail(e.Pos, "%s is not simulated", e.Name)
	}
	out := c.take(n, into)
	at := c.site(e.Pos, e.Name)
	watched := isFloat(component(e.Type))
	for i := range n {
		d := out[i]
		var operands []int
		for _, x := range v {
			operands = append(operands, x[i%len(x)])
		}
		floats := operands
		if e.Name == "ldexp" { // of a float and an integer
			floats = operands[:1]
		}
		c.emit(func(m *machine, a *lanes) {
			if loop(m, a, d, operands) || m.made.taint {
				if watched {
					m.judge(a, at, d, floats...)
				} else if isFloat(s) {
					m.uses(a, at, operands...)
				}
			}
		})
	}
	return out
}

// loopOf computes one register of others and returns whether some result is an infinity or NaN.
type loopOf func(m *machine, a *lanes, d int, x []int) bool

// builtinLoop returns the loop of a function that works on each component; nil for a name that is none.
func builtinLoop(name string, s wgsl.Scalar, arguments int) loopOf {
	half, float, signed := s == wgsl.F16, isFloat(s), s == wgsl.I32
	switch {
	case name == "fma" && s == wgsl.F32:
		return func(m *machine, a *lanes, d int, x []int) bool {
			return fmaLoop(m.regs[d][a.lo:a.hi], m.regs[x[0]][a.lo:a.hi], m.regs[x[1]][a.lo:a.hi], m.regs[x[2]][a.lo:a.hi])
		}
	case name == "dot4I8Packed":
		return loop2(dot4Signed)
	case name == "dot4U8Packed":
		return loop2(dot4Unsigned)
	case name == "ldexp":
		return loop2(func(x, n uint32) uint32 { return ldexp(x, n, half) })
	case name == "insertBits":
		return loop4(insertBits)
	case name == "extractBits":
		return loop3(extractBits(signed))
	case arguments == 1 && float:
		return loop1(floatUnary(name, half))
	case arguments == 1:
		return loop1(integerUnary(name, signed))
	case arguments == 2 && float:
		return loop2(floatBinary(name, half))
	case arguments == 2:
		return loop2(integerBinary(name, signed))
	case arguments == 3 && float:
		return loop3(floatTernary(name, half))
	case name == "clamp":
		return loop3(clampInteger(signed))
	}
	return nil
}

func loop1(f func(uint32) uint32) loopOf {
	if f == nil {
		return nil
	}
	return func(m *machine, a *lanes, d int, x []int) bool {
		to, from := m.regs[d][a.lo:a.hi], m.regs[x[0]][a.lo:a.hi]
		bad := false
		for i := range to {
			to[i] = f(from[i])
			bad = bad || !finite(to[i])
		}
		return bad
	}
}

func loop2(f func(a, b uint32) uint32) loopOf {
	if f == nil {
		return nil
	}
	w := watched2(f)
	return func(m *machine, a *lanes, d int, x []int) bool {
		return w(m.regs[d][a.lo:a.hi], m.regs[x[0]][a.lo:a.hi], m.regs[x[1]][a.lo:a.hi])
	}
}

func loop3(f func(a, b, c uint32) uint32) loopOf {
	if f == nil {
		return nil
	}
	return func(m *machine, a *lanes, d int, x []int) bool {
		bad := false
		for i := a.lo; i < a.hi; i++ {
			r := f(m.regs[x[0]][i], m.regs[x[1]][i], m.regs[x[2]][i])
			m.regs[d][i] = r
			bad = bad || !finite(r)
		}
		return bad
	}
}

func loop4(f func(a, b, c, d uint32) uint32) loopOf {
	return func(m *machine, a *lanes, d int, x []int) bool {
		for i := a.lo; i < a.hi; i++ {
			m.regs[d][i] = f(m.regs[x[0]][i], m.regs[x[1]][i], m.regs[x[2]][i], m.regs[x[3]][i])
		}
		return false
	}
}

// selects is select(f, t, condition).
func (c *compiler) selects(v [][]int, into []int) []int {
	out := c.take(len(v[0]), into)
	for i, d := range out {
		no, yes, cond := v[0][i], v[1][i], v[2][i%len(v[2])]
		c.emit(func(m *machine, a *lanes) {
			to, f, t, q := m.regs[d][a.lo:a.hi], m.regs[no][a.lo:a.hi], m.regs[yes][a.lo:a.hi], m.regs[cond][a.lo:a.hi]
			for i := range to {
				if q[i] != 0 {
					to[i] = t[i]
				} else {
					to[i] = f[i]
				}
			}
			if m.made.taint {
				m.gathered(a, d, func(i int) int {
					if m.regs[cond][i] != 0 {
						return yes
					}
					return no
				})
			}
		})
	}
	return out
}

// reduce emits x[0] op x[1] op ... from left to right.
func (c *compiler) reduce(op string, pos wgsl.Pos, s wgsl.Scalar, x []int) []int {
	sum := x[:1]
	for _, next := range x[1:] {
		sum = c.arithmetic(op, pos, s, s, sum, []int{next}, s, nil)
	}
	return sum
}

// packs is the functions that pack a vector into a word, which an infinity or NaN would be lost in.
func (c *compiler) packs(e *wgsl.Call, x []int, code func(uint32) uint32) []int {
	out := c.slot()
	at := c.site(e.Pos, e.Name)
	width := 32 / len(x)
	mask := uint32(1<<width - 1)
	floats, halves := isFloat(component(e.Args[0].Expression().Type)), e.Name == "pack2x16float"
	c.emit(func(m *machine, a *lanes) {
		if floats {
			m.uses(a, at, x...)
		}
		to := m.regs[out]
		for i := a.lo; i < a.hi; i++ {
			word := uint32(0)
			for j, s := range x {
				bits := code(m.regs[s][i]) & mask
				if halves && bits&0x7c00 == 0x7c00 && finite(m.regs[s][i]) && a.has(i) {
					m.report(NaN, at, "", -1, func() string { return "a value too large for f16 is packed as an infinity" }, i)
				}
				word |= bits << (j * width)
			}
			to[i] = word
		}
	})
	return []int{out}
}

func (c *compiler) unpacks(name string, x, width int, f func(uint32) uint32, into []int) []int {
	out := c.take(width, into)
	bits := 32 / width
	mask := uint32(1<<bits - 1)
	for j, d := range out {
		shift := j * bits
		switch name {
		case "unpack4xU8": // the common ones without a call for each
			c.each1(func(d, x []uint32) {
				x = x[:len(d)]
				for i := range d {
					d[i] = x[i] >> shift & 0xff
				}
			}, d, x)
		case "unpack2x16float":
			c.each1(func(d, x []uint32) {
				x = x[:len(d)]
				for i := range d {
					d[i] = math.Float32bits(halfFloat(uint16(x[i] >> shift)))
				}
			}, d, x)
		default:
			c.each1(eachOf1(func(x uint32) uint32 { return f(x >> shift & mask) }), d, x)
		}
	}
	if name == "unpack2x16float" { // the others have no infinities
		c.emit(func(m *machine, a *lanes) { m.given(a, out) })
	}
	return out
}

// splits is modf and frexp, whose results are structs: of fractions, then whole parts or exponents.
func (c *compiler) splits(e *wgsl.Call, x []int) []int {
	out := c.take(2*len(x), nil)
	f := modf
	if e.Name == "frexp" {
		f = frexp
	}
	at := c.site(e.Pos, e.Name)
	for j, s := range x {
		first, second := out[j], out[len(x)+j]
		c.emit(func(m *machine, a *lanes) {
			m.uses(a, at, s)
			for i := a.lo; i < a.hi; i++ {
				m.regs[first][i], m.regs[second][i] = f(m.regs[s][i])
			}
			m.given(a, []int{first, second})
		})
	}
	return out
}

// lengthOf is arrayLength(&array).
func (c *compiler) lengthOf(e *wgsl.Call) []int {
	r := c.ref(e.Args[0])
	out := c.slot()
	c.emit(func(m *machine, a *lanes) { fill(m.regs[out][a.lo:a.hi], m.arrayLength(r)) })
	return []int{out}
}
