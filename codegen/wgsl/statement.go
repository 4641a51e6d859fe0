package wgsl

import (
	"fmt"
	"strconv"
	"strings"
)

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

// Break leaves the innermost loop.
func (m *Module) Break() { m.jump(&Break{at()}) }

// Continue goes on with the next round of the innermost loop.
func (m *Module) Continue() { m.jump(&Continue{at()}) }

func (m *Module) jump(s Stmt) {
	if m.loops == 0 {
		m.errorf("break or continue outside of a loop")
	}
	m.add(s)
}

// If runs body where cond holds. Arguments of the text come last.
func (m *Module) If(cond string, body func(), args ...any) { m.IfElse(cond, body, nil, args...) }

// IfElse runs then where cond holds and otherwise elsewhere.
func (m *Module) IfElse(cond string, then, otherwise func(), args ...any) {
	s := &If{At: at(), Cond: m.condition(m.format(args, cond)[0])}
	m.add(s)
	s.Then = m.nested(then)
	if otherwise != nil {
		s.Else = m.nested(otherwise)
	}
}

// While runs body as long as cond holds.
func (m *Module) While(cond string, body func(), args ...any) {
	s := &While{At: at(), Cond: m.condition(m.format(args, cond)[0])}
	m.add(s)
	s.Body = m.looped(body)
}

// Loop runs body with name from first, while it is below limit, by step. limit and step are each an int or an expression's text.
// A first without a type is u32.
func (m *Module) Loop(name, first string, limit, step any, body func(), args ...any) {
	if n, ok := step.(int); ok && n < 1 {
		m.errorf("the step of a loop must be positive, not %d", n)
	}
	s := &For{At: at()}
	m.add(s)
	m.scope = newScope(m.scope)
	t := m.format(args, name, first, m.bound(limit), m.bound(step))
	first = t[1]
	if l, ok := m.parse(first).(*Literal); ok && l.Type == AbstractInt && !strings.Contains(t[0], ":") {
		first += "u"
	}
	init := m.declaration(VarSymbol, t[0], first)
	s.Init = init
	if typ := init.Symbol.Type; typ != U32 && typ != I32 && typ != Bad {
		m.errorf("the loop variable %s is %s, not u32 or i32", name, typ)
	} else if typ != Bad {
		id := init.Symbol.Name
		s.Cond = m.condition(id + " < " + m.typedBound(t[2], typ))
		s.Post = m.step(id, m.typedBound(t[3], typ))
		s.Body = m.looped(body)
	}
	if s.Cond == nil || s.Post == nil || s.Body == nil { // a mistake was reported; keep the AST whole
		s.Cond, s.Post, s.Body = &Ident{Name: "?"}, &Break{s.At}, &Block{}
	}
	m.scope = m.scope.outer
}

// bound returns the text of a limit or step.
func (m *Module) bound(b any) string {
	switch b := b.(type) {
	case int:
		return strconv.Itoa(b)
	case string:
		return b
	}
	m.errorf("a loop's limit or step is an int or a text, not %T", b)
	return "1"
}

// typedBound gives a literal the suffix of the loop's type, and other text parentheses where it needs them.
func (m *Module) typedBound(text string, t Type) string {
	if _, err := strconv.Atoi(text); err == nil {
		return text + suffix(t.(Scalar))
	}
	if e := m.parse(text); !bad(e) {
		return fmt.Sprintf("(%s)", text)
	}
	return "1"
}

func (m *Module) step(name, step string) Stmt {
	to, value := m.parse(name), m.parse(step)
	c := m.checker(step)
	a := c.assign("+", c.target(to), value)
	a.At = at()
	if c.err != nil {
		m.report(c.err)
		return nil
	}
	return a
}

func (m *Module) condition(text string) Expr {
	return m.check(text, func(c *checker, e Expr) Expr { return c.valueAs(e, Bool, "a condition") })
}

func (m *Module) looped(body func()) *Block {
	m.loops++
	defer func() { m.loops-- }()
	return m.nested(body)
}

// nested builds a block with a scope of its own.
func (m *Module) nested(body func()) *Block {
	b, outer := &Block{At: at()}, m.block
	m.block, m.scope = b, newScope(m.scope)
	if body != nil {
		body()
	}
	m.block, m.scope = outer, m.scope.outer
	return b
}
