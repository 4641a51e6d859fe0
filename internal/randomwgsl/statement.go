package randomwgsl

import (
	"fmt"
	"strings"
)

const depth = 2 // of expressions

// statements writes some statements, fewer the deeper they stand.
func (g *generator) statements(n int) {
	for range n {
		if g.budget <= 0 {
			return
		}
		g.budget--
		g.statement()
	}
}

func (g *generator) statement() {
	nested := g.indent < 5
	switch n := g.r.IntN(21); {
	case n == 20 && g.order():
	case n < 5:
		g.declaration()
	case n < 10:
		g.assignment()
	case n < 12 && nested:
		g.branch()
	case n == 12 && nested:
		g.choose()
	case n < 16 && nested && g.loops < 2:
		g.loop()
	case n == 16 && g.loops > 0:
		g.jump()
	case n == 16 && !g.inMain:
		g.block("if "+g.condition1(), g.leave)
	case n == 17:
		g.pointer()
	case n == 18 && len(g.functions) > 0:
		f := pick(g, g.functions...)
		g.provide(f)
		call, ok := g.callText(f)
		switch {
		case !ok:
		case f.result == nil:
			g.line("%s;", call)
		default:
			v := &variable{name: g.name("c"), kind: f.result}
			g.line("let %s = %s;", v.name, call)
			g.add(v)
			g.note(v, 70)
		}
	case n == 19 && g.chance(30):
		g.line("_ = %s;", g.typed(g.plainKind()))
	case n == 19 && nested:
		g.block("", func() { g.statements(2) })
	default:
		g.assignment()
	}
}

func (g *generator) condition1() string { return g.value(plain("bool", 1), depth).text }

// initial returns a value of any kind.
func (g *generator) initial(k *kind) string {
	var parts []string
	switch {
	case k.isPlain():
		return g.tamed(k, g.value(k, depth))
	case g.chance(20):
		return fmt.Sprintf("%s()", k)
	case k.elem != nil:
		for range k.length {
			parts = append(parts, g.initial(k.elem))
		}
	default:
		for _, f := range k.record.fields {
			parts = append(parts, g.initial(f.kind))
		}
	}
	return fmt.Sprintf("%s(%s)", k, strings.Join(parts, ", "))
}

// copied returns the value of a kind: of a variable, when there is one, or new.
func (g *generator) copied(k *kind) string {
	if !k.isPlain() && g.chance(60) {
		for _, v := range g.visible(func(v *variable) bool { return !v.unsized && v.kind.String() == k.String() }) {
			return v.name
		}
	}
	return g.initial(k)
}

// declaration writes a let or var. Now and then its name hides another.
func (g *generator) declaration() {
	k := g.anyKind()
	v := &variable{name: g.name("v"), kind: k}
	if k.isPlain() && g.chance(40) {
		g.line("let %s%s = %s;", v.name, pick(g, "", ": "+k.String()), g.typed(k))
		g.add(v)
		g.note(v, 50)
		return
	}
	v.writable, v.address = true, true
	value := g.copied(k)
	if outer := g.hidden(); outer != "" {
		v.name = outer
	}
	if g.chance(20) {
		g.line("var %s: %s;", v.name, k)
	} else {
		g.line("var %s: %s = %s;", v.name, k, value)
	}
	g.add(v)
}

// typed returns a value that has its type by itself.
func (g *generator) typed(k *kind) string {
	e := g.value(k, depth)
	if e.constant {
		e = g.runtime(k)
	}
	return g.tamed(k, e)
}

// hidden returns the name of a variable of an outer block that this block has not declared, or none.
func (g *generator) hidden() string {
	if len(g.scopes) < 3 || !g.chance(8) {
		return ""
	}
	outer := g.scopes[len(g.scopes)-2]
	for _, v := range outer {
		if !strings.ContainsAny(v.name, "*()") && !g.declared(v.name) && v.address {
			return v.name
		}
	}
	return ""
}

func (g *generator) declared(name string) bool {
	for _, v := range g.scopes[len(g.scopes)-1] {
		if v.name == name {
			return true
		}
	}
	return false
}

// assignment writes a variable, or a part of one.
func (g *generator) assignment() {
	for _, v := range g.visible(func(v *variable) bool { return v.writable }) {
		if g.chance(10) && !v.kind.isPlain() {
			g.line("%s = %s;", v.name, g.copied(v.kind))
			return
		}
		k := g.part(v.kind)
		if place, ok := g.walk(v.name, v.kind, k, true); ok {
			if g.chance(25) { // what is written overlaps what is read
				g.about(v, func() { g.assign(place, k) })
			} else {
				g.assign(place, k)
			}
			g.note(v, 40)
			return
		}
	}
	g.declaration()
}

// part returns a scalar or vector that a kind holds: one for walk to look for.
func (g *generator) part(k *kind) *kind {
	switch {
	case k.elem != nil:
		return g.part(k.elem)
	case k.record != nil:
		return g.part(pick(g, k.record.fields...).kind)
	case g.chance(40):
		return plain(k.scalar, 1)
	}
	return k
}

func (g *generator) assign(place string, k *kind) {
	integer := k.scalar == "i32" || k.scalar == "u32"
	if integer && g.chance(10) { // the call may change what is added to
		if call, ok := g.called(k); ok {
			g.line("%s %s= %s;", place, pick(g, "+", "-", "*", "^"), call)
			return
		}
	}
	switch {
	case integer && k.width == 1 && g.chance(10):
		g.line("%s%s;", place, pick(g, "++", "--"))
	case integer && g.chance(40):
		g.line("%s %s= %s;", place, pick(g, "+", "-", "*", "&", "|", "^"), g.value(k, depth).text)
	case integer && g.chance(10):
		g.line("%s %s= %s & %s;", place, pick(g, "<<", ">>"), g.unary(g.value(plain("u32", k.width), 1)), splat(plain("u32", k.width), "7u"))
	case k.scalar == "bool" && g.chance(20):
		g.line("%s %s= %s;", place, pick(g, "&", "|"), g.value(k, depth).text)
	default:
		g.line("%s = %s;", place, g.tamed(k, g.value(k, depth)))
	}
}

// pointer writes through a pointer to a variable or a part of one.
func (g *generator) pointer() {
	for _, v := range g.visible(func(v *variable) bool { return v.address }) {
		place, k := v.name, v.kind
		if g.chance(50) && !k.isPlain() {
			for !k.isPlain() {
				if k.elem != nil {
					place, k = fmt.Sprintf("%s[%s]", place, g.index(k.length)), k.elem
				} else {
					f := pick(g, k.record.fields...)
					place, k = place+"."+f.name, f.kind
				}
			}
		}
		name := g.name("p")
		p := &variable{name: "(*" + name + ")", kind: k, writable: true}
		g.line("let %s = &%s;", name, place)
		g.add(p)
		if k.isPlain() {
			g.assign(p.name, k)
		}
		return
	}
	g.declaration()
}
