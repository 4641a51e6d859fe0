package wgsl

// Inspect calls visit for every expression of a file, in the order of the text, outer ones first. Lengths of arrays are not among
// them.
func Inspect(f *File, visit func(Expr)) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *Var:
			walk(d.Init, visit)
		case *Override:
			walk(d.Init, visit)
		case *Declare:
			walk(d.Init, visit)
		case *Assert:
			walk(d.Cond, visit)
		case *Func:
			for _, e := range d.Sizes {
				walk(e, visit)
			}
			InspectBlock(d.Body, visit)
		}
	}
}

// walk is Walk, where there may be no expression.
func walk(e Expr, visit func(Expr)) {
	if e != nil {
		Walk(e, visit)
	}
}

// InspectBlock calls visit for every expression of a block, outer ones first.
func InspectBlock(b *Block, visit func(Expr)) {
	if b == nil {
		return
	}
	for _, s := range b.List {
		inspectStmt(s, visit)
	}
}

func inspectStmt(s Stmt, visit func(Expr)) {
	switch s := s.(type) {
	case *Declare:
		walk(s.Init, visit)
	case *Assign:
		walk(s.To, visit)
		walk(s.Value, visit)
	case *Ignore:
		walk(s.Value, visit)
	case *CallStmt:
		Walk(s.Call, visit)
	case *Return:
		walk(s.Value, visit)
	case *Assert:
		walk(s.Cond, visit)
	case *Block:
		InspectBlock(s, visit)
	case *If:
		walk(s.Cond, visit)
		InspectBlock(s.Then, visit)
		InspectBlock(s.Else, visit)
	case *Switch:
		walk(s.Value, visit)
		for _, c := range s.Cases {
			for _, v := range c.Values {
				walk(v, visit)
			}
			InspectBlock(c.Body, visit)
		}
	case *For:
		inspectStmt(s.Init, visit)
		walk(s.Cond, visit)
		inspectStmt(s.Post, visit)
		InspectBlock(s.Body, visit)
	case *While:
		walk(s.Cond, visit)
		InspectBlock(s.Body, visit)
	case *Loop:
		InspectBlock(s.Body, visit)
		InspectBlock(s.Continuing, visit)
		walk(s.BreakIf, visit)
	}
}
