package chat

import "strings"

// segmentKind says what a stretch of template is.
type segmentKind int

const (
	textSegment   segmentKind = iota
	outputSegment             // {{ expression }}
	blockSegment              // {% statement %}
)

// segment is a stretch of template: plain text after white space control, or the inside of a tag.
type segment struct {
	kind segmentKind
	text string
	line int
}

// scanner cuts a template into segments by Jinja2's lexical rules.
type scanner struct {
	source   string
	at       int
	line     int
	segments []segment
	// lineStart tells that the text at at begins a line for lstrip_blocks, which also holds where trim_blocks ate
	// the line break before it.
	lineStart bool
}

// scan cuts source into segments. As in Jinja2, line breaks become "\n", and one at the very end is dropped.
func scan(source string) ([]segment, *Error) {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	source = strings.ReplaceAll(source, "\r", "\n")
	s := &scanner{source: strings.TrimSuffix(source, "\n"), line: 1, lineStart: true}
	for s.at < len(s.source) {
		open := nextTag(s.source[s.at:])
		if open < 0 {
			s.text(s.source[s.at:])
			break
		}
		if err := s.tag(s.at + open); err != nil {
			return nil, err
		}
	}
	return s.segments, nil
}

// nextTag finds the start of the next tag, -1 if there is none.
func nextTag(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '{' && (s[i+1] == '{' || s[i+1] == '%' || s[i+1] == '#') {
			return i
		}
	}
	return -1
}

func (s *scanner) text(text string) {
	if text != "" {
		s.segments = append(s.segments, segment{textSegment, text, s.line})
	}
}

// tag reads the text up to open and the tag that starts there.
func (s *scanner) tag(open int) *Error {
	kind := s.source[open+1]
	inside := open + 2
	sign := byte(0)
	if inside < len(s.source) && (s.source[inside] == '-' || s.source[inside] == '+' && kind != '{') {
		sign = s.source[inside]
		inside++
	}
	s.text(s.before(s.source[s.at:open], sign, kind != '{'))
	s.line += strings.Count(s.source[s.at:open], "\n")
	closing := s.closing(inside, kind)
	if closing < 0 {
		return errorf(ClassSyntax, s.line, "a tag that begins with {%c is not closed", kind)
	}
	line := s.line
	s.line += strings.Count(s.source[open:closing], "\n")
	body := s.source[inside:closing]
	after := byte(0)
	if n := len(body); n > 0 && (body[n-1] == '-' || body[n-1] == '+' && kind != '{') {
		after, body = body[n-1], body[:n-1]
	}
	s.at = closing + 2
	raw := kind == '%' && strings.TrimSpace(body) == "raw"
	s.after(after, kind != '{' && !raw)
	switch {
	case raw:
		return s.raw(line)
	case kind == '{':
		s.segments = append(s.segments, segment{outputSegment, body, line})
	case kind == '%':
		s.segments = append(s.segments, segment{blockSegment, body, line})
	}
	return nil
}

// before trims the text in front of a tag: all white space for "-", and for blocks and comments the spaces that
// stand between the line's start and the tag, unless the sign is "+".
func (s *scanner) before(text string, sign byte, block bool) string {
	switch {
	case sign == '-':
		return strings.TrimRight(text, " \t\n\v\f")
	case sign == '+' || !block:
		return text
	}
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || s.lineStart) && strings.Trim(text[start:], " \t") == "" {
		return text[:start]
	}
	return text
}

// after skips what the end of a tag trims: all white space for "-", one line break after blocks and comments.
func (s *scanner) after(sign byte, block bool) {
	from := s.at
	switch {
	case sign == '-':
		s.at = len(s.source) - len(strings.TrimLeft(s.source[s.at:], " \t\n\v\f"))
	case sign == 0 && block && s.at < len(s.source) && s.source[s.at] == '\n':
		s.at++
	}
	s.lineStart = s.at > from && s.source[s.at-1] == '\n'
	s.line += strings.Count(s.source[from:s.at], "\n")
}

// closing finds the end of the tag whose inside starts at i: the closing delimiter outside strings and, for output,
// outside brackets, so that "}}" may end a dictionary.
func (s *scanner) closing(i int, kind byte) int {
	if kind == '#' {
		if end := strings.Index(s.source[i:], "#}"); end >= 0 {
			return i + end
		}
		return -1
	}
	end := "%}"
	if kind == '{' {
		end = "}}"
	}
	depth := 0
	for i < len(s.source) {
		if depth <= 0 && strings.HasPrefix(s.source[i:], end) {
			return i
		}
		switch s.source[i] {
		case '\'', '"':
			n := stringLength(s.source[i:])
			if n == 0 {
				return -1
			}
			i += n
			continue
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		i++
	}
	return -1
}

// stringLength measures the string literal at the start of s, 0 if it has no end.
func stringLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}

// raw reads text up to {% endraw %}.
func (s *scanner) raw(line int) *Error {
	for from := s.at; ; {
		i := strings.Index(s.source[from:], "{%")
		if i < 0 {
			return errorf(ClassSyntax, line, "raw without endraw")
		}
		open := from + i
		from = open + 2
		end := strings.Index(s.source[from:], "%}")
		if end < 0 {
			return errorf(ClassSyntax, line, "raw without endraw")
		}
		body := s.source[from : from+end]
		var sign, after byte
		if body != "" && (body[0] == '-' || body[0] == '+') {
			sign, body = body[0], body[1:]
		}
		if n := len(body); n > 0 && (body[n-1] == '-' || body[n-1] == '+') {
			after, body = body[n-1], body[:n-1]
		}
		if strings.TrimSpace(body) != "endraw" {
			continue
		}
		s.text(s.before(s.source[s.at:open], sign, true))
		s.line += strings.Count(s.source[s.at:from], "\n")
		s.at = from + end + 2
		s.after(after, true)
		return nil
	}
}
