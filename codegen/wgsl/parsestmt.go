package wgsl

// jumps are the loops and switches around a statement, the innermost last.
type jumps []*jump

type jump struct {
	kind      jumpKind
	body      *scope           // of a loop statement
	continued bool             // a continue stands before
	late      map[*Symbol]bool // declared in body after a continue: not for continuing
}

type jumpKind uint8

const (
	inLoop jumpKind = iota
	inSwitch
	inContinuing
)

// function parses a function. Its result and parameters are known while its body is parsed, which must not call it.
func (p *fileParser) function(d *topDecl, a attributes) {
	at := p.pos(p.tokens[d.first])
	name := p.take()
	f := &Func{At: At{at}, Name: name.text, MustUse: a.mustUse, Diagnostics: a.diagnostics}
	if a.compute {
		p.only(a, "an entry point", "compute", "workgroup_size", "diagnostic")
		p.workgroup(f, name, a)
	} else {
		p.only(a, "a function that is no entry point", "must_use", "diagnostic")
	}
	p.scope = newScope(p.scope)
	p.expect("(")
	for p.err == nil && !p.is(")") {
		f.Params = append(f.Params, p.parameter(f))
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	if p.accept("->") {
		if p.is("@") {
			p.outside(p.peek(), "attributes of a result are")
		}
		t := p.peek()
		f.Result = p.typ()
		switch {
		case p.err != nil:
		case f.Entry():
			p.fail(t, "an entry point of compute returns nothing")
		case !constructible(f.Result):
			p.fail(t, "%s can't return %s", f.Name, f.Result)
		}
	}
	if f.MustUse && f.Result == nil {
		p.fail(name, "@must_use is for functions that return something")
	}
	p.fn = f
	f.Body = p.block(false)
	// WGSL takes a loop at the end that only a return leaves, naga doesn't.
	if p.err == nil && f.Result != nil && (behaviour(f.Body.List).next || !returns(f.Body)) {
		p.fail(p.tokens[max(p.next-1, 0)], "%s must end in a return", f.Name)
	}
	d.decl = f
	d.symbol = &Symbol{Name: f.Name, Kind: FuncSymbol, Pos: p.pos(name), Func: f}
}

// workgroup takes over @workgroup_size.
func (p *fileParser) workgroup(f *Func, name token, a attributes) {
	if p.err == nil && (len(a.sizes) < 1 || len(a.sizes) > 3) {
		p.fail(name, "entry point %s needs @workgroup_size with one to three sizes", f.Name)
		return
	}
	f.Workgroup = [3]int{1, 1, 1}
	for i, e := range a.sizes {
		v := valueOf(e)
		if typeOf(e) != typeOf(a.sizes[0]) && !literalSize(e) && !literalSize(a.sizes[0]) && p.err == nil {
			p.fail(name, "the sizes of a workgroup must be of one type")
		}
		if v.Kind == IntValue && constant(e) {
			if v.Int < 1 || v.Int > 1<<31-1 {
				p.fail(name, "a workgroup of %d invocations", v.Int)
			}
			f.Workgroup[i] = int(v.Int)
		}
		if !literalSize(e) {
			f.Sizes[i] = e
		}
	}
}

func literalSize(e Expr) bool {
	l, ok := e.(*Literal)
	return ok && l.Suffix == ""
}

func (p *fileParser) parameter(f *Func) *Symbol {
	a := p.attributes()
	p.only(a, "a parameter", "builtin")
	name := p.name("a parameter")
	s := &Symbol{Name: name.text, Kind: ParamSymbol, Builtin: a.builtin, Pos: p.pos(name), Type: Bad}
	p.expect(":")
	t := p.peek()
	if s.Type = p.typ(); p.err != nil {
		return s
	}
	pointer, isPtr := s.Type.(Pointer)
	structure, isStruct := s.Type.(*Struct)
	switch want := builtinValues[s.Builtin]; {
	case s.Builtin != "" && !f.Entry():
		p.fail(name, "only an entry point has built-in values")
	case s.Builtin != "" && want == nil:
		p.fail(name, "%s is not a built-in value of compute kernels", s.Builtin)
	case s.Builtin != "" && s.Type != want:
		p.fail(t, "%s is %s, not %s", s.Builtin, want, s.Type)
	case f.Entry() && s.Builtin == "" && !isStruct:
		p.fail(name, "parameter %s of an entry point needs @builtin(...)", s.Name)
	case f.Entry() && isStruct:
		for _, m := range structure.Members {
			if m.Builtin == "" {
				p.fail(name, "member %s of parameter %s of an entry point needs @builtin(...)", m.Name, s.Name)
			}
		}
	case isPtr && pointer.Space != FunctionSpace && pointer.Space != PrivateSpace:
		p.fail(t, "parameter %s can't be a pointer to %s memory: naga refuses it", s.Name, pointer.Space)
	case !isPtr && !constructible(s.Type):
		p.fail(t, "parameter %s can't be of type %s", s.Name, s.Type)
	}
	if isSubgroupName(s.Builtin) {
		p.file.Subgroups = true
	}
	for _, other := range f.Params {
		if other.Builtin != "" && other.Builtin == s.Builtin {
			p.fail(name, "a second @builtin(%s)", s.Builtin)
		}
	}
	p.declare(name, s)
	return s
}

// block parses { ... }, with a scope of its own or in that of the parameters.
func (p *fileParser) block(scoped bool) *Block {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), "blocks are nested more than %d deep", maxDepth)
	}
	outer := p.scope
	if scoped {
		p.scope = newScope(outer)
	}
	b := p.open()
	p.statements(b)
	p.close(b)
	p.scope = outer
	p.depth--
	return b
}

func (p *fileParser) open() *Block {
	if p.is("@") {
		p.outside(p.peek(), "attributes of blocks are")
	}
	b := &Block{At: At{p.pos(p.peek())}}
	p.expect("{")
	return b
}

func (p *fileParser) close(b *Block) {
	p.flush(b)
	p.expect("}")
}

// flush adds the comments before the next token.
func (p *fileParser) flush(b *Block) {
	if p.err != nil {
		return
	}
	for _, c := range p.commentsBefore(p.tokens[p.next-1].at, p.peek().at) {
		b.List = append(b.List, c)
	}
}

// statements parses up to the brace that ends the block, or to continuing.
func (p *fileParser) statements(b *Block) {
	for p.err == nil && !p.is("}") && !p.word("continuing") {
		p.flush(b)
		if p.accept(";") {
			continue
		}
		if s := p.statement(); s != nil {
			b.List = append(b.List, s)
		}
	}
}

func (p *fileParser) statement() Stmt {
	t := p.peek()
	at := At{p.pos(t)}
	if p.is("{") {
		return p.block(true)
	}
	if p.is("@") {
		p.outside(t, "attributes of statements are")
		return nil
	}
	if t.kind == nameToken {
		switch t.text {
		case "if":
			p.take()
			return p.ifStatement(at)
		case "switch":
			p.take()
			return p.switchStatement(at)
		case "for":
			p.take()
			return p.forStatement(at)
		case "while":
			p.take()
			cond := p.condition()
			return &While{at, cond, p.looped()}
		case "loop":
			p.take()
			return p.loopStatement(at)
		case "const", "let", "var":
			d := p.local(nil)
			if p.err == nil {
				d.Why = p.trailing(p.tokens[p.next-1])
			}
			return d
		case "const_assert":
			return p.assert()
		case "discard":
			p.outside(t, "discard is")
			return nil
		case "return":
			p.take()
			return p.returnStatement(t)
		case "break":
			p.take()
			if p.word("if") {
				p.fail(t, "break if stands at the end of continuing")
			}
			if n := len(p.jumps); n == 0 || p.jumps[n-1].kind == inContinuing {
				p.fail(t, "break outside of a loop or switch, or in continuing")
			}
			p.expect(";")
			return &Break{at}
		case "continue":
			p.take()
			p.continues(t)
			p.expect(";")
			return &Continue{at}
		}
	}
	s := p.simpleStatement()
	p.expect(";")
	return s
}

// continues checks a continue: the innermost loop must be one that isn't in its continuing.
func (p *fileParser) continues(t token) {
	for i := len(p.jumps) - 1; i >= 0; i-- {
		switch p.jumps[i].kind {
		case inLoop:
			p.jumps[i].continued = true
			return
		case inContinuing:
			p.fail(t, "continue in continuing")
			return
		}
	}
	p.fail(t, "continue outside of a loop")
}

// simpleStatement parses an assignment or call, without its semicolon.
func (p *fileParser) simpleStatement() Stmt {
	t := p.peek()
	at := At{p.pos(t)}
	if p.acceptWord("_") {
		p.expect("=")
		e := p.check(p.check(p.expr(), (*checker).value), (*checker).settle)
		return &Ignore{at, e}
	}
	to := p.unary()
	if call, ok := to.(*Call); ok && !p.is("=") {
		return &CallStmt{at, p.callStatement(call)}
	}
	if p.err != nil {
		return nil
	}
	op := p.peek()
	switch {
	case p.accept("++"), p.accept("--"):
		one := &Literal{Info: Info{Pos: p.pos(op), Const: true, Type: AbstractInt, Value: intValue(1)}, Text: "1"}
		a := p.assign(at, op.text[:1], to, one)
		if s := scalarOf(a.To); p.err == nil && (!s.integer() || width(typeOf(a.To)) != 1) {
			p.fail(op, "%s is for an i32 or u32, not %s", op.text, typeOf(a.To))
		}
		return a
	case p.accept("="):
		return p.assign(at, "", to, p.expr())
	case op.kind == opToken && level(op.text) >= bitwiseLevel && level(op.text) != relationalLevel && p.tokens[p.next+1].text == "=" &&
		p.tokens[p.next+1].at == op.at+len(op.text):
		p.next += 2
		return p.assign(at, op.text, to, p.expr())
	}
	p.fail(t, "a statement must be an assignment or a call")
	return nil
}

func (p *fileParser) assign(at At, op string, to, value Expr) *Assign {
	if p.err != nil {
		return &Assign{At: at, Op: op, To: to, Value: value}
	}
	c := p.checker
	c.scope = p.scope
	a := &Assign{Op: op, To: to, Value: value}
	if to = c.target(to); c.err == nil {
		a = c.assign(op, to, value)
	}
	a.At = at
	p.adopt()
	return a
}

func (p *fileParser) callStatement(call *Call) *Call {
	p.check(call, func(c *checker, e Expr) Expr {
		e = c.expr(e)
		switch {
		case c.err != nil:
		case call.Func != nil && call.Func.MustUse:
			return c.fail(e, "the value of %s is not used, and it is @must_use", call.Name)
		case call.Func == nil && typeOf(e) != nil && !isAtomic(call.Name) && call.Name != "workgroupUniformLoad":
			return c.fail(e, "the value of %s is not used", call.Name)
		}
		return e
	})
	return call
}

func (p *fileParser) condition() Expr {
	return p.check(p.expr(), func(c *checker, e Expr) Expr { return c.valueAs(e, Bool, "a condition") })
}

func (p *fileParser) ifStatement(at At) *If {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), "blocks are nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	s := &If{At: at, Cond: p.condition()}
	s.Then = p.block(true)
	t := p.peek()
	if !p.acceptWord("else") {
		return s
	}
	if !p.word("if") {
		s.Else = p.block(true)
		return s
	}
	s.Else = &Block{At: At{p.pos(t)}}
	p.flush(s.Else)
	inner := At{p.pos(p.take())}
	s.Else.List = append(s.Else.List, p.ifStatement(inner))
	return s
}

// inside parses with a jump target more around it.
func (p *fileParser) inside(kind jumpKind, parse func() *Block) *Block {
	p.jumps = append(p.jumps, &jump{kind: kind})
	b := parse()
	p.jumps = p.jumps[:len(p.jumps)-1]
	return b
}

func (p *fileParser) looped() *Block {
	return p.inside(inLoop, func() *Block { return p.block(true) })
}

func (p *fileParser) forStatement(at At) *For {
	s := &For{At: at}
	outer := p.scope
	p.scope = newScope(outer)
	p.expect("(")
	switch {
	case p.word("const"), p.word("let"), p.word("var"):
		s.Init = p.local(nil)
	case p.accept(";"):
	default:
		s.Init = p.simpleStatement()
		p.expect(";")
	}
	if !p.is(";") {
		s.Cond = p.condition()
	}
	p.expect(";")
	if !p.is(")") {
		s.Post = p.simpleStatement()
	}
	p.expect(")")
	t := p.peek()
	s.Body = p.looped()
	p.ends(t, s)
	p.scope = outer
	return s
}

func (p *fileParser) loopStatement(at At) *Loop {
	t := p.peek()
	s := &Loop{At: at}
	outer := p.scope
	var late map[*Symbol]bool
	p.scope = newScope(outer)
	s.Body = p.inside(inLoop, func() *Block {
		if p.depth++; p.depth > maxDepth {
			p.fail(p.peek(), "blocks are nested more than %d deep", maxDepth)
		}
		around := p.jumps[len(p.jumps)-1]
		around.body, late = p.scope, map[*Symbol]bool{}
		around.late = late
		b := p.open()
		p.statements(b)
		p.flush(b)
		return b
	})
	if p.acceptWord("continuing") {
		s.Continuing = p.inside(inContinuing, func() *Block { return p.continuing(s) })
		p.bypassed(s, late)
	}
	if !p.is("}") {
		p.fail(p.peek(), "continuing must be the last of a loop")
	}
	p.close(s.Body)
	p.depth--
	p.scope = outer
	p.ends(t, s)
	return s
}

// bypassed refuses a continuing that uses what a continue has jumped over.
func (p *fileParser) bypassed(s *Loop, late map[*Symbol]bool) {
	check := func(e Expr) {
		if id, ok := e.(*Ident); ok && late[id.Symbol] && p.err == nil {
			p.err = errorAt(id.Pos, "", "a continue jumps over the declaration of %s", id.Name)
			p.next = len(p.tokens) - 1
		}
	}
	InspectBlock(s.Continuing, check)
	walk(s.BreakIf, check)
}

func (p *fileParser) continuing(s *Loop) *Block {
	outer := p.scope
	p.scope = newScope(outer)
	b := p.open()
	for p.err == nil && !p.is("}") {
		p.flush(b)
		if p.accept(";") {
			continue
		}
		if p.word("break") && p.tokens[p.next+1].text == "if" {
			p.next += 2
			s.BreakIf = p.condition()
			p.expect(";")
			if !p.is("}") {
				p.fail(p.peek(), "break if must be the last of continuing")
			}
			break
		}
		if t := p.peek(); t.text == "return" && t.kind == nameToken {
			p.fail(t, "return in continuing")
		}
		if inner := p.statement(); inner != nil {
			b.List = append(b.List, inner)
		}
	}
	p.close(b)
	p.scope = outer
	return b
}

// ends refuses a loop that nothing ends.
func (p *fileParser) ends(t token, s Stmt) {
	b := behaviour([]Stmt{s})
	if p.err == nil && !b.next && !b.returns {
		p.fail(t, "nothing ends this loop")
	}
}

func (p *fileParser) switchStatement(at At) *Switch {
	s := &Switch{At: at}
	first := p.peek()
	s.Value = p.check(p.expr(), (*checker).value)
	if t, ok := typeOf(s.Value).(Scalar); p.err == nil && (!ok || !t.integer()) {
		p.fail(first, "a switch is of i32 or u32, not %s", typeOf(s.Value))
	}
	if p.is("@") {
		p.outside(p.peek(), "attributes of switches are")
	}
	p.expect("{")
	for p.err == nil && !p.is("}") {
		s.Cases = append(s.Cases, p.switchCase())
	}
	p.expect("}")
	p.unifyCases(first, s)
	return s
}

func (p *fileParser) switchCase() *Case {
	t := p.peek()
	c := &Case{At: At{p.pos(t)}}
	switch {
	case p.acceptWord("default"):
		c.Default = true
	case p.acceptWord("case"):
		for p.err == nil && !p.is(":") && !p.is("{") {
			if p.acceptWord("default") {
				if c.Default {
					p.fail(t, "a second default")
				}
				c.Default = true
			} else {
				c.Values = append(c.Values, p.check(p.expr(), (*checker).value))
			}
			if !p.accept(",") {
				break
			}
		}
		if p.err == nil && len(c.Values) == 0 && !c.Default {
			p.fail(t, "a case needs a value")
		}
	default:
		p.fail(t, "case or default is missing before %s", describe(t))
	}
	p.accept(":")
	c.Body = p.inside(inSwitch, func() *Block { return p.block(true) })
	return c
}

// unifyCases gives the value of a switch and those of its cases one type, and checks that they differ and that there is one default.
func (p *fileParser) unifyCases(at token, s *Switch) {
	if p.err != nil {
		return
	}
	c := p.checker
	c.scope = p.scope
	t := typeOf(s.Value)
	defaults := 0
	for _, k := range s.Cases {
		for _, v := range k.Values {
			if t == AbstractInt {
				t = typeOf(v)
			}
		}
	}
	t = concrete(t)
	s.Value = c.convert(s.Value, t, "the value of the switch")
	seen := map[int64]bool{}
	for _, k := range s.Cases {
		if k.Default {
			defaults++
		}
		for i := range k.Values {
			k.Values[i] = c.convert(k.Values[i], t, "the value of a case")
			v := valueOf(k.Values[i])
			switch {
			case c.err != nil:
			case v.Kind != IntValue || !constant(k.Values[i]):
				c.fail(k.Values[i], "the value of a case must be a constant that kgen can evaluate")
			case seen[v.Int]:
				c.fail(k.Values[i], "a second case %d", v.Int)
			}
			seen[v.Int] = true
		}
	}
	p.adopt()
	if p.err == nil && defaults != 1 {
		p.fail(at, "a switch needs one default, not %d", defaults)
	}
}

func (p *fileParser) returnStatement(t token) *Return {
	r := &Return{At: At{p.pos(t)}}
	for _, j := range p.jumps {
		if j.kind == inContinuing {
			p.fail(t, "return in continuing")
		}
	}
	if !p.is(";") {
		e := p.expr()
		if p.err == nil && p.fn.Result == nil {
			p.fail(t, "%s returns nothing", p.fn.Name)
		}
		r.Value = p.check(e, func(c *checker, e Expr) Expr { return c.valueAs(e, p.fn.Result, "the result") })
	} else if p.fn.Result != nil {
		p.fail(t, "%s must return %s", p.fn.Name, p.fn.Result)
	}
	p.expect(";")
	return r
}
