package wgsl

import "fmt"

// CheckUniformity reports barriers and subgroup operations that not all invocations of a workgroup are sure to reach together, by the
// rules of WGSL. A variable is uniform at a place where all that may have been assigned to it by then is, as a whole: an element
// that varies makes its array vary. A function says which of its parameters must be uniform; its callers answer for them.
func CheckUniformity(f *File) []*Error {
	u := &uniformity{functions: map[*Func]summary{}, lenient: lenient(f.Directives, false)}
	for _, d := range f.Decls {
		if fn, ok := d.(*Func); ok {
			u.function(fn)
		}
	}
	return u.errs
}

// lenient reports whether diagnostics make subgroup operations in varying control flow no error.
func lenient(directives []Directive, otherwise bool) bool {
	for _, d := range directives {
		if d.Name == "diagnostic" && d.Args[1] == "subgroup_uniformity" {
			otherwise = d.Args[0] != "error"
		}
	}
	return otherwise
}

// report adds a mistake once: the Go line of an unrolled loop makes the same one many times.
func (u *uniformity) report(p Pos, format string, args ...any) {
	e := errorAt(p, "", format, args...)
	if u.probing {
		if u.broken == nil {
			u.broken = &cause{p, e.Message}
		}
		return
	}
	for _, old := range u.errs {
		if *old == *e {
			return
		}
	}
	u.errs = append(u.errs, e)
}

// summary is what callers must know of a function.
type summary struct {
	collective bool     // it must be called in uniform control flow
	varying    bool     // its result varies although its arguments don't
	parts      []effect // of each parameter
	writes     []bool   // what a parameter points to varies after a call although no argument does
}

// whole reports whether a pointer points to all of a variable.
func (u *uniformity) whole(e Expr) bool {
	switch e := e.(type) {
	case *Unary:
		id, ok := e.X.(*Ident)
		return e.Op == "&" && ok && !isPointer(id.Type)
	case *Ident:
		return e.Symbol != nil && (e.Symbol.Kind == ParamSymbol || u.wholes[e.Symbol])
	}
	return false
}

// effect is what a parameter that varies does to a function.
type effect struct {
	result bool   // the result varies
	writes []bool // what each parameter points to varies
	broken *cause // what must not be: control flow around a collective call varies
}

// cause says why control flow or a value varies between invocations: nil when it doesn't.
type cause struct {
	pos  Pos
	text string
}

func (c *cause) String() string { return fmt.Sprintf("%s at %s", c.text, c.pos) }

// variables holds those that vary, and why. It is nil where no invocation gets.
type variables map[*Symbol]*cause

func (v variables) copied() variables {
	if v == nil {
		return nil
	}
	c := make(variables, len(v))
	for s, why := range v {
		c[s] = why
	}
	return c
}

// joined returns the variables where two ways meet.
func joined(a, b variables) variables {
	if a == nil {
		return b.copied()
	}
	if b == nil {
		return a
	}
	for s, why := range b {
		if a[s] == nil {
			a[s] = why
		}
	}
	return a
}

type uniformity struct {
	functions map[*Func]summary
	lenient   bool // of the file
	errs      []*Error

	// Of the function being analysed. What is known of values and of the heads of loops only ever turns from uniform to varying,
	// so a round without a change ends.
	wholes   map[*Symbol]bool   // of let that points to all of a variable
	values   map[*Symbol]*cause // of let, and of where pointers point
	heads    map[Stmt]variables // at the head of a loop
	back     map[Stmt]*cause    // of the flow that comes back to a loop's head
	state    variables          // where the analysis stands
	targets  []*target
	varied   *Symbol   // the parameter that varies
	result   *cause    // of the value returned
	out      variables // where the function ends
	changed  bool
	final    bool // nothing changes any more: report
	probing  bool // reports go to broken
	broken   *cause
	calls    bool // a collective call was seen
	tolerant bool // subgroup operations may stand in varying flow
}

// target is a loop or switch that break or continue leave.
type target struct {
	loop              bool
	breaks, continues variables
}

// function analyses a function after those that it calls: with uniform parameters, and again for each parameter that might vary.
func (u *uniformity) function(f *Func) {
	if _, done := u.functions[f]; done {
		return
	}
	InspectBlock(f.Body, func(e Expr) {
		if call, ok := e.(*Call); ok && call.Func != nil {
			u.function(call.Func)
		}
	})
	u.tolerant = lenient(f.Diagnostics, u.lenient)
	u.analyse(f, nil, false)
	s := summary{collective: u.calls, varying: u.result != nil}
	for _, p := range f.Params {
		s.writes = append(s.writes, u.out[p] != nil)
	}
	if !f.Entry() {
		for _, p := range f.Params {
			u.analyse(f, p, true)
			part := effect{result: u.result != nil && !s.varying, broken: u.broken}
			for _, q := range f.Params {
				part.writes = append(part.writes, u.out[q] != nil)
			}
			s.parts = append(s.parts, part)
		}
	}
	u.functions[f] = s
}

func (u *uniformity) analyse(f *Func, varied *Symbol, probing bool) {
	u.wholes = map[*Symbol]bool{}
	u.values, u.heads, u.back = map[*Symbol]*cause{}, map[Stmt]variables{}, map[Stmt]*cause{}
	u.result, u.calls, u.broken, u.varied, u.probing = nil, false, nil, varied, probing
	round := func() {
		u.out, u.changed = nil, false
		u.state = variables{}
		if varied != nil {
			u.state[varied] = &cause{varied.Pos, "parameter " + varied.Name}
		}
		u.block(f.Body, nil)
		u.out = joined(u.out, u.state)
	}
	for round(); u.changed; {
		round()
	}
	u.final = true
	round()
	u.final = false
}

// block analyses statements that are reached in the given control flow, and returns that of what follows.
func (u *uniformity) block(b *Block, flow *cause) *cause {
	if b == nil {
		return flow
	}
	for _, s := range b.List {
		flow = u.stmt(s, flow)
	}
	return flow
}

func (u *uniformity) stmt(s Stmt, flow *cause) *cause {
	switch s := s.(type) {
	case *Declare:
		u.declare(s, flow)
	case *Assign:
		u.assign(s, flow)
	case *Ignore:
		u.value(s.Value, flow)
	case *If:
		return u.branch(s, flow)
	case *Switch:
		return u.choice(s, flow)
	case *For:
		return u.loop(&round{s, s.Init, s.Cond, s.Body, &Block{List: present(s.Post)}, nil}, flow)
	case *While:
		return u.loop(&round{s, nil, s.Cond, s.Body, nil, nil}, flow)
	case *Loop:
		return u.loop(&round{s, nil, nil, s.Body, s.Continuing, s.BreakIf}, flow)
	case *Block:
		return u.block(s, flow)
	case *CallStmt:
		u.value(s.Call, flow)
	case *Break:
		if n := len(u.targets); n > 0 {
			t := u.targets[n-1]
			t.breaks = joined(t.breaks, u.state)
		}
		u.state = nil
	case *Continue:
		for i := len(u.targets) - 1; i >= 0; i-- {
			if t := u.targets[i]; t.loop {
				t.continues = joined(t.continues, u.state)
				break
			}
		}
		u.state = nil
	case *Return:
		c := flow
		if s.Value != nil {
			c = or(u.value(s.Value, flow), flow)
		}
		u.result = or(u.result, c)
		u.out = joined(u.out, u.state)
		u.state = nil
	}
	return flow
}

func present(s Stmt) []Stmt {
	if s == nil {
		return nil
	}
	return []Stmt{s}
}

func (u *uniformity) declare(s *Declare, flow *cause) {
	c := flow
	if s.Init != nil {
		c = or(u.value(s.Init, flow), flow)
	}
	switch {
	case s.Symbol.Kind == VarSymbol:
		u.set(s.Symbol, c)
	case s.Init != nil && isPointer(s.Symbol.Type): // what it points to is another question
		u.mark(s.Symbol, u.indices(s.Init, flow))
		u.wholes[s.Symbol] = u.whole(s.Init)
	default:
		u.mark(s.Symbol, c)
	}
}

// assign analyses an assignment. One to a part of a variable leaves the rest as it was.
func (u *uniformity) assign(s *Assign, flow *cause) {
	c := or(u.value(s.Value, flow), u.indices(s.To, flow))
	_, whole := s.To.(*Ident)
	if d, ok := s.To.(*Unary); ok && d.Op == "*" {
		whole = u.whole(d.X)
	}
	r := root(s.To)
	if r != nil && (!whole || s.Op != "") {
		c = or(c, u.state[pointee(r)])
	}
	if r != nil {
		u.set(pointee(r), or(c, flow))
	}
}

// pointee returns the variable behind a pointer: the symbol itself when it is none.
func pointee(s *Symbol) *Symbol {
	if s.Points != nil {
		return s.Points
	}
	return s
}

// set says what a variable is from here on.
func (u *uniformity) set(s *Symbol, c *cause) {
	switch {
	case u.state == nil:
	case c == nil:
		delete(u.state, s)
	default:
		u.state[s] = c
	}
}

// branch analyses an if. After one that varies and that some invocations leave by return, break or continue, the rest varies.
func (u *uniformity) branch(s *If, flow *cause) *cause {
	inner := or(flow, u.condition(s.Cond, flow))
	before := u.state.copied()
	a := u.block(s.Then, inner)
	then := u.state
	u.state = before
	b := u.block(s.Else, inner)
	u.state = joined(then, u.state)
	if inner == nil {
		return or(a, b)
	}
	if flow == nil && (leaves(s.Then) || leaves(s.Else)) {
		return inner
	}
	return flow
}

func (u *uniformity) choice(s *Switch, flow *cause) *cause {
	inner := or(flow, u.condition(s.Value, flow))
	before := u.state
	t := &target{}
	u.targets = append(u.targets, t)
	var after variables
	var end *cause
	left := false
	for _, c := range s.Cases {
		u.state = before.copied()
		end = or(end, u.block(c.Body, inner))
		after = joined(after, u.state)
		w := behaviour(c.Body.List)
		left = left || w.continues || w.returns
	}
	u.targets = u.targets[:len(u.targets)-1]
	u.state = joined(after, t.breaks)
	switch {
	case !left:
		return flow
	case inner == nil:
		return end
	}
	return or(flow, inner)
}

// round is one round of a loop of any kind.
type round struct {
	loop       Stmt
	init       Stmt
	cond       Expr
	body       *Block
	continuing *Block
	breakIf    Expr
}

func (u *uniformity) loop(r *round, flow *cause) *cause {
	if r.init != nil {
		u.stmt(r.init, flow)
	}
	u.grow(r.loop, u.state)
	u.state = u.heads[r.loop].copied()
	inner := or(flow, u.back[r.loop])
	t := &target{loop: true}
	u.targets = append(u.targets, t)
	var after variables
	if r.cond != nil {
		inner = or(inner, u.condition(r.cond, inner))
		after = u.state.copied()
	}
	end := u.block(r.body, inner)
	u.state = joined(u.state, t.continues)
	end = u.block(r.continuing, end)
	if r.breakIf != nil {
		end = or(end, u.condition(r.breakIf, end))
		after = joined(after, u.state)
	}
	u.grow(r.loop, u.state)
	if end != nil && u.back[r.loop] == nil {
		u.back[r.loop], u.changed = end, true
	}
	u.targets = u.targets[:len(u.targets)-1]
	u.state = joined(after, t.breaks)
	if behaviour(r.body.List).returns {
		return or(flow, or(inner, end))
	}
	return flow
}

// grow adds what comes to the head of a loop.
func (u *uniformity) grow(loop Stmt, state variables) {
	if state == nil {
		return
	}
	head := u.heads[loop]
	if head == nil {
		head = variables{}
		u.heads[loop] = head
	}
	for s, c := range state {
		if head[s] == nil {
			head[s], u.changed = c, true
		}
	}
}

func (u *uniformity) condition(cond Expr, flow *cause) *cause {
	c := u.value(cond, flow)
	if c == nil {
		return nil
	}
	return &cause{cond.Expression().Pos, FormatExpr(cond) + " (" + c.text + ")"}
}

func (u *uniformity) mark(s *Symbol, c *cause) {
	if c != nil && u.values[s] == nil {
		u.values[s] = c
		u.changed = true
	}
}

func or(a, b *cause) *cause {
	if a != nil {
		return a
	}
	return b
}

// leaves reports whether a block can end otherwise than at its end.
func leaves(b *Block) bool {
	if b == nil {
		return false
	}
	w := behaviour(b.List)
	return w.breaks || w.continues || w.returns
}
