package testtext

import "fmt"

// Difference says where two texts part: the line and byte of the first difference, and what both have from there on with control
// characters escaped. It is empty for equal texts.
func Difference(want, got string) string {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	if at == len(want) && at == len(got) {
		return ""
	}
	line, start := 1, 0
	for i := range at {
		if want[i] == '\n' {
			line, start = line+1, i+1
		}
	}
	return fmt.Sprintf("byte %d, in line %d: want %s, got %s", at, line, around(want, start, at), around(got, start, at))
}

// around is the part of a text from the start of the line, or from 40 bytes before the place, up to 40 bytes after it.
func around(text string, start, at int) string {
	if at == len(text) {
		return fmt.Sprintf("the end after %q", text[max(start, at-40):])
	}
	return fmt.Sprintf("%q", text[max(start, at-40):min(len(text), at+40)])
}
