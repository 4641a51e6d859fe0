package chat

import "slices"

// macroGraph records which macro calls which, to find rings. Calls through other names are stopped by the depth guard
// while rendering.
type macroGraph struct {
	lines map[string]int
	uses  map[string][]string // by macro
	stack []string            // macros that are open
	count int
}

func newMacroGraph() macroGraph {
	return macroGraph{lines: make(map[string]int), uses: make(map[string][]string)}
}

func (g *macroGraph) open(name string, line int) {
	g.count++
	g.lines[name] = line
	g.stack = append(g.stack, name)
}

func (g *macroGraph) close() { g.stack = g.stack[:len(g.stack)-1] }

// use notes the functions that a tag calls as called by the macros around it. Methods are not functions.
func (g *macroGraph) use(tokens []token) {
	for i, t := range tokens {
		call := t.kind == nameToken && i+1 < len(tokens) && tokens[i+1].is("(")
		if !call || i > 0 && tokens[i-1].is(".") {
			continue
		}
		for _, macro := range g.stack {
			g.uses[macro] = append(g.uses[macro], t.text)
		}
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
	todo := slices.Clone(g.uses[macro])
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if next == macro {
			return true
		}
		if !seen[next] {
			seen[next] = true
			todo = append(todo, g.uses[next]...)
		}
	}
	return false
}
