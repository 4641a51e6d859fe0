package randomwgsl

import (
	"fmt"
	"strings"
)

// branch writes an if with what may follow it.
func (g *generator) branch() {
	g.block("if "+g.condition1(), func() { g.statements(1 + g.r.IntN(3)) })
	if g.chance(30) {
		g.more("else if "+g.condition1(), func() { g.statements(1 + g.r.IntN(2)) })
	}
	if g.chance(50) {
		g.more("else", func() { g.statements(1 + g.r.IntN(2)) })
	}
}

// more goes on after a closing brace.
func (g *generator) more(head string, body func()) {
	text := strings.TrimSuffix(g.text.String(), "\n")
	g.text.Reset()
	g.text.WriteString(text + " ")
	indent := g.indent
	g.indent = 0
	g.line("%s {", head)
	g.indent = indent + 1
	g.scopes = append(g.scopes, nil)
	body()
	g.scopes = g.scopes[:len(g.scopes)-1]
	g.indent = indent
	g.line("}")
}

// choose writes a switch.
func (g *generator) choose() {
	scalar := pick(g, "i32", "u32")
	suffix := scalar[:1]
	selector := fmt.Sprintf("%s & %s", g.unary(g.value(plain(scalar, 1), depth)), "7"+suffix)
	at := g.r.IntN(3)
	g.block("switch "+selector, func() {
		for i := range 3 {
			if i == at {
				g.clause(pick(g, "default", "default:"))
				continue
			}
			values := fmt.Sprintf("%d%s", 2*i, suffix)
			if g.chance(40) {
				values += fmt.Sprintf(", %d", 2*i+1)
			}
			if i > at && g.chance(20) {
				values += ","
			}
			g.clause("case " + values + pick(g, "", ":"))
		}
	})
}

func (g *generator) clause(head string) {
	g.block(head, func() {
		if g.chance(20) {
			g.block("if "+g.condition1(), func() { g.line("break;") })
		}
		g.switches++
		g.statements(1 + g.r.IntN(2))
		g.switches--
	})
}

// loop writes a loop that goes round a few times.
func (g *generator) loop() {
	g.loops++
	switches := g.switches
	g.switches = 0
	defer func() { g.loops, g.switches = g.loops-1, switches }()
	counter := &variable{name: g.name("n"), kind: plain(pick(g, "i32", "u32"), 1)}
	trips := fmt.Sprintf("%d", 1+g.r.IntN(4))
	suffix := counter.kind.scalar[:1]
	if g.chance(40) {
		trips = fmt.Sprintf("(%s & 3%s)", g.unary(g.value(counter.kind, 2)), suffix)
	}
	body := func() {
		g.statements(1)
		if g.chance(60) {
			g.jump()
		}
		g.statements(1 + g.r.IntN(2))
	}
	inside := func(f func()) {
		g.scopes = append(g.scopes, []*variable{counter})
		f()
		g.scopes = g.scopes[:len(g.scopes)-1]
	}
	start := fmt.Sprintf("var %s = 0%s", counter.name, suffix)
	switch g.r.IntN(5) {
	default:
		step := pick(g, "%s++", "%s += 1"+suffix, "%[1]s = %[1]s + 1"+suffix)
		inside(func() {
			g.block(fmt.Sprintf("for (%s; %s < %s; %s)", start, counter.name, trips, fmt.Sprintf(step, counter.name)), body)
		})
	case 1:
		g.line("%s;", start)
		g.add(counter)
		g.block(fmt.Sprintf("while %s < %s", counter.name, trips), func() {
			g.line("%s++;", counter.name)
			body()
		})
	case 2:
		g.line("%s;", start)
		g.add(counter)
		g.block("loop", func() {
			g.block(fmt.Sprintf("if %s >= %s", counter.name, trips), func() { g.line("break;") })
			body()
			g.block("continuing", func() { g.continuing(counter, false) })
		})
	case 3:
		g.line("%s;", start)
		g.add(counter)
		g.block("loop", func() {
			body()
			g.block("continuing", func() { g.continuing(counter, true) })
		})
	}
}

// jump writes a break or continue that some trips come to.
func (g *generator) jump() {
	g.block("if "+g.condition1(), func() {
		if g.chance(30) {
			g.assignment()
		}
		g.line("%s;", pick(g, "break", "continue", "continue"))
	})
}

// continuing counts, and with leave ends the loop. It uses nothing that the body declares, as a continue may skip that.
func (g *generator) continuing(counter *variable, leave bool) {
	scopes := g.scopes
	var unknown []*variable
	for _, v := range scopes[len(scopes)-2] {
		unknown = append(unknown, &variable{name: v.name})
	}
	g.scopes = append(append([][]*variable{}, scopes[:len(scopes)-2]...), unknown)
	if g.chance(50) {
		g.assignment()
	}
	g.scopes = scopes
	g.line("%s++;", counter.name)
	if leave {
		condition := fmt.Sprintf("%s >= %d", counter.name, 1+g.r.IntN(4))
		if g.chance(30) {
			condition = fmt.Sprintf("(%s) || %s == 2", condition, counter.name)
		}
		g.line("break if %s;", condition)
	}
}
