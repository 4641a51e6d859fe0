package wgsl

// attributes are what stands before a declaration, a member or a parameter.
type attributes struct {
	compute, mustUse   bool
	group, binding, id int // -1 without
	align, size        int // 0 without
	sizes              []Expr
	builtin            string
	diagnostics        []Directive
	tokens             []token
}

// knownAttributes are those that have an argument.
var knownAttributes = wordSet("group binding id align size builtin workgroup_size")

func (p *fileParser) attributes() attributes {
	a := attributes{group: -1, binding: -1, id: -1}
	seen := map[string]bool{}
	for p.accept("@") {
		t := p.name("an attribute")
		a.tokens = append(a.tokens, t)
		if seen[t.text] && t.text != "diagnostic" {
			p.fail(t, "a second @%s", t.text)
		}
		seen[t.text] = true
		switch t.text {
		case "compute":
			a.compute = true
			continue
		case "must_use":
			a.mustUse = true
			continue
		case "diagnostic":
			a.diagnostics = append(a.diagnostics, p.diagnostic(t))
			continue
		}
		if p.err == nil && !knownAttributes[t.text] {
			p.outside(t, "@%s is", t.text)
		}
		p.expect("(")
		switch t.text {
		case "group":
			a.group = p.constant("@group", 0)
		case "binding":
			a.binding = p.constant("@binding", 0)
		case "id":
			if a.id = p.constant("@id", 0); a.id > 1<<16-1 {
				p.fail(t, "@id must be below 65536")
			}
		case "align":
			if a.align = p.constant("@align", 1); a.align&(a.align-1) != 0 {
				p.fail(t, "@align must be a power of two, not %d", a.align)
			}
		case "size":
			a.size = p.constant("@size", 1)
		case "builtin":
			a.builtin = p.name("a built-in value").text
		case "workgroup_size":
			for p.err == nil && !p.is(")") {
				a.sizes = append(a.sizes, p.overridable("@workgroup_size"))
				if !p.accept(",") {
					break
				}
			}
		}
		p.accept(",")
		p.expect(")")
	}
	return a
}

// only refuses attributes that aren't among those allowed.
func (p *fileParser) only(a attributes, what string, allowed ...string) {
	for _, t := range a.tokens {
		found := false
		for _, name := range allowed {
			found = found || t.text == name
		}
		if !found {
			p.fail(t, "@%s is not for %s", t.text, what)
		}
	}
}

// overridable parses an integer that may depend on overrides.
func (p *fileParser) overridable(what string) Expr {
	t := p.peek()
	e := p.check(p.check(p.expr(), (*checker).value), (*checker).settle)
	if s, ok := typeOf(e).(Scalar); p.err == nil && (!ok || !s.integer()) {
		p.fail(t, "%s must be u32 or i32, not %s", what, typeOf(e))
	}
	if p.err == nil && !constant(e) && !overrideExpr(e) {
		p.fail(t, "%s must be made of constants and overrides", what)
	}
	return e
}

// overrideExpr reports whether an expression is known when the pipeline is made.
func overrideExpr(e Expr) bool {
	known := true
	Walk(e, func(x Expr) {
		switch x := x.(type) {
		case *Ident:
			known = known && x.Symbol != nil && (x.Symbol.Kind == ConstSymbol || x.Symbol.Kind == OverrideSymbol)
		case *Call:
			known = known && x.Func == nil && pure(x.Name)
		}
	})
	return known
}

func (p *fileParser) declaration(d *topDecl) {
	a := p.attributes()
	keyword := p.take()
	switch keyword.text {
	case "const":
		p.only(a, "a const")
		p.next--
		s := p.local(d)
		s.Why = p.trailing(p.tokens[p.next-1])
		d.decl = s
	case "override":
		p.only(a, "an override", "id")
		p.override(d, a)
	case "var":
		p.variable(d, a)
	case "alias":
		p.only(a, "an alias")
		p.alias(d)
	case "struct":
		p.only(a, "a struct")
		p.structure(d)
	case "const_assert":
		p.only(a, "a const_assert")
		p.next--
		d.decl = p.assert()
	case "fn":
		p.function(d, a)
	}
}

// local parses a const, let or var up to its semicolon, and declares it in the scope, or as d at module scope.
func (p *fileParser) local(d *topDecl) *Declare {
	at := p.pos(p.peek())
	kind := map[string]SymbolKind{"const": ConstSymbol, "let": LetSymbol, "var": VarSymbol}[p.take().text]
	s := &Symbol{Kind: kind, Writable: kind == VarSymbol, Pos: at, Type: Bad}
	if kind == VarSymbol {
		s.Space = FunctionSpace
		if p.is("<") {
			p.localSpace()
		}
	}
	name := p.name("a name")
	s.Name = name.text
	decl := &Declare{At: At{at}, Symbol: s}
	var want Type
	if p.accept(":") {
		t := p.peek()
		want, decl.Typed = p.typ(), true
		if p.err == nil && !constructible(want) && (kind != LetSymbol || !isPointer(want)) {
			p.fail(t, "%s %s can't be of type %s", kind, s.Name, want)
		}
		s.Type = want
	}
	switch {
	case p.accept("="):
		decl.Init = p.check(p.expr(), func(c *checker, e Expr) Expr { return c.initial(kind, s.Name, want, e) })
		if want == nil {
			s.Type = typeOf(decl.Init)
		}
		if kind == ConstSymbol {
			if s.Value = valueOf(decl.Init); s.Value.Kind == NoValue {
				s.parts = partsOf(decl.Init)
			}
		}
	case kind != VarSymbol:
		p.fail(p.peek(), "%s %s needs a value", kind, s.Name)
	case want == nil:
		p.fail(p.peek(), "var %s needs a type or a value", s.Name)
	}
	if isPointer(s.Type) && p.err == nil {
		if kind != LetSymbol {
			p.fail(name, "%s %s can't be a pointer", kind, s.Name)
		}
		if r := root(decl.Init); r != nil && r.Points != nil {
			s.Points = r.Points
		} else {
			s.Points = r
		}
	}
	p.expect(";")
	if d != nil {
		d.symbol = s
	} else {
		p.declare(name, s)
	}
	return decl
}

// localSpace parses the <function> that a variable in a function may have.
func (p *fileParser) localSpace() {
	p.expect("<")
	if t := p.name("an address space"); p.err == nil && t.text != "function" {
		p.fail(t, "a variable in a function is in the function's memory, not in %s", t.text)
	}
	p.closeTemplate()
}

// declare adds a name to the scope of a block.
func (p *fileParser) declare(t token, s *Symbol) {
	if p.err != nil {
		return
	}
	if why := refusedName(s.Name); why != "" {
		p.fail(t, "%s", why)
		return
	}
	if old := p.scope.names[s.Name]; old != nil {
		p.fail(t, "%s is already declared in this scope, at %s", s.Name, old.Pos)
		return
	}
	p.scope.names[s.Name] = s
	if n := len(p.jumps); n > 0 && p.jumps[n-1].body == p.scope && p.jumps[n-1].continued {
		p.jumps[n-1].late[s] = true
	}
}

func (p *fileParser) override(d *topDecl, a attributes) {
	name := p.take()
	s := &Symbol{Name: name.text, Kind: OverrideSymbol, Type: Bad, Pos: p.pos(name)}
	o := &Override{At: At{p.pos(p.tokens[d.first])}, Symbol: s, ID: a.id}
	var want Type
	if p.accept(":") {
		t := p.peek()
		want, o.Typed = p.typ(), true
		if _, scalar := want.(Scalar); !scalar && p.err == nil {
			p.fail(t, "an override is a scalar, not %s", want)
		}
		s.Type = want
	}
	if p.accept("=") {
		t := p.peek()
		o.Init = p.check(p.expr(), func(c *checker, e Expr) Expr { return c.initial(OverrideSymbol, s.Name, want, e) })
		if want == nil {
			s.Type = typeOf(o.Init)
		}
		if _, scalar := s.Type.(Scalar); p.err == nil && (!scalar || !overrideExpr(o.Init)) {
			p.fail(t, "override %s needs a scalar made of constants and overrides", s.Name)
		}
	} else if want == nil {
		p.fail(p.peek(), "override %s needs a type or a value", s.Name)
	}
	for _, other := range p.decls {
		if q, ok := other.decl.(*Override); ok && q.ID >= 0 && q.ID == o.ID {
			p.fail(name, "@id(%d) is that of %s too", o.ID, q.Symbol.Name)
		}
	}
	p.expect(";")
	o.Why = p.trailing(p.tokens[p.next-1])
	d.decl, d.symbol = o, s
}

// variable parses a variable at module scope.
func (p *fileParser) variable(d *topDecl, a attributes) {
	s := &Symbol{Kind: VarSymbol, Writable: true, Type: Bad}
	v := &Var{At: At{p.pos(p.tokens[d.first])}, Symbol: s}
	if !p.is("<") {
		t := p.peek()
		p.outside(t, "%s needs an address space; textures and samplers are", t.text)
		return
	}
	p.space(s)
	name := p.take()
	s.Name, s.Pos = name.text, p.pos(name)
	t := name
	typed := p.accept(":")
	if typed {
		t = p.peek()
		s.Type = p.typ()
	}
	if p.accept("=") {
		if s.Space != PrivateSpace {
			p.fail(name, "variable %s can't have an initial value", s.Name)
		}
		first := p.peek()
		v.Init = p.check(p.expr(), func(c *checker, e Expr) Expr {
			if typed {
				return c.initial(VarSymbol, s.Name, s.Type, e)
			}
			return c.initial(VarSymbol, s.Name, nil, e)
		})
		if !typed {
			s.Type = typeOf(v.Init)
		}
		if p.err == nil && !overrideExpr(v.Init) {
			p.fail(first, "the initial value of %s must be made of constants and overrides", s.Name)
		}
	} else if !typed {
		p.fail(p.peek(), "variable %s needs a type", s.Name)
	}
	if p.err == nil {
		if why := spaceRefuses(s); why != "" {
			p.fail(t, "%s", why)
		}
	}
	if s.Space == StorageSpace || s.Space == UniformSpace {
		p.only(a, "a binding", "group", "binding")
		if a.group < 0 || a.binding < 0 {
			p.fail(name, "binding %s needs @group and @binding", s.Name)
		}
		v.Group, v.Binding = a.group, a.binding
	} else {
		p.only(a, "a variable that is no binding")
	}
	p.expect(";")
	d.decl, d.symbol = v, s
}

// space parses <storage, read> and the like.
func (p *fileParser) space(s *Symbol) {
	p.expect("<")
	t := p.name("an address space")
	access := token{}
	if p.accept(",") {
		access = p.name("an access mode")
	}
	spaces := map[string]Space{"private": PrivateSpace, "workgroup": WorkgroupSpace, "storage": StorageSpace, "uniform": UniformSpace}
	s.Space = spaces[t.text]
	switch {
	case p.err != nil:
	case s.Space == NoSpace:
		p.fail(t, "a variable at module scope is in private, workgroup, storage or uniform memory, not in %s", t.text)
	case s.Space != StorageSpace && access.text != "":
		p.fail(access, "only storage has an access mode")
	case access.text != "" && access.text != "read" && access.text != "read_write":
		p.fail(access, "the access mode is read or read_write, not %s", access.text)
	}
	s.Writable = s.Space != UniformSpace && (s.Space != StorageSpace || access.text == "read_write")
	p.closeTemplate()
}

// spaceRefuses returns why a variable can't be of its type in its address space, or "".
func spaceRefuses(s *Symbol) string {
	t := s.Type
	kind := s.Space.String()
	switch {
	case isPointer(t):
		return kind + " variable " + s.Name + " can't be a pointer"
	case s.Space == PrivateSpace && !constructible(t):
		return "private variable " + s.Name + " can't be of type " + t.String() + ": it has atomics, or no fixed size"
	case s.Space != StorageSpace && !sized(t):
		return kind + " variable " + s.Name + " can't be of type " + t.String() + ": only storage can be sized at run time"
	case s.Space != WorkgroupSpace && overrideSized(t):
		return kind + " variable " + s.Name + " can't be sized by an override"
	case s.Space == WorkgroupSpace || s.Space == PrivateSpace:
		return ""
	case traitsOf(t).boolean || overrideSized(t):
		return kind + " variable " + s.Name + " can't be of type " + t.String() + ": a bool has no form in a buffer"
	case !s.Writable && traitsOf(t).atomic:
		return kind + " variable " + s.Name + " is read-only and can't have atomics"
	case s.Space == UniformSpace:
		return traitsOf(t).uniform
	}
	return ""
}

func (p *fileParser) alias(d *topDecl) {
	name := p.take()
	p.expect("=")
	t := p.typ()
	p.expect(";")
	d.decl = &TypeAlias{At{p.pos(p.tokens[d.first])}, name.text, t}
	d.symbol = &Symbol{Name: name.text, Kind: TypeSymbol, Type: t, Pos: p.pos(name)}
}

func (p *fileParser) structure(d *topDecl) {
	name := p.take()
	s := &Struct{Name: name.text}
	p.expect("{")
	for p.err == nil && !p.is("}") {
		a := p.attributes()
		p.only(a, "a member of a struct", "align", "size", "builtin")
		n := p.name("a member")
		if s.member(n.text) != nil {
			p.fail(n, "%s has a member %s already", s.Name, n.text)
		}
		if why := refusedMember(n.text); why != "" && p.err == nil {
			p.fail(n, "%s", why)
		}
		p.expect(":")
		at := p.peek()
		t := p.typ()
		p.member(s, n, at, a, t)
		s.Members = append(s.Members, Field{Name: n.text, Type: t, Align: a.align, Size: a.size, Builtin: a.builtin})
		if !p.accept(",") {
			break
		}
	}
	if p.err == nil && len(s.Members) == 0 {
		p.fail(name, "struct %s has no members", s.Name)
	}
	p.expect("}")
	if p.err == nil && !s.layout() {
		p.fail(name, "struct %s is larger than any buffer", s.Name)
	}
	d.decl = &StructDecl{At{p.pos(p.tokens[d.first])}, s}
	d.symbol = &Symbol{Name: name.text, Kind: TypeSymbol, Type: s, Pos: p.pos(name)}
}

// member checks the member n of s, of type t written at a token.
func (p *fileParser) member(s *Struct, n, at token, a attributes, t Type) {
	if p.err != nil {
		return
	}
	want := builtinValues[a.builtin]
	switch {
	case isPointer(t):
		p.fail(at, "a member can't be a pointer")
	case overrideSized(t):
		p.fail(at, "a member can't be sized by an override")
	case len(s.Members) > 0 && !sized(s.Members[len(s.Members)-1].Type):
		p.fail(n, "only the last member can be sized at run time")
	case !sized(t) && structType(t):
		p.fail(at, "%s can't be a member: it is sized at run time", t)
	case a.size != 0 && a.size < SizeOf(t):
		p.fail(n, "@size(%d) is below the %d bytes of %s", a.size, SizeOf(t), t)
	case a.size != 0 && !sized(t):
		p.fail(n, "@size is not for what is sized at run time")
	case a.align != 0 && a.align%max(AlignOf(t), 1) != 0:
		p.fail(n, "@align(%d) is no multiple of the alignment of %s, %d", a.align, t, AlignOf(t))
	case a.builtin != "" && want == nil:
		p.fail(n, "%s is not a built-in value of compute kernels", a.builtin)
	case a.builtin != "" && t != want:
		p.fail(at, "%s is %s, not %s", a.builtin, want, t)
	}
	if isSubgroupName(a.builtin) {
		p.file.Subgroups = true
	}
}

func isPointer(t Type) bool  { _, ok := t.(Pointer); return ok }
func structType(t Type) bool { _, ok := t.(*Struct); return ok }

func (p *fileParser) assert() *Assert {
	t := p.take()
	e := p.check(p.expr(), func(c *checker, e Expr) Expr { return c.valueAs(e, Bool, "what const_assert asserts") })
	switch v := valueOf(e); {
	case p.err != nil:
	case v.Kind != BoolValue:
		p.fail(t, "const_assert needs a constant that kgen can evaluate: numbers, operators, min, max, abs and clamp")
	case v.Int == 0:
		p.fail(t, "const_assert %s doesn't hold", FormatExpr(e))
	}
	p.expect(";")
	return &Assert{At{p.pos(t)}, e}
}

// namedType returns the struct or alias of a name in scope, or nil.
func (p *fileParser) namedType(name string) Type {
	if s := p.scope.find(name); s != nil && s.Kind == TypeSymbol {
		return s.Type
	}
	return nil
}

// arrayLength parses the length of an array, of which p has seen the comma.
func (p *fileParser) arrayLength() (int, Expr) {
	if p.is(">") { // a comma may end the list
		return 0, nil
	}
	t := p.peek()
	e := p.check(p.check(p.additive(), (*checker).value), (*checker).settle)
	p.accept(",")
	if p.err != nil {
		return 1, nil
	}
	v := valueOf(e)
	id, name := e.(*Ident)
	switch s, ok := typeOf(e).(Scalar); {
	case !ok || !s.integer():
		p.fail(t, "the length of an array must be an integer, not %s", typeOf(e))
	case !constant(e) && overrideExpr(e):
		if name {
			if p.sizes[id.Symbol] == nil {
				p.sizes[id.Symbol] = e
			}
			e = p.sizes[id.Symbol]
		}
		return 1, e
	case v.Kind != IntValue || !constant(e):
		p.fail(t, "the length of an array must be made of constants and overrides")
	case v.Int < 1 || v.Int > 1<<31-1:
		p.fail(t, "the length of an array must be from 1 to %d, not %d", 1<<31-1, v.Int)
	}
	return int(v.Int), nil
}

// element checks the elements of an array of n.
func (p *parser) element(at token, elem Type, n int) {
	switch {
	case isPointer(elem) || elem == nil:
		p.fail(at, "an array can't have elements of type %s", elem)
	case !sized(elem) || overrideSized(elem):
		p.fail(at, "an array can't have elements of type %s: they have no fixed size", elem)
	case n > 0 && Stride(elem) > maxBytes/n:
		p.fail(at, "an array of %d elements of type %s is larger than any buffer", n, elem)
	}
}

// pointer parses the rest of ptr<space, type>.
func (p *parser) pointer() Type {
	p.expect("<")
	t := p.name("an address space")
	spaces := map[string]Space{"function": FunctionSpace, "private": PrivateSpace, "workgroup": WorkgroupSpace, "storage": StorageSpace, "uniform": UniformSpace}
	space := spaces[t.text]
	if p.err == nil && space == NoSpace {
		p.fail(t, "%s is not an address space", t.text)
	}
	p.expect(",")
	made := Pointer{Space: space, Elem: p.typ(), Writable: space != StorageSpace && space != UniformSpace}
	if p.accept(",") && !p.is(">") {
		access := p.name("an access mode")
		switch {
		case p.err != nil:
		case space != StorageSpace:
			p.fail(access, "only storage has an access mode")
		case access.text != "read" && access.text != "read_write":
			p.fail(access, "the access mode is read or read_write, not %s", access.text)
		}
		made.Writable = access.text == "read_write"
		p.accept(",")
	}
	p.closeTemplate()
	if isPointer(made.Elem) {
		p.fail(t, "a pointer can't point to a pointer")
	}
	return made
}

// lengthText prints the length of an array as it can stand in a type: in parentheses where it has a comparison or shift.
func lengthText(e Expr) string {
	if b, ok := e.(*Binary); ok && level(b.Op) < additiveLevel {
		return "(" + FormatExpr(e) + ")"
	}
	return FormatExpr(e)
}
