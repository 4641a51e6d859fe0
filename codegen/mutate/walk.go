package mutate

import (
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// place is where an expression stands: the slot that holds it, the expressions around it from the outside to the inside, and the
// statement.
type place struct {
	slot   *wgsl.Expr
	around []wgsl.Expr
	stmt   wgsl.Stmt
	post   bool           // the statement is what a for does after each trip
	names  []*wgsl.Symbol // the variables and values in scope, in the order of their declarations
}

// expr returns the expression that stands there.
func (p place) expr() wgsl.Expr { return *p.slot }

// parent returns the expression next around; nil where the statement is.
func (p place) parent() wgsl.Expr {
	if len(p.around) == 0 {
		return nil
	}
	return p.around[len(p.around)-1]
}

// spot is where a statement of a block stands.
type spot struct {
	block    *wgsl.Block
	at       int
	function bool // the block is the body of a function
}

// stmt returns the statement that stands there.
func (s spot) stmt() wgsl.Stmt { return s.block.List[s.at] }

// put sets a statement in the place of the old one, or takes that out.
func (s spot) put(to wgsl.Stmt) {
	list := slices.Clone(s.block.List)
	if to == nil {
		s.block.List = slices.Delete(list, s.at, s.at+1)
		return
	}
	list[s.at] = to
	s.block.List = list
}

// restore returns what undoes a put.
func (s spot) restore() func() {
	list := s.block.List
	return func() { s.block.List = list }
}

// walker goes through the functions of a file in the order of the text.
type walker struct {
	expr  func(place)
	stmt  func(spot)
	names []*wgsl.Symbol
}

// walk visits the expressions and statements of a file's functions, but not conditions that decide nothing. Operands and statements in
// a block come after what they are in.
func walk(file *wgsl.File, expr func(place), stmt func(spot)) {
	w := &walker{expr: expr, stmt: stmt}
	for _, d := range file.Decls {
		if v, ok := d.(*wgsl.Var); ok {
			w.names = append(w.names, v.Symbol)
		}
	}
	for _, d := range file.Decls {
		if f, ok := d.(*wgsl.Func); ok {
			w.scope(func() {
				w.names = append(w.names, f.Params...)
				w.block(f.Body, true)
			})
		}
	}
}

// scope forgets the names that are declared within.
func (w *walker) scope(within func()) {
	n := len(w.names)
	within()
	w.names = w.names[:n:n]
}

func (w *walker) block(b *wgsl.Block, function bool) {
	if b == nil {
		return
	}
	w.scope(func() {
		for i, s := range b.List {
			w.stmt(spot{b, i, function})
			w.inside(s, false)
		}
	})
}

// inside visits what a statement is made of.
func (w *walker) inside(s wgsl.Stmt, post bool) {
	slots := func(list ...*wgsl.Expr) {
		for _, slot := range list {
			w.place(place{slot: slot, stmt: s, post: post, names: w.names})
		}
	}
	switch s := s.(type) {
	case *wgsl.Declare:
		slots(&s.Init)
		w.names = append(w.names, s.Symbol)
	case *wgsl.Assign:
		slots(&s.To, &s.Value)
	case *wgsl.Ignore:
		slots(&s.Value)
	case *wgsl.Return:
		slots(&s.Value)
	case *wgsl.CallStmt:
		for i := range s.Call.Args {
			w.place(place{slot: &s.Call.Args[i], around: []wgsl.Expr{s.Call}, stmt: s, names: w.names})
		}
	case *wgsl.Block:
		w.block(s, false)
	case *wgsl.If:
		if !equalBranches(s) {
			slots(&s.Cond)
		}
		w.block(s.Then, false)
		w.block(s.Else, false)
	case *wgsl.Switch:
		slots(&s.Value)
		for _, c := range s.Cases {
			w.block(c.Body, false)
		}
	case *wgsl.For:
		w.scope(func() {
			w.inside(s.Init, false)
			slots(&s.Cond)
			w.inside(s.Post, true)
			w.block(s.Body, false)
		})
	case *wgsl.While:
		slots(&s.Cond)
		w.block(s.Body, false)
	case *wgsl.Loop:
		w.block(s.Body, false)
		w.block(s.Continuing, false)
		slots(&s.BreakIf)
	}
}

// equalBranches reports whether an if runs the same text whatever its condition is.
func equalBranches(s *wgsl.If) bool {
	if s.Else == nil {
		return false
	}
	branch := s.Else
	if len(branch.List) == 1 {
		if next, ok := branch.List[0].(*wgsl.If); ok && equalBranches(next) {
			branch = next.Then
		}
	}
	return textOf(s.Then) == textOf(branch)
}

func textOf(b *wgsl.Block) string {
	return wgsl.Print(&wgsl.File{Decls: []wgsl.Decl{&wgsl.Func{Body: b}}})
}

func (w *walker) place(p place) {
	if *p.slot == nil {
		return
	}
	w.expr(p)
	around := append(slices.Clone(p.around), p.expr())
	for _, slot := range operandSlots(p.expr()) {
		w.place(place{slot, around, p.stmt, p.post, p.names})
	}
}

// operandSlots returns the slots of what an expression is made of.
func operandSlots(e wgsl.Expr) []*wgsl.Expr {
	switch e := e.(type) {
	case *wgsl.Unary:
		return []*wgsl.Expr{&e.X}
	case *wgsl.Binary:
		return []*wgsl.Expr{&e.X, &e.Y}
	case *wgsl.Index:
		return []*wgsl.Expr{&e.X, &e.I}
	case *wgsl.Member:
		return []*wgsl.Expr{&e.X}
	case *wgsl.Call:
		return slotsOf(e.Args)
	case *wgsl.Construct:
		return slotsOf(e.Args)
	case *wgsl.Bitcast:
		return []*wgsl.Expr{&e.X}
	}
	return nil
}

func slotsOf(args []wgsl.Expr) []*wgsl.Expr {
	slots := make([]*wgsl.Expr, len(args))
	for i := range args {
		slots[i] = &args[i]
	}
	return slots
}
