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
		if len(f.params) > 0 && g.chance(30) { // a value and a pointer of one kind may get one variable
			k = pick(g, f.params...)
		}
		name, pointer := g.name("a"), g.chance(40) || f.result == nil && len(params) == 0
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
		g.statements(2)
		for i, pointer := range f.points {
			if pointer && g.chance(70) {
				g.change(scope[i])
			}
		}
		g.statements(3)
		if f.result != nil {
			g.leave()
		}
	})
	g.scopes = nil
	g.functions = append(g.functions, f)
}

// change writes some parts of a variable.
func (g *generator) change(v *variable) {
	for range 2 {
		k := g.part(v.kind)
		if place, ok := g.walk(v.name, v.kind, k, true); ok {
			g.assign(place, k)
		}
	}
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
	first := g.first
	g.first = nil // calls in the arguments are of other functions
	var args []string
	var taken []string
	for i, k := range f.params {
		if !f.points[i] {
			if first != nil && first.kind.String() == k.String() && g.chance(60) {
				args = append(args, first.name)
			} else {
				args = append(args, g.initialShallow(k))
			}
			continue
		}
		free := g.visible(func(v *variable) bool {
			return v.address && v.kind.String() == k.String() && !slices.Contains(taken, v.name)
		})
		if len(free) == 0 {
			return "", false
		}
		if first != nil && len(taken) == 0 {
			free[0] = first
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

// order writes an expression of a variable and of a call that may change it, if there is such a function.
func (g *generator) order() bool {
	for _, f := range g.functions {
		at := slices.Index(f.points, true)
		if f.result == nil || at < 0 {
			continue
		}
		scalar := plain(g.part(f.result).scalar, 1)
		part, ok := g.walk("", f.result, scalar, false)
		if !ok {
			continue
		}
		g.provide(f)
		pointed := f.params[at]
		for _, v := range g.visible(func(v *variable) bool { return v.address && v.kind.String() == pointed.String() }) {
			k := *g.part(pointed)
			if k.scalar == "bool" {
				k.scalar = "u32"
			}
			g.about(v, func() { g.around(f, v, &k, part, scalar.scalar) })
			return true
		}
	}
	return false
}

// provide declares variables that a function's pointers can point to, where there are none.
func (g *generator) provide(f *function) {
	needed := map[string]int{}
	for i, k := range f.params {
		if !f.points[i] {
			continue
		}
		needed[k.String()]++
		if len(g.visible(func(v *variable) bool { return v.address && v.kind.String() == k.String() })) >= needed[k.String()] {
			continue
		}
		v := &variable{name: g.name("v"), kind: k, writable: true, address: true}
		g.line("var %s: %s = %s;", v.name, k, g.initial(k))
		g.add(v)
	}
}

// around puts a call that changes a variable among operands that read it. Part is the scalar of the call's value that is used.
func (g *generator) around(f *function, v *variable, k *kind, part, scalar string) {
	call, ok := g.callWith(f, v)
	if !ok {
		return
	}
	middle := fmt.Sprintf("(i32(%s) & 15)", call+part)
	if k.scalar != "i32" {
		middle = fmt.Sprintf("%s%s", k.scalar, middle)
	}
	before, after := g.runtime(k).text, g.unary(g.value(k, 1))
	if k.width > 1 && g.chance(40) {
		before = g.vector(k, 1).text
	} else if g.chance(40) {
		before = g.unary(g.value(k, depth))
	}
	forms := []string{"%s - %s * %s", "max(%s, %s) ^ %s", "select(%s, %s, true) - %s", "(%s | %s) + %s"}
	if k.scalar[0] == 'f' {
		before, after = fmt.Sprintf("trunc(%s)", g.runtime(k).text), g.runtime(k).text
		forms = []string{"%s - %s - %s", "max(%s, %s) + %s", "select(%s, %s, true) - %s"}
	}
	r := &variable{name: g.name("c"), kind: k}
	e := expr{text: fmt.Sprintf(pick(g, forms...), before, splat(k, middle), after), size: 3 * tame(k.scalar)}
	g.line("let %s = %s;", r.name, g.tamed(k, e))
	g.add(r)
	g.note(r, 100)
}

// callWith is callText with a variable for the first pointer.
func (g *generator) callWith(f *function, v *variable) (string, bool) {
	g.first = v
	return g.callText(f)
}
