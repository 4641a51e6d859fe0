package wgsl

import "strings"

func (m *Module) add(s Stmt) {
	if m.block == nil {
		m.errorf("a statement outside of a function")
		return
	}
	m.block.List = append(m.block.List, s)
}

func at() At { return At{caller()} }

// Comment writes a comment line, in a function or between declarations.
func (m *Module) Comment(format string, args ...any) {
	c := &Comment{at(), strings.ReplaceAll(m.format(args, format)[0], "\n", " ")}
	if m.block == nil {
		m.top(c)
		return
	}
	m.add(c)
}

// Const declares a constant, at module scope or in a function.
func (m *Module) Const(name, expr string, args ...any) { m.ConstOf(name, expr, "", args...) }

// ConstOf is Const with a trailing comment that says where the value comes from.
func (m *Module) ConstOf(name, expr, why string, args ...any) {
	t := m.format(args, name, expr, why)
	d := m.declaration(ConstSymbol, t[0], t[1])
	d.Why = t[2]
	if m.block == nil {
		m.top(d)
	} else {
		m.add(d)
	}
}

// Let declares an immutable value. name may have a type: "n: u32".
func (m *Module) Let(name, expr string, args ...any) {
	t := m.format(args, name, expr)
	m.add(m.declaration(LetSymbol, t[0], t[1]))
}

// Var declares a variable. name may have a type: "sums: array<f32, 4>"; it starts as zero when expr is empty.
func (m *Module) Var(name, expr string, args ...any) {
	t := m.format(args, name, expr)
	m.add(m.declaration(VarSymbol, t[0], t[1]))
}

// declaration checks and declares a const, let or var.
func (m *Module) declaration(kind SymbolKind, name, expr string) *Declare {
	name, typeText, typed := strings.Cut(name, ":")
	s := &Symbol{Name: strings.TrimSpace(name), Kind: kind, Type: Bad, Writable: kind == VarSymbol, Pos: caller()}
	if kind == VarSymbol {
		s.Space = FunctionSpace
	}
	d := &Declare{At: At{s.Pos}, Symbol: s, Typed: typed}
	var want Type
	if typed {
		var err error
		if want, err = ParseType(typeText, s.Pos); err != nil {
			m.report(err)
			want = Bad
		}
		m.useF16(want)
		s.Type = want
	}
	if expr == "" && kind == VarSymbol && typed && want != Bad {
		// The zero value is written out: naga 29 leaves a variable that a loop declares without one as it was in the
		// round before.
		expr = strings.TrimSpace(typeText) + "()"
	}
	if expr != "" || kind != VarSymbol || !typed {
		d.Init = m.check(expr, func(c *checker, e Expr) Expr { return c.initial(kind, s.Name, want, e) })
		if s.Type = typeOf(d.Init); want != nil {
			s.Type = want
		}
		if kind == ConstSymbol {
			s.Value = valueOf(d.Init)
		}
	}
	m.declare(s)
	return d
}

// initial checks the initial value of a declaration.
func (c *checker) initial(kind SymbolKind, name string, want Type, e Expr) Expr {
	e = c.value(e)
	switch {
	case want != nil:
		e = c.convert(e, want, name)
	case kind == ConstSymbol && c.plain && partsKnown(e): // it may be used as several types
	case kind != ConstSymbol || valueOf(e).Kind == NoValue: // so an abstract type never is without a Value
		e = c.settle(e)
	}
	if kind == ConstSymbol && !constant(e) && !bad(e) {
		return c.fail(e, "const %s needs a constant expression", name)
	}
	return e
}

// Set assigns expr to a variable, an element or a component.
func (m *Module) Set(to, expr string, args ...any) { m.assign("", to, expr, args) }

// Add is to += expr.
func (m *Module) Add(to, expr string, args ...any) { m.assign("+", to, expr, args) }

// Sub is to -= expr.
func (m *Module) Sub(to, expr string, args ...any) { m.assign("-", to, expr, args) }

// Mul is to *= expr.
func (m *Module) Mul(to, expr string, args ...any) { m.assign("*", to, expr, args) }

// Div is to /= expr.
func (m *Module) Div(to, expr string, args ...any) { m.assign("/", to, expr, args) }

// Or is to |= expr.
func (m *Module) Or(to, expr string, args ...any) { m.assign("|", to, expr, args) }

// And is to &= expr.
func (m *Module) And(to, expr string, args ...any) { m.assign("&", to, expr, args) }

// Xor is to ^= expr.
func (m *Module) Xor(to, expr string, args ...any) { m.assign("^", to, expr, args) }

// Shl is to <<= expr.
func (m *Module) Shl(to, expr string, args ...any) { m.assign("<<", to, expr, args) }

// Shr is to >>= expr.
func (m *Module) Shr(to, expr string, args ...any) { m.assign(">>", to, expr, args) }

// FMA is to = fma(a, b, to): the form of every multiply-add that fixes a result, so that no compiler may choose to round the
// product or not.
func (m *Module) FMA(to, a, b string, args ...any) {
	t := m.format(args, to, a, b)
	m.assign("", t[0], "fma("+t[1]+", "+t[2]+", "+t[0]+")", nil)
}

func (m *Module) assign(op, to, expr string, args []any) {
	t := m.format(args, to, expr)
	target, value := m.parse(t[0]), m.parse(t[1])
	if bad(target) || bad(value) {
		return
	}
	c := m.checker(t[0])
	target = c.target(target)
	if c.err == nil {
		c.text = t[1]
		a := c.assign(op, target, value)
		if a.At = at(); c.err == nil {
			m.add(a)
		}
	}
	if c.err != nil {
		m.report(c.err)
		m.add(&Assign{at(), op, target, value}) // what was written, for whoever reads the text
	}
}

// Call writes a call for its effect.
func (m *Module) Call(expr string, args ...any) {
	text := m.format(args, expr)[0]
	e := m.check(text, func(c *checker, e Expr) Expr {
		call, ok := e.(*Call)
		if !ok {
			return c.fail(e, "a statement must be a call")
		}
		e = c.expr(call)
		if c.err == nil && call.Func == nil && typeOf(e) != nil && !isAtomic(call.Name) {
			return c.fail(e, "the value of %s is not used", call.Name)
		}
		return e
	})
	if call, ok := e.(*Call); ok {
		m.add(&CallStmt{at(), call})
	}
}

// Barrier waits until all invocations of the workgroup arrive; workgroup memory written before is seen after.
func (m *Module) Barrier() { m.Call("workgroupBarrier()") }

// StorageBarrier is Barrier for storage buffers: writes of the workgroup before it are seen by the workgroup after.
func (m *Module) StorageBarrier() { m.Call("storageBarrier()") }

// Return leaves the function, with a value when expr isn't empty.
func (m *Module) Return(expr string, args ...any) {
	r := &Return{At: at()}
	text := m.format(args, expr)[0]
	switch {
	case m.fn == nil:
	case text == "" && m.fn.Result != nil:
		m.errorf("%s must return %s", m.fn.Name, m.fn.Result)
	case text != "" && m.fn.Result == nil:
		m.errorf("%s returns nothing", m.fn.Name)
		r.Value = m.parse(text)
	case text != "":
		r.Value = m.check(text, func(c *checker, e Expr) Expr { return c.valueAs(e, m.fn.Result, "the result") })
	}
	m.add(r)
}
