package wgsl

import "fmt"

// CheckUniformity reports barriers and subgroup operations that not all invocations of a workgroup are sure to reach together. It
// is simpler and stricter than the analysis of the WGSL specification: a variable is uniform only if every assignment to it is, in
// the whole function, and a function with collective calls must not branch on its parameters around them.
func CheckUniformity(f *File) []*Error {
	a := &uniformity{functions: map[*Func]summary{}}
	for _, d := range f.Decls {
		if fn, ok := d.(*Func); ok {
			a.function(fn)
		}
	}
	return a.errs
}

// report adds a mistake once: the Go line of an unrolled loop makes the same one many times.
func (u *uniformity) report(p Pos, format string, args ...any) {
	e := errorAt(p, "", format, args...)
	for _, old := range u.errs {
		if *old == *e {
			return
		}
	}
	u.errs = append(u.errs, e)
}

// summary is what callers must know of a function.
type summary struct {
	collective bool // it must be called in uniform control flow
	varying    bool // its result varies although its arguments don't
}

// cause says why control flow or a value varies between invocations: nil when it doesn't.
type cause struct {
	pos  Pos
	text string
}

func (c *cause) String() string { return fmt.Sprintf("%s at %s", c.text, c.pos) }

type uniformity struct {
	functions map[*Func]summary
	errs      []*Error

	// Of the function being analysed. Values only ever turn from uniform to varying, so a round without a change ends.
	varying map[*Symbol]*cause
	broken  map[Stmt]*cause // loops whose rounds some invocations leave early
	loops   []Stmt
	result  *cause // of the value returned
	params  bool   // parameters vary
	changed bool
	final   bool // nothing changes any more: report
	calls   bool // a collective call was seen
}

// function analyses with uniform parameters for the result, then with varying ones, unless it is the entry point, for the rules.
func (u *uniformity) function(f *Func) {
	u.params = false
	u.settle(f)
	s := summary{collective: u.calls, varying: u.result != nil}
	u.params = true
	u.settle(f)
	u.final = true
	u.block(f.Body, nil)
	u.final = false
	u.functions[f] = s
}

func (u *uniformity) settle(f *Func) {
	u.varying, u.broken = map[*Symbol]*cause{}, map[Stmt]*cause{}
	u.result, u.calls = nil, false
	for u.changed = true; u.changed; {
		u.changed = false
		u.block(f.Body, nil)
	}
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
		if s.Init != nil {
			u.mark(s.Symbol, or(u.value(s.Init, flow), flow))
		} else {
			u.mark(s.Symbol, flow)
		}
	case *Assign:
		c := or(or(u.value(s.To, flow), u.value(s.Value, flow)), flow) // the target for its indices
		if r := root(s.To); r != nil {
			u.mark(r, c)
		}
	case *If:
		return u.branch(s, flow)
	case *For:
		return u.loop(s, s.Init, s.Cond, s.Post, s.Body, flow)
	case *While:
		return u.loop(s, nil, s.Cond, nil, s.Body, flow)
	case *Block:
		return u.block(s, flow)
	case *CallStmt:
		u.value(s.Call, flow)
	case *Break, *Continue: // who goes on early isn't waited for before the loop ends
		if n := len(u.loops); n > 0 {
			u.breaks(u.loops[n-1], flow)
		}
	case *Return:
		for _, l := range u.loops {
			u.breaks(l, flow)
		}
		c := flow
		if s.Value != nil {
			c = or(u.value(s.Value, flow), flow)
		}
		u.result = or(u.result, c)
	}
	return flow
}

// branch analyses an if. After one that varies and that some invocations leave by return, break or continue, the rest varies.
func (u *uniformity) branch(s *If, flow *cause) *cause {
	inner := or(flow, u.condition(s.Cond, flow))
	a, b := u.block(s.Then, inner), u.block(s.Else, inner)
	if inner == nil {
		return or(a, b)
	}
	if flow == nil && (leaves(s.Then, true) || leaves(s.Else, true)) {
		return inner
	}
	return flow
}

func (u *uniformity) loop(s, init Stmt, cond Expr, post Stmt, body *Block, flow *cause) *cause {
	if init != nil {
		u.stmt(init, flow)
	}
	inner := or(flow, u.broken[s])
	inner = or(inner, u.condition(cond, inner))
	u.loops = append(u.loops, s)
	u.block(body, inner)
	u.loops = u.loops[:len(u.loops)-1]
	if post != nil {
		u.stmt(post, inner)
	}
	if flow == nil && inner != nil && returning(body) {
		return inner
	}
	return flow
}

func (u *uniformity) condition(cond Expr, flow *cause) *cause {
	c := u.value(cond, flow)
	if c == nil {
		return nil
	}
	return &cause{cond.Expression().Pos, FormatExpr(cond) + " (" + c.text + ")"}
}

func (u *uniformity) mark(s *Symbol, c *cause) {
	if c != nil && u.varying[s] == nil {
		u.varying[s] = c
		u.changed = true
	}
}

func (u *uniformity) breaks(loop Stmt, c *cause) {
	if c != nil && u.broken[loop] == nil {
		u.broken[loop] = c
		u.changed = true
	}
}

func or(a, b *cause) *cause {
	if a != nil {
		return a
	}
	return b
}

// leaves reports whether a block has a return, or with jumps a break or continue of the loop around it.
func leaves(b *Block, jumps bool) bool {
	if b == nil {
		return false
	}
	for _, s := range b.List {
		found := false
		switch s := s.(type) {
		case *Return:
			found = true
		case *Break, *Continue:
			found = jumps
		case *If:
			found = leaves(s.Then, jumps) || leaves(s.Else, jumps)
		case *Block:
			found = leaves(s, jumps)
		case *For:
			found = leaves(s.Body, false)
		case *While:
			found = leaves(s.Body, false)
		}
		if found {
			return true
		}
	}
	return false
}

func returning(b *Block) bool { return leaves(b, false) }
