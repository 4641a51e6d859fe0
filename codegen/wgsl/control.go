package wgsl

import (
	"strconv"
	"strings"
)

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
		return "(" + text + ")"
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
