package wgsl

// value returns why an expression's value varies, apart from the control flow, and checks the calls in it.
func (u *uniformity) value(e Expr, flow *cause) *cause {
	var c *cause
	switch e := e.(type) {
	case *Ident:
		return u.symbol(e)
	case *Binary:
		c = u.value(e.X, flow)
		if e.Op == "&&" || e.Op == "||" { // the right side is reached only by some
			flow = or(flow, c)
		}
		return or(c, u.value(e.Y, flow))
	case *Call:
		return u.call(e, flow)
	}
	for _, x := range Children(e) {
		c = or(c, u.value(x, flow))
	}
	return c
}

func (u *uniformity) symbol(e *Ident) *cause {
	s, here := e.Symbol, e.Pos
	if s == nil {
		return nil
	}
	own := u.values[s]
	s = pointee(s)
	structure, isStruct := s.Type.(*Struct)
	switch {
	case own != nil:
		return own
	case s.Kind == ParamSymbol && s.Builtin != "" && varies(s.Builtin):
		return &cause{here, s.Name + " is " + s.Builtin}
	case s.Kind == ParamSymbol && isStruct:
		for _, m := range structure.Members {
			if m.Builtin != "" && varies(m.Builtin) {
				return &cause{here, s.Name + "." + m.Name + " is " + m.Builtin}
			}
		}
	case s.Space == StorageSpace && s.Writable:
		return &cause{here, s.Name + " is read-write storage"}
	case s.Space == WorkgroupSpace:
		return &cause{here, s.Name + " is workgroup memory"}
	case s.Space == PrivateSpace:
		return &cause{here, s.Name + " is private memory"}
	}
	if c := u.state[s]; c != nil {
		return c
	}
	return u.values[s]
}

// varies reports whether a built-in value differs between the invocations of a workgroup.
func varies(builtin string) bool {
	switch builtin {
	case "workgroup_id", "num_workgroups", "subgroup_size", "num_subgroups":
		return false
	}
	return true
}

// call returns why the result of a call varies, and reports a collective call in varying flow.
func (u *uniformity) call(e *Call, flow *cause) *cause {
	s := u.functions[e.Func]
	if e.Func == nil {
		s.collective = collective(e.Name) && !(u.tolerant && isSubgroupName(e.Name))
		s.varying = !pure(e.Name)
	}
	u.calls = u.calls || s.collective
	if s.collective && flow != nil && u.final {
		u.report(e.Pos, "%s must be reached by all invocations together, but control flow depends on %s", e.Name, flow)
	}
	switch {
	case e.Func == nil && e.Name == "workgroupUniformLoad":
		u.same(e, u.indices(e.Args[0], flow))
		return nil
	case e.Func == nil && e.Name == "arrayLength":
		return u.indices(e.Args[0], flow)
	case e.Func != nil:
		return u.userCall(e, s, flow)
	}
	var c *cause
	for i, a := range e.Args {
		why := u.value(a, flow)
		c = or(c, why)
		switch e.Name {
		case "subgroupShuffleXor", "subgroupShuffleUp", "subgroupShuffleDown":
			if i == 1 && !u.tolerant {
				u.same(e, why)
			}
		}
	}
	if s.varying {
		return &cause{e.Pos, "the result of " + e.Name}
	}
	return c
}

// userCall answers for the parameters that a function wants uniform, and says what becomes of what its arguments point to.
func (u *uniformity) userCall(e *Call, s summary, flow *cause) *cause {
	var result *cause
	whys := make([]*cause, len(e.Args))
	for i, a := range e.Args {
		why := u.value(a, flow)
		whys[i] = why
		if why == nil || i >= len(s.parts) {
			continue
		}
		if b := s.parts[i].broken; b != nil && u.final {
			u.report(e.Pos, "argument %s of %s varies, as %s: %s, at %s", e.Func.Params[i].Name, e.Name, why.text, b.text, b.pos)
		}
		if s.parts[i].result {
			result = or(result, why)
		}
	}
	for i, a := range e.Args {
		if r := root(a); r != nil && isPointer(typeOf(a)) {
			c := flow
			for j, p := range s.parts {
				if whys[j] != nil && p.writes[i] {
					c = or(c, whys[j])
				}
			}
			if c == nil && i < len(s.writes) && s.writes[i] {
				c = &cause{e.Pos, e.Name + " writes to it"}
			}
			if !u.whole(a) {
				c = or(c, u.state[pointee(r)])
			}
			u.set(pointee(r), c)
		}
	}
	if s.varying {
		return &cause{e.Pos, "the result of " + e.Name}
	}
	return result
}

// same reports that an argument varies where WGSL wants it uniform.
func (u *uniformity) same(e *Call, why *cause) {
	if why != nil && u.final {
		u.report(e.Pos, "%s must have the same argument in all invocations, but %s", e.Name, why.text)
	}
}

// indices returns why a place in memory varies, whatever is stored there.
func (u *uniformity) indices(e Expr, flow *cause) *cause {
	switch e := e.(type) {
	case *Index:
		return or(u.indices(e.X, flow), u.value(e.I, flow))
	case *Unary:
		return u.indices(e.X, flow)
	case *Member:
		return u.indices(e.X, flow)
	case *Bitcast:
		return u.indices(e.X, flow)
	case *Ident:
		if e.Symbol != nil && isPointer(e.Symbol.Type) {
			return u.values[e.Symbol]
		}
	}
	return nil
}
