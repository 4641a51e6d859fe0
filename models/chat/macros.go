package chat

import (
	"maps"
	"slices"
)

// macroGraph records which macro calls which, to find rings. Calls through other names are stopped by the depth guard
// while rendering.
type macroGraph struct {
	lines map[string]int
	uses  map[string]map[string]bool // by macro
	stack []string                   // macros that are open
	count int
}

func newMacroGraph() macroGraph {
	return macroGraph{lines: make(map[string]int), uses: make(map[string]map[string]bool)}
}

func (g *macroGraph) open(name string, line int) {
	g.count++
	g.lines[name] = line
	g.stack = append(g.stack, name)
}

func (g *macroGraph) close() { g.stack = g.stack[:len(g.stack)-1] }

// use notes the functions that a tag calls as called by the innermost macro around it. Methods are not functions.
func (g *macroGraph) use(tokens []token) {
	if len(g.stack) == 0 {
		return
	}
	macro := g.stack[len(g.stack)-1]
	for i, t := range tokens {
		call := t.kind == nameToken && i+1 < len(tokens) && tokens[i+1].is("(")
		if !call || i > 0 && tokens[i-1].is(".") {
			continue
		}
		if g.uses[macro] == nil {
			g.uses[macro] = make(map[string]bool)
		}
		g.uses[macro][t.text] = true
	}
}

// ring finds a macro that reaches itself, the first by line; "" if there is none.
func (g *macroGraph) ring() (name string, line int) {
	for macro := range g.lines {
		if g.reaches(macro) && (name == "" || g.lines[macro] < line) {
			name, line = macro, g.lines[macro]
		}
	}
	return name, line
}

func (g *macroGraph) reaches(macro string) bool {
	seen := make(map[string]bool)
	todo := slices.Collect(maps.Keys(g.uses[macro]))
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if next == macro {
			return true
		}
		if !seen[next] {
			seen[next] = true
			todo = slices.AppendSeq(todo, maps.Keys(g.uses[next]))
		}
	}
	return false
}
