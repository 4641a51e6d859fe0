package wgsl

// Compute builds the entry point main, with a workgroup of n invocations. params are parameters as WGSL text:
// "@builtin(workgroup_id) group: vec3<u32>".
func (m *Module) Compute(n int, params string, body func()) { m.Compute3(n, 1, 1, params, body) }

// Compute3 builds the entry point main, with a workgroup of x by y by z invocations.
func (m *Module) Compute3(x, y, z int, params string, body func()) {
	if x < 1 || y < 1 || z < 1 {
		m.errorf("a workgroup of %d by %d by %d invocations", x, y, z)
	}
	f := &Func{At: at(), Name: "main", Workgroup: [3]int{x, y, z}}
	f.Params = m.params(params, true)
	m.function(f, body)
}

// Func builds a function. params are parameters as WGSL text, all of them values; result is a type, or empty.
func (m *Module) Func(name, params, result string, body func()) {
	f := &Func{At: at(), Name: name}
	f.Params = m.params(params, false)
	if result != "" {
		t, err := ParseType(result, f.Pos)
		if err != nil {
			m.report(err)
			t = Bad
		}
		m.useF16(t)
		f.Result = t
	}
	m.function(f, body)
	m.declare(&Symbol{Name: name, Kind: FuncSymbol, Pos: f.Pos, Func: f}) // after its body: WGSL has no recursion
	if f.Result != nil && !returns(f.Body) {
		m.errorf("%s must end in a return", name)
	}
}

func (m *Module) function(f *Func, body func()) {
	if m.fn != nil {
		m.errorf("function %s within function %s", f.Name, m.fn.Name)
		return
	}
	for _, d := range m.file.Decls {
		if other, ok := d.(*Func); ok && f.Entry() && other.Entry() {
			m.errorf("%s is already declared, at %s", f.Name, other.Pos)
		}
	}
	m.top(f)
	m.fn, m.scope = f, newScope(m.scope)
	for _, s := range f.Params {
		m.declare(s)
	}
	f.Body = &Block{At: f.At}
	m.block = f.Body
	if body != nil {
		body()
	}
	m.fn, m.block, m.scope = nil, nil, m.scope.outer
}

// returns reports whether a block always ends in a return.
func returns(b *Block) bool {
	for i := len(b.List) - 1; i >= 0; i-- {
		switch s := b.List[i].(type) {
		case *Comment:
			continue
		case *Return:
			return true
		case *Block:
			return returns(s)
		case *If:
			return s.Else != nil && returns(s.Then) && returns(s.Else)
		case *Switch:
			for _, c := range s.Cases {
				if !returns(c.Body) {
					return false
				}
			}
			return true
		}
		return false
	}
	return false
}

// params parses a parameter list.
func (m *Module) params(text string, entry bool) []*Symbol {
	p := newParser(text, caller())
	var params []*Symbol
	for p.err == nil && p.peek().kind != endToken {
		params = append(params, p.param(entry))
		if !p.accept(",") {
			break
		}
	}
	p.end()
	if p.err != nil {
		m.report(p.err)
	}
	for _, s := range params {
		m.useF16(s.Type)
		if isSubgroupName(s.Builtin) {
			m.file.Subgroups = true
		}
	}
	return params
}

func (p *parser) param(entry bool) *Symbol {
	s := &Symbol{Kind: ParamSymbol, Pos: p.pos(p.peek())}
	if p.accept("@") {
		if t := p.name("an attribute"); t.text != "builtin" {
			p.fail(t, "@%s is not for parameters", t.text)
		}
		p.expect("(")
		s.Builtin = p.name("a built-in value").text
		p.expect(")")
	}
	name := p.name("a parameter")
	s.Name = name.text
	p.expect(":")
	t := p.peek()
	s.Type = p.typ()
	switch want := builtinValues[s.Builtin]; {
	case p.err != nil:
	case s.Builtin != "" && want == nil:
		p.fail(name, "%s is not a built-in value of compute kernels", s.Builtin)
	case entry && s.Builtin == "":
		p.fail(name, "parameter %s of the entry point needs @builtin(...)", s.Name)
	case !entry && s.Builtin != "":
		p.fail(name, "only the entry point has built-in values")
	case entry && s.Type != want:
		p.fail(t, "%s is %s, not %s", s.Builtin, want, s.Type)
	case width(s.Type) == 0:
		p.fail(t, "parameter %s must be a scalar or vector, not %s", s.Name, s.Type)
	}
	return s
}
