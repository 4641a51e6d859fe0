package sim

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// ref is a place in memory: a variable, or a part of one. Function and private variables lie in registers, where static and
// dynamic count scalars; in other spaces static counts bytes and dynamic units of 2 bytes, so that it reaches 8 GiB.
type ref struct {
	name    string // of the variable
	space   wgsl.Space
	root    int       // number of the binding
	whole   wgsl.Type // of the variable
	typ     wgsl.Type // of the place
	static  int
	dynamic int       // register to add; -1 for none
	vector  wgsl.Type // that the place is a component of, outside of registers; nil for none
	inner   bool      // the place is within an element
}

func (r ref) registers() bool {
	return r.space == wgsl.FunctionSpace || r.space == wgsl.PrivateSpace || r.space == wgsl.NoSpace
}

// reserve takes registers in a row for a variable.
func (c *compiler) reserve(pos wgsl.Pos, t wgsl.Type) int {
	n := len(parts(t))
	if n == 0 {
		c.fail(pos, "a variable of type %s is too large to be simulated", t)
	}
	return c.run(n)
}

// isRef reports whether an expression denotes a place, not a value.
func (c *compiler) isRef(e wgsl.Expr) bool {
	switch e := e.(type) {
	case *wgsl.Ident:
		_, ok := c.env[e.Symbol].(ref)
		return ok
	case *wgsl.Unary:
		return e.Op == "*"
	case *wgsl.Index:
		return c.isRef(e.X)
	case *wgsl.Member: // v.x is a place, v.xy a value
		return c.isRef(e.X) && (len(e.Name) == 1 || !c.isVector(e.X))
	}
	return false
}

// ref returns the place that an expression denotes, or points to.
func (c *compiler) ref(e wgsl.Expr) ref {
	switch e := e.(type) {
	case *wgsl.Ident:
		if r, ok := c.env[e.Symbol].(ref); ok {
			return r
		}
	case *wgsl.Unary:
		return c.ref(e.X) // &x and *p stand for the same place
	case *wgsl.Index:
		return c.element(c.ref(e.X), e)
	case *wgsl.Member:
		return c.member(c.ref(e.X), e.Name)
	}
	info := e.Expression()
	c.fail(info.Pos, "%s is no place in memory", wgsl.FormatExpr(e))
	return ref{}
}

// member returns a member of a struct, or a component of a vector.
func (c *compiler) member(r ref, name string) ref {
	s, ok := r.typ.(*wgsl.Struct)
	if !ok {
		v := r.typ.(wgsl.Vector)
		n := components(name)[0]
		if r.registers() {
			r.static += n
		} else {
			r.static += n * wgsl.SizeOf(v.Elem)
			r.vector = v
		}
		r.typ = v.Elem
		return r
	}
	n := memberNumber(s, name)
	if r.registers() {
		r.static += partsBefore(s, n)
	} else {
		r.static += s.Members[n].Offset
	}
	r.typ = s.Members[n].Type
	return r
}

// element returns an element of an array or vector.
func (c *compiler) element(r ref, e *wgsl.Index) ref {
	elem, length := elementOf(r.typ)
	stride, unit := len(parts(elem)), 1
	if !r.registers() {
		stride, unit = wgsl.Stride(elem), 2
		if v, ok := r.typ.(wgsl.Vector); ok {
			stride = wgsl.SizeOf(v.Elem)
			r.vector = v
		}
	}
	if v := e.I.Expression().Value; v.Kind == wgsl.IntValue && length > 0 && v.Int >= 0 && v.Int < int64(length) {
		r.typ, r.inner = elem, true
		r.static += int(v.Int) * stride
		return r
	}
	index := c.expr(e.I, nil)[0]
	sum := c.slot()
	x := indexing{at: c.site(e.Pos, "index"), of: r, index: index, sum: sum, stride: uint32(stride / unit), length: uint32(length)}
	if text := wgsl.FormatExpr(e.X); text != r.name {
		x.text = text
	}
	c.index(x)
	r.typ, r.dynamic, r.inner = elem, sum, true
	return r
}

// indexing is a place's element at an index that is known when the program runs.
type indexing struct {
	at         site
	of         ref
	index, sum int
	stride     uint32
	length     uint32 // 0 for what the binding's size says
	text       string // what is indexed, where that is not the variable itself
}

// index emits the test of an index and the sum with the dynamic part before it.
func (c *compiler) index(x indexing) {
	before := x.of.dynamic
	c.emit(func(m *machine, a *lanes) {
		length := x.length
		if length == 0 {
			length = m.arrayLength(x.of)
		}
		index, sum := m.regs[x.index], m.regs[x.sum]
		if len(m.strays) > 0 {
			m.follow(a, before, x.sum)
		}
		for i := a.lo; i < a.hi; i++ {
			n := index[i]
			if n >= length {
				if !a.dense && !a.on[i] {
					sum[i] = 0
					continue
				}
				m.outside(x, i, n, length)
				n = max(length, 1) - 1
			}
			if before >= 0 {
				sum[i] = m.regs[before][i] + n*x.stride
			} else {
				sum[i] = n * x.stride
			}
		}
		if m.ended {
			a.clear()
		}
	})
}

// outside reports an index beyond an array or vector.
func (m *machine) outside(x indexing, lane int, index, length uint32) {
	n := int64(index)
	if x.of.inner { // it is no element of the variable
		n = -1
	}
	m.report(OutOfBounds, x.at, x.of.name, n, func() string {
		detail := "index " + decimal(int64(index))
		if int32(index) < 0 {
			detail = "index " + decimal(int64(int32(index))) + " (or " + decimal(int64(index)) + " as u32)"
		}
		detail += " of a length of " + decimal(int64(length))
		if x.text != "" {
			detail += " in " + x.text
		}
		return detail
	}, lane)
	m.ended = m.ended || m.options.Trap
	if m.strays == nil {
		m.strays = map[int][]bool{}
	}
	if m.strays[x.sum] == nil {
		m.strays[x.sum] = make([]bool, m.n)
	}
	m.strays[x.sum][lane] = true
}

// follow says for each invocation whether the place that is computed into sum is one of an index that was clamped: what is done there
// has no other fault than that.
func (m *machine) follow(a *lanes, before, sum int) {
	was, is := m.strays[before], m.strays[sum]
	if was != nil && is == nil {
		is = make([]bool, m.n)
		m.strays[sum] = is
	}
	for i := range is {
		if a.has(i) {
			is[i] = was != nil && was[i]
		}
	}
}

// stray reports whether an invocation is at a place only because its index was clamped.
func (m *machine) stray(dynamic, lane int) bool {
	if len(m.strays) == 0 {
		return false
	}
	is := m.strays[dynamic]
	return is != nil && is[lane]
}

// arrayLength returns the number of elements of a runtime-sized array: its binding decides.
func (m *machine) arrayLength(r ref) uint32 {
	elem, _ := elementOf(r.typ)
	b := &m.bound[r.root]
	if bytes := int64(len(b.words))*4 - int64(r.static); bytes > 0 {
		return uint32(bytes / int64(wgsl.Stride(elem)))
	}
	return 0
}
