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
	switch {
	case s == nil:
		return nil
	case s.Kind == ParamSymbol && s.Builtin == "" && u.params:
		return &cause{here, "parameter " + s.Name}
	case s.Kind == ParamSymbol && s.Builtin != "" && s.Builtin != "workgroup_id" && s.Builtin != "num_workgroups":
		return &cause{here, s.Name + " is " + s.Builtin}
	case s.Space == StorageSpace && s.Writable:
		return &cause{here, s.Name + " is read-write storage"}
	case s.Space == WorkgroupSpace:
		return &cause{here, s.Name + " is workgroup memory"}
	}
	return u.varying[s]
}

// call returns why the result of a call varies, and reports a collective call in varying flow.
func (u *uniformity) call(e *Call, flow *cause) *cause {
	s := u.functions[e.Func]
	if e.Func == nil {
		s.collective = collective(e.Name)
		s.varying = !pure(e.Name)
	}
	u.calls = u.calls || s.collective
	if s.collective && flow != nil && u.final {
		u.report(e.Pos, "%s must be reached by all invocations together, but control flow depends on %s", e.Name, flow)
	}
	if e.Func == nil && e.Name == "workgroupUniformLoad" {
		u.same(e, u.indices(e.Args[0], flow))
		return nil
	}
	var c *cause
	for i, a := range e.Args {
		why := u.value(a, flow)
		c = or(c, why)
		switch e.Name {
		case "subgroupShuffleXor", "subgroupShuffleUp", "subgroupShuffleDown":
			if i == 1 {
				u.same(e, why)
			}
		}
	}
	if s.varying {
		return &cause{e.Pos, "the result of " + e.Name}
	}
	return c
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
	}
	return nil
}
