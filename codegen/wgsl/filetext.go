package wgsl

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// lineBreaks are the code points that end a line in WGSL.
const lineBreaks = "\n\v\f\r\u0085\u2028\u2029"

// blankAt returns the length of the blank code point that text starts with, or 0.
func blankAt(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	if strings.ContainsRune(lineBreaks+" \t\u200e\u200f", r) {
		return n
	}
	return 0
}

// commentEnd returns the length of the comment that text starts with, or 0. Comments between /* and */ nest; one without an end
// is none.
func commentEnd(text string) int {
	switch {
	case strings.HasPrefix(text, "//"):
		if i := strings.IndexAny(text, lineBreaks); i >= 0 {
			return i
		}
		return len(text)
	case strings.HasPrefix(text, "/*"):
		depth := 0
		for i := 0; i+1 < len(text); {
			switch text[i : i+2] {
			case "/*":
				depth++
				i += 2
			case "*/":
				depth--
				if i += 2; depth == 0 {
					return i
				}
			default:
				i++
			}
		}
	}
	return 0
}

// commentLines returns the lines of a comment without what marks it as one.
func commentLines(text string) []string {
	if rest, ok := strings.CutPrefix(text, "//"); ok {
		return []string{commentLine(rest)}
	}
	text = text[len("/*") : len(text)-len("*/")]
	text = strings.ReplaceAll(text, "\r\n", "\n")
	lines := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(lineBreaks, r) })
	for i := range lines {
		lines[i] = commentLine(lines[i])
	}
	return lines
}

// commentLine drops the blank after the slashes and those at the end.
func commentLine(s string) string {
	return strings.TrimRight(strings.TrimPrefix(s, " "), " \t\u200e\u200f")
}

// lineStarts returns the offsets at which lines start. Editors count line feeds alone; so do these lines.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// lineColumn returns where an offset is, both counted from 1.
func lineColumn(starts []int, at int) (line, column int) {
	line = sort.SearchInts(starts, at+1)
	return line, at - starts[line-1] + 1
}

// comment is a comment of a file. taken says that it is in the AST.
type comment struct {
	text  string
	at    int
	taken bool
}

// takeComments moves the comments out of the tokens, so that the grammar doesn't see them.
func (p *parser) takeComments() {
	kept := p.tokens[:0]
	for _, t := range p.tokens {
		if t.kind == commentToken {
			p.comments = append(p.comments, comment{text: t.text, at: t.at})
		} else {
			kept = append(kept, t)
		}
	}
	p.tokens = kept
}

// commentsBefore takes the comments between two offsets into the AST.
func (p *parser) commentsBefore(from, to int) []*Comment {
	var list []*Comment
	first := sort.Search(len(p.comments), func(i int) bool { return p.comments[i].at >= from })
	for i := first; i < len(p.comments) && p.comments[i].at < to; i++ {
		c := &p.comments[i]
		if c.taken {
			continue
		}
		c.taken = true
		for _, line := range commentLines(c.text) {
			list = append(list, &Comment{At{p.pos(token{at: c.at})}, line})
		}
	}
	return list
}

// trailing takes a comment of one line that stands behind a declaration, on its line.
func (p *parser) trailing(semicolon token) string {
	i := sort.Search(len(p.comments), func(i int) bool { return p.comments[i].at > semicolon.at })
	if i == len(p.comments) || p.comments[i].at > p.peek().at {
		return ""
	}
	c := &p.comments[i]
	lines := commentLines(c.text)
	if len(lines) != 1 || lines[0] == "" || strings.ContainsAny(p.text[semicolon.at:c.at], lineBreaks) || strings.ContainsAny(c.text, lineBreaks) {
		return ""
	}
	c.taken = true
	return lines[0]
}
