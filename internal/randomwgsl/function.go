package randomwgsl

import (
	"fmt"
	"slices"
	"strings"
)

// helper writes a function.
func (g *generator) helper() {
	f := &function{name: g.name("h")}
	if g.chance(85) {
		f.result = g.anyKind()
	}
	var params []string
	var scope []*variable
	for range 1 + g.r.IntN(3) {
		k := g.anyKind()
		name, pointer := g.name("a"), g.chance(25) || f.result == nil && len(params) == 0
		v := &variable{name: name, kind: k}
		text := fmt.Sprintf("%s: %s", name, k)
		if pointer {
			v.name, v.writable = "(*"+name+")", true
			text = fmt.Sprintf("%s: ptr<function, %s>", name, k)
		}
		f.params, f.points = append(f.params, k), append(f.points, pointer)
		params, scope = append(params, text), append(scope, v)
	}
	head := fmt.Sprintf("fn %s(%s)", f.name, strings.Join(params, ", "))
	if f.result != nil {
		head += fmt.Sprintf(" -> %s", f.result)
	}
	g.result, g.budget, g.loops = f.result, 8, 0
	g.scopes = [][]*variable{scope}
	g.block(head, func() {
		g.statements(5)
		if f.result != nil {
			g.leave()
		}
	})
	g.scopes = nil
	g.functions = append(g.functions, f)
}

// leave writes a return.
func (g *generator) leave() {
	if g.result == nil {
		g.line("return;")
		return
	}
	g.line("return %s;", g.initial(g.result))
}

// called returns a call whose value, or a part of it, is of a kind. What it writes, privates and by pointers, shows in what order
// operands are computed.
func (g *generator) called(k *kind) (string, bool) {
	if len(g.functions) == 0 || g.calls > 0 {
		return "", false
	}
	f := pick(g, g.functions...)
	if f.result == nil {
		return "", false
	}
	part, ok := g.walk("", f.result, k, false)
	if !ok {
		return "", false
	}
	g.calls++
	defer func() { g.calls-- }()
	call, ok := g.callText(f)
	return call + part, ok
}

// callText returns a call. There is none where a pointer finds no variable; no two pointers get the same.
func (g *generator) callText(f *function) (string, bool) {
	var args []string
	var taken []string
	for i, k := range f.params {
		if !f.points[i] {
			args = append(args, g.initialShallow(k))
			continue
		}
		free := g.visible(func(v *variable) bool {
			return v.address && v.kind.String() == k.String() && !slices.Contains(taken, v.name)
		})
		if len(free) == 0 {
			return "", false
		}
		taken = append(taken, free[0].name)
		args = append(args, "&"+free[0].name)
	}
	return fmt.Sprintf("%s(%s)", f.name, strings.Join(args, ", ")), true
}

// initialShallow returns an argument: of a scalar or vector with few operators.
func (g *generator) initialShallow(k *kind) string {
	if k.isPlain() && g.chance(30) { // the function may change the variable
		return g.runtime(k).text
	}
	if k.isPlain() {
		return g.tamed(k, g.value(k, 1))
	}
	return g.copied(k)
}
