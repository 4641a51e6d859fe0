package wgsl

// accesses finds which memory a function reads and writes, itself or by what it calls: that of variables at module scope and that
// behind its parameters.
type accesses struct {
	functions map[*Func]map[*Symbol]access
	errs      []*Error
	current   map[*Symbol]access
}

type access struct{ read, write bool }

func (a access) or(b access) access { return access{a.read || b.read, a.write || b.write} }

// checkAccess reports pointers of one call that reach the same memory, where one of them is written through, and entry points with
// two variables of one binding. WGSL knows neither.
func checkAccess(f *File) []*Error {
	a := &accesses{functions: map[*Func]map[*Symbol]access{}}
	for _, d := range f.Decls {
		if fn, ok := d.(*Func); ok {
			a.function(fn)
		}
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*Func); ok && fn.Entry() {
			a.bindings(f, fn)
		}
	}
	return a.errs
}

func (a *accesses) bindings(f *File, fn *Func) {
	used := a.functions[fn]
	names := map[[2]int]string{}
	for _, d := range f.Decls {
		v, ok := d.(*Var)
		if !ok || v.Symbol.Space != StorageSpace && v.Symbol.Space != UniformSpace {
			continue
		}
		if _, is := used[v.Symbol]; !is {
			continue
		}
		place := [2]int{v.Group, v.Binding}
		if other := names[place]; other != "" {
			a.errs = append(a.errs, errorAt(fn.Pos, "", "%s uses %s and %s, which have the same group and binding", fn.Name, other, v.Symbol.Name))
		}
		names[place] = v.Symbol.Name
	}
}

func (a *accesses) function(f *Func) {
	if _, done := a.functions[f]; done {
		return
	}
	InspectBlock(f.Body, func(e Expr) {
		if call, ok := e.(*Call); ok && call.Func != nil {
			a.function(call.Func)
		}
	})
	a.current = map[*Symbol]access{}
	a.block(f.Body)
	a.functions[f] = a.current
}

func (a *accesses) add(s *Symbol, what access) {
	if s == nil {
		return
	}
	s = pointee(s)
	if s.Space > FunctionSpace || isPointer(s.Type) {
		a.current[s] = a.current[s].or(what)
	}
}

func (a *accesses) block(b *Block) {
	if b == nil {
		return
	}
	for _, s := range b.List {
		a.stmt(s)
	}
}

func (a *accesses) stmt(s Stmt) {
	switch s := s.(type) {
	case *Assign:
		a.add(root(s.To), access{s.Op != "", true})
		a.indices(s.To)
		a.value(s.Value)
	case *Block:
		a.block(s)
	case *If:
		a.value(s.Cond)
		a.block(s.Then)
		a.block(s.Else)
	case *Switch:
		a.value(s.Value)
		for _, c := range s.Cases {
			a.block(c.Body)
		}
	case *For:
		a.stmt(s.Init)
		a.value(s.Cond)
		a.stmt(s.Post)
		a.block(s.Body)
	case *While:
		a.value(s.Cond)
		a.block(s.Body)
	case *Loop:
		a.block(s.Body)
		a.block(s.Continuing)
		a.value(s.BreakIf)
	case *Declare:
		a.value(s.Init)
	case *Ignore:
		a.value(s.Value)
	case *Return:
		a.value(s.Value)
	case *CallStmt:
		a.value(s.Call)
	}
}

// value finds what the value of an expression is read from.
func (a *accesses) value(e Expr) {
	switch e := e.(type) {
	case nil:
	case *Ident:
		if e.Symbol != nil && !isPointer(e.Symbol.Type) {
			a.add(e.Symbol, access{read: true})
		}
	case *Call:
		a.call(e)
	case *Unary:
		switch {
		case e.Op == "&":
			a.indices(e.X)
		case e.Op == "*":
			a.add(root(e), access{read: true})
			a.indices(e.X)
		default:
			a.value(e.X)
		}
	case *Index, *Member:
		if r := root(e); r != nil {
			a.add(r, access{read: true})
			a.indices(e)
			return
		}
		for _, x := range Children(e) {
			a.value(x)
		}
	default:
		for _, x := range Children(e) {
			a.value(x)
		}
	}
}

// indices finds what the indices in a place are read from.
func (a *accesses) indices(e Expr) {
	switch e := e.(type) {
	case *Index:
		a.indices(e.X)
		a.value(e.I)
	case *Member:
		a.indices(e.X)
	case *Unary:
		a.indices(e.X)
	}
}

func (a *accesses) call(e *Call) {
	inner := a.functions[e.Func]
	reached := map[*Symbol]access{} // what the callee reaches by name
	for s, what := range inner {
		if s.Kind == VarSymbol {
			a.add(s, what)
			reached[s] = what
		}
	}
	for i, x := range e.Args {
		a.value(x)
		r := root(x)
		if !isPointer(typeOf(x)) || r == nil {
			continue
		}
		what := access{read: true, write: isAtomic(e.Name) && e.Name != "atomicLoad"}
		if e.Name == "arrayLength" {
			what = access{}
		}
		if e.Func != nil {
			what = inner[e.Func.Params[i]]
			place := pointee(r)
			other := reached[place]
			if other.write && (what.read || what.write) || what.write && (other.read || other.write) {
				a.errs = append(a.errs, errorAt(x.Expression().Pos, "", "argument %s of %s reaches %s, which %s reaches too, and one of them writes",
					e.Func.Params[i].Name, e.Name, place.Name, e.Name))
			}
			reached[place] = other.or(what)
		}
		a.add(r, what)
	}
}
