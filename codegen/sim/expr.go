package sim

import (
	"math"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// exprTo computes an expression into registers.
func (c *compiler) exprTo(e wgsl.Expr, into []int) {
	c.moveTo(into, c.expr(e, into))
}

func (c *compiler) moveTo(to, from []int) {
	for i, s := range from {
		if d := to[i]; s != d {
			c.emit(func(m *machine, a *lanes) {
				copy(m.regs[d][a.lo:a.hi], m.regs[s][a.lo:a.hi])
				if m.made.taint {
					m.moved(a, d, s)
				}
			})
		}
	}
}

// copyOf returns registers that keep a value whatever happens to the variable that it was read from.
func (c *compiler) copyOf(slots []int) []int {
	to := c.take(len(slots), nil)
	c.moveTo(to, slots)
	return to
}

// expr emits what computes an expression and returns the registers of its scalars. It may write into the registers given, and
// may return those of a variable, a let or a constant: callers don't write to them.
func (c *compiler) expr(e wgsl.Expr, into []int) []int {
	info := e.Expression()
	if s, ok := info.Type.(wgsl.Scalar); ok && info.Value.Kind != wgsl.NoValue {
		return []int{c.constant(bitsOf(info.Value, s))}
	}
	switch e := e.(type) {
	case *wgsl.Ident:
		return c.ident(e, into)
	case *wgsl.Unary:
		return c.unary(e, into)
	case *wgsl.Binary:
		return c.binary(e, into)
	case *wgsl.Index:
		if !c.isRef(e.X) {
			return c.indexValue(e, into)
		}
		return c.load(c.ref(e), into, e.Pos)
	case *wgsl.Member:
		return c.memberValue(e, into)
	case *wgsl.Call:
		return c.call(e, into)
	case *wgsl.Construct:
		return c.construct(e, into)
	case *wgsl.Bitcast:
		return c.bitcast(e, into)
	}
	c.fail(info.Pos, "%s is not simulated", wgsl.FormatExpr(e))
	return nil
}

// bitsOf returns a constant as a register holds it.
func bitsOf(v wgsl.Value, t wgsl.Scalar) uint32 {
	switch {
	case v.Kind == wgsl.FloatValue:
		return math.Float32bits(float32(v.Float))
	case v.Kind == wgsl.IntValue && (isFloat(t) || t == wgsl.AbstractFloat):
		return math.Float32bits(float32(v.Int))
	}
	return uint32(v.Int)
}

func (c *compiler) ident(e *wgsl.Ident, into []int) []int {
	switch is := c.env[e.Symbol].(type) {
	case held:
		return is
	case ref:
		return c.load(is, into, e.Pos)
	case fixed:
		return []int{c.constant(uint32(is))}
	case *wgsl.Override:
		return c.override(is)
	case *wgsl.Declare:
		return c.constantValue(e, is, into)
	}
	c.fail(e.Pos, "%s is not known here", e.Name)
	return nil
}

// constantValue returns a const that is no scalar. One of an abstract type has here the type that its use asks for.
func (c *compiler) constantValue(e *wgsl.Ident, d *wgsl.Declare, into []int) []int {
	all := e.Symbol.Parts()
	want := parts(e.Type)
	if len(all) != len(want) {
		return c.expr(d.Init, into)
	}
	out := make([]int, len(all))
	for i, v := range all {
		if v.Kind == wgsl.NoValue {
			return c.expr(d.Init, into)
		}
		out[i] = c.constant(bitsOf(v, want[i].scalar))
	}
	return out
}

// several computes expressions from left to right. Values are kept where a call after them may change a variable: their registers may be
// the variable's, also those of vec2(x, y) or u32(x).
func (c *compiler) several(list ...wgsl.Expr) [][]int {
	out := make([][]int, len(list))
	for i, e := range list {
		out[i] = c.expr(e, nil)
		if slices.ContainsFunc(list[i+1:], hasCall) {
			out[i] = c.copyOf(out[i])
		}
	}
	return out
}

// hasCall reports whether an expression calls a function of the module.
func hasCall(e wgsl.Expr) bool {
	found := false
	wgsl.Walk(e, func(e wgsl.Expr) {
		if call, ok := e.(*wgsl.Call); ok && call.Func != nil {
			found = true
		}
	})
	return found
}

func (c *compiler) unary(e *wgsl.Unary, into []int) []int {
	if e.Op == "*" {
		return c.load(c.ref(e), into, e.Pos)
	}
	x := c.expr(e.X, nil)
	out := c.take(len(x), into)
	s := component(e.Type)
	for i := range x {
		f, d, from := unaryLoop(e.Op, s), out[i], x[i]
		c.emit(func(m *machine, a *lanes) {
			f(m.regs[d][a.lo:a.hi], m.regs[from][a.lo:a.hi])
			if m.made.taint {
				m.moved(a, d, from)
			}
		})
	}
	return out
}

// each1 emits a loop over the invocations for one register.
func (c *compiler) each1(f func(d, x []uint32), d, x int) {
	c.emit(func(m *machine, a *lanes) { f(m.regs[d][a.lo:a.hi], m.regs[x][a.lo:a.hi]) })
}

func (c *compiler) binary(e *wgsl.Binary, into []int) []int {
	if e.Op == "&&" || e.Op == "||" {
		return c.shortCircuit(e, into)
	}
	v := c.several(e.X, e.Y)
	return c.arithmetic(e.Op, e.Pos, e.X.Expression().Type, e.Y.Expression().Type, v[0], v[1], e.Type, into)
}

// arithmetic emits x op y; a scalar goes with each component of a vector.
func (c *compiler) arithmetic(op string, pos wgsl.Pos, tx, ty wgsl.Type, x, y []int, result wgsl.Type, into []int) []int {
	n := max(len(x), len(y))
	out := c.take(n, into)
	s := component(tx)
	at := c.site(pos, op)
	for i := range n {
		xi, yi, d := x[i%len(x)], y[i%len(y)], out[i]
		if isFloat(s) && strings.Contains("+-*/%", op) {
			f := floatLoop(op, s)
			c.emit(func(m *machine, a *lanes) {
				if f(m.regs[d][a.lo:a.hi], m.regs[xi][a.lo:a.hi], m.regs[yi][a.lo:a.hi]) || m.made.taint {
					m.judge(a, at, d, xi, yi)
				}
			})
			continue
		}
		f := binaryLoop(op, s)
		tested := isFloat(s)
		c.emit(func(m *machine, a *lanes) {
			if tested {
				m.uses(a, at, xi, yi)
			}
			f(m.regs[d][a.lo:a.hi], m.regs[xi][a.lo:a.hi], m.regs[yi][a.lo:a.hi])
		})
	}
	return out
}

// shortCircuit computes the right side where the left doesn't decide.
func (c *compiler) shortCircuit(e *wgsl.Binary, into []int) []int {
	x := c.expr(e.X, nil)[0]
	out := c.slot()
	c.moveTo([]int{out}, []int{x})
	yes, no := c.mask(), c.mask()
	var y int
	right := c.list(func() { y = c.expr(e.Y, nil)[0] })
	and := e.Op == "&&"
	c.emit(func(m *machine, a *lanes) {
		t, f := &m.masks[yes], &m.masks[no]
		split(a, t, f, m.regs[out])
		open := t
		if !and {
			open = f
		}
		m.run(right, open)
		if !open.empty() {
			open.move(m.regs[out], m.regs[y])
		}
	})
	return []int{out}
}

// indexValue is x[i] of a value.
func (c *compiler) indexValue(e *wgsl.Index, into []int) []int {
	x := c.expr(e.X, nil)
	elem, length := elementOf(e.X.Expression().Type)
	n := len(parts(elem))
	if v := e.I.Expression().Value; v.Kind == wgsl.IntValue && v.Int >= 0 && v.Int < int64(length) {
		return x[int(v.Int)*n:][:n]
	}
	index, sum := c.expr(e.I, nil)[0], c.slot()
	c.index(indexing{at: c.site(e.Pos, "index"), of: ref{name: wgsl.FormatExpr(e.X), dynamic: -1}, index: index, sum: sum, stride: uint32(n), length: uint32(length)})
	out := c.take(n, nil)
	c.emit(func(m *machine, a *lanes) {
		at := m.regs[sum]
		for j, d := range out {
			to := m.regs[d]
			for i := a.lo; i < a.hi; i++ {
				to[i] = m.regs[x[int(at[i])+j]][i]
			}
			if m.made.taint {
				m.gathered(a, d, func(i int) int { return x[int(at[i])+j] })
			}
		}
	})
	return out
}

// memberValue is x.name: of a place, the member is read; of a value, it is among the value's registers.
func (c *compiler) memberValue(e *wgsl.Member, into []int) []int {
	t := e.X.Expression().Type
	if p, ok := t.(wgsl.Pointer); ok {
		t = p.Elem
	}
	if s, ok := t.(*wgsl.Struct); ok {
		if c.isRef(e.X) {
			return c.load(c.ref(e), into, e.Pos)
		}
		x := c.expr(e.X, nil)
		n := memberNumber(s, e.Name)
		return x[partsBefore(s, n):][:len(parts(s.Members[n].Type))]
	}
	if c.isRef(e.X) && len(e.Name) == 1 {
		return c.load(c.ref(e), into, e.Pos)
	}
	var x []int
	if c.isRef(e.X) {
		x = c.load(c.ref(e.X), nil, e.Pos)
	} else {
		x = c.expr(e.X, nil)
	}
	var out []int
	for _, n := range components(e.Name) {
		out = append(out, x[n])
	}
	return out
}

func (c *compiler) construct(e *wgsl.Construct, into []int) []int {
	want := parts(e.Type)
	if len(want) == 0 {
		c.fail(e.Pos, "a value of type %s is too large to be simulated", e.Type)
	}
	if len(e.Args) == 0 {
		out := make([]int, len(want))
		for i := range out {
			out[i] = c.constant(0)
		}
		return out
	}
	var all []int
	for i, v := range c.several(e.Args...) {
		t := e.Args[i].Expression().Type
		if component(t) != wgsl.Bad && component(e.Type) != wgsl.Bad {
			v = c.convert(e.Pos, v, component(t), component(e.Type))
		}
		all = append(all, v...)
	}
	if len(all) == 1 && len(want) > 1 { // a vector of one value
		for len(all) < len(want) {
			all = append(all, all[0])
		}
	}
	return all
}

// convert gives scalars another type.
func (c *compiler) convert(pos wgsl.Pos, x []int, from, to wgsl.Scalar) []int {
	f := conversion(from, to)
	if f == nil {
		return x
	}
	at := c.site(pos, "conversion")
	out := c.take(len(x), nil)
	for i := range x {
		d, s := out[i], x[i]
		c.emit(func(m *machine, a *lanes) {
			if isFloat(from) && !isFloat(to) {
				m.uses(a, at, s)
			}
			f(m.regs[d][a.lo:a.hi], m.regs[s][a.lo:a.hi])
			switch { // what is too large for f16 becomes infinite
			case to == wgsl.F16 && isFloat(from):
				m.judge(a, at, d, s)
			case to == wgsl.F16:
				m.judge(a, at, d)
			}
		})
	}
	return out
}

// bitcast reinterprets bits. Values of f16 are held as f32 and go by their own bits. Who looks at the bits of a float uses it; an
// infinity that is written in bits is meant.
func (c *compiler) bitcast(e *wgsl.Bitcast, into []int) []int {
	x := c.expr(e.X, nil)
	from, to := component(e.X.Expression().Type), component(e.To)
	at := c.site(e.Pos, "bitcast")
	if isFloat(from) {
		c.emit(func(m *machine, a *lanes) { m.uses(a, at, x...) })
	}
	out := x
	switch {
	case to == wgsl.F16 && from != wgsl.F16:
		out = c.take(2*len(x), nil)
		for i, s := range x {
			c.each1(lowHalf, out[2*i], s)
			c.each1(highHalf, out[2*i+1], s)
		}
	case from == wgsl.F16 && to != wgsl.F16:
		out = c.take(len(x)/2, nil)
		for i, d := range out {
			c.joinHalves(d, x[2*i], x[2*i+1])
		}
	}
	if isFloat(to) {
		c.emit(func(m *machine, a *lanes) { m.given(a, out) })
	}
	return out
}

// joinHalves emits what makes a word of two f16.
func (c *compiler) joinHalves(d, low, high int) {
	c.emit(func(m *machine, a *lanes) {
		for k := a.lo; k < a.hi; k++ {
			m.regs[d][k] = uint32(halfBits(math.Float32frombits(m.regs[low][k]))) | uint32(halfBits(math.Float32frombits(m.regs[high][k])))<<16
		}
	})
}
