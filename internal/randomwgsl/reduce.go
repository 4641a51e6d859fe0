package randomwgsl

import (
	"slices"
	"strings"
)

// Reduce leaves out lines of a program, and blocks or what makes them blocks, as long as keep says yes to what remains.
func Reduce(text string, keep func(text string) bool) string {
	lines := strings.Split(text, "\n")
	for smaller := true; smaller; {
		smaller = false
		for i := len(lines) - 1; i >= 0; i-- {
			for _, candidate := range without(lines, i) {
				if keep(strings.Join(candidate, "\n")) {
					lines, smaller = candidate, true
					break
				}
			}
			i = min(i, len(lines))
		}
	}
	return strings.Join(lines, "\n")
}

// without returns what may stand for the lines when line i is left out: no line, no block, or the block's lines alone.
func without(lines []string, i int) [][]string {
	line := lines[i]
	if !strings.HasSuffix(line, "{") {
		if strings.HasPrefix(strings.TrimSpace(line), "}") {
			return nil
		}
		return [][]string{slices.Delete(slices.Clone(lines), i, i+1)}
	}
	indent := len(line) - len(strings.TrimLeft(line, " "))
	end := i + 1
	for end < len(lines) && !strings.HasPrefix(lines[end], strings.Repeat(" ", indent)+"}") {
		end++
	}
	if end == len(lines) {
		return nil
	}
	if strings.HasPrefix(strings.TrimSpace(line), "}") { // an else: the brace after it ends what was before
		return [][]string{slices.Delete(slices.Clone(lines), i, end)}
	}
	list := [][]string{slices.Delete(slices.Clone(lines), i, end+1)}
	if !strings.HasSuffix(lines[end], "{") {
		unwrapped := slices.Delete(slices.Clone(lines), end, end+1)
		list = append(list, slices.Delete(unwrapped, i, i+1))
	}
	return list
}
