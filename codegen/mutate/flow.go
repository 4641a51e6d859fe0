package mutate

import (
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// relations are the comparisons with the one that differs where both sides are equal.
var relations = map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">"}

// bound moves a bound by one: the comparison's end, the number compared with, and the number of a clamp.
func bound(p place) []wgsl.Expr {
	switch e := p.expr().(type) {
	case *wgsl.Binary:
		if op, ok := relations[e.Op]; ok {
			return []wgsl.Expr{binary(e, op, e.X, e.Y)}
		}
	case *wgsl.Literal:
		if comparison(p.parent()) || clamp(p.parent()) {
			return neighbours(e, 0)
		}
	}
	return nil
}

func comparison(e wgsl.Expr) bool {
	b, ok := e.(*wgsl.Binary)
	return ok && relations[b.Op] != ""
}

func clamp(e wgsl.Expr) bool {
	c, ok := e.(*wgsl.Call)
	return ok && (c.Name == "min" || c.Name == "max" || c.Name == "clamp")
}

// neighbours returns an integer literal less one and plus one, if not below least.
func neighbours(l *wgsl.Literal, least int64) []wgsl.Expr {
	if _, ok := integerLiteral(l); !ok {
		return nil
	}
	list := []wgsl.Expr{withInt(l, l.Value.Int+1)}
	if l.Value.Int > least {
		list = append(list, withInt(l, l.Value.Int-1))
	}
	return list
}

// condition reports whether a place is the whole condition of an if.
func condition(p place) bool {
	s, ok := p.stmt.(*wgsl.If)
	return ok && p.slot == &s.Cond
}

// guard takes away what holds a value or a block back.
func guard(p place) []wgsl.Expr {
	if condition(p) {
		return []wgsl.Expr{truth(p.expr(), true)}
	}
	c, ok := p.expr().(*wgsl.Call)
	if !ok || len(c.Args) != 2 || !clamp(c) {
		return nil
	}
	for i, a := range c.Args {
		if a.Expression().Const {
			return []wgsl.Expr{c.Args[1-i]}
		}
	}
	return nil
}

// tail makes a guarded block one that never runs.
func tail(p place) []wgsl.Expr {
	if condition(p) {
		return []wgsl.Expr{truth(p.expr(), false)}
	}
	return nil
}

// lastStatement drops the last statement of a block within a function, as where one piece too few was unrolled.
func lastStatement(s spot) (wgsl.Stmt, bool) {
	return nil, !s.function && s.at == len(s.block.List)-1 && effect(s.stmt())
}

// statement drops any assignment or call.
func statement(s spot) (wgsl.Stmt, bool) { return nil, effect(s.stmt()) }

// effect reports whether a statement is an assignment or a call that isn't a barrier.
func effect(s wgsl.Stmt) bool {
	switch s := s.(type) {
	case *wgsl.Assign:
		return true
	case *wgsl.CallStmt:
		return !strings.HasSuffix(s.Call.Name, "Barrier")
	}
	return false
}

// barrier drops a barrier.
func barrier(s spot) (wgsl.Stmt, bool) {
	c, ok := s.stmt().(*wgsl.CallStmt)
	return nil, ok && strings.HasSuffix(c.Call.Name, "Barrier")
}

// logic asks the opposite question, or one of two.
func logic(p place) []wgsl.Expr {
	switch e := p.expr().(type) {
	case *wgsl.Binary:
		if op, ok := map[string]string{"==": "!=", "!=": "==", "&&": "||", "||": "&&"}[e.Op]; ok {
			return []wgsl.Expr{binary(e, op, e.X, e.Y)}
		}
	case *wgsl.Unary:
		if e.Op == "!" {
			return []wgsl.Expr{e.X}
		}
	}
	return nil
}
