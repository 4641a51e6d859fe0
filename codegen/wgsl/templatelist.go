package wgsl

import "strings"

// templateStarts finds the tokens < that WGSL takes for the start of a template list, whatever is before it: in f(a < b, c > d) it is one.
// The rule is that of the standard, "Template Lists": a < after a name waits for the > at its own level of brackets; what can't be in a
// list ends the wait.
func templateStarts(tokens []token) map[int]bool {
	type candidate struct{ at, depth int }
	var pending []candidate
	found := map[int]bool{}
	depth := 0
	drop := func(least int) {
		for len(pending) > 0 && pending[len(pending)-1].depth >= least {
			pending = pending[:len(pending)-1]
		}
	}
	for i, t := range tokens {
		if t.kind != opToken {
			continue
		}
		switch t.text {
		case "<":
			if i > 0 && tokens[i-1].kind == nameToken {
				pending = append(pending, candidate{i, depth})
			}
		case ">", ">>", ">=":
			for range strings.Count(t.text, ">") {
				if n := len(pending); n > 0 && pending[n-1].depth == depth {
					found[pending[n-1].at] = true
					pending = pending[:n-1]
				}
			}
		case "(", "[":
			depth++
		case ")", "]":
			drop(depth)
			depth = max(0, depth-1)
		case "&&", "||":
			drop(depth)
		case ";", "{", ":", "=":
			pending, depth = nil, 0
		}
	}
	return found
}
