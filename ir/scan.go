package ir

import "strconv"

// token is a piece of a line: a word, a quoted string, or one of the characters % = : , [ ] { }. The end of a line is
// a token of kind 0 with no text.
type token struct {
	kind   byte // 'w' word, '"' string, the character itself, 0 end of line, '?' a mistake
	text   string
	column int
}

// describe prints a token for messages.
func (t token) describe() string {
	switch t.kind {
	case 0:
		return "the end of the line"
	case '"':
		return "a string"
	}
	return strconv.Quote(t.text)
}

// scan cuts a line into tokens. A # outside of a string starts a comment.
func scan(line string) []token {
	var tokens []token
	at := 0
	for at < len(line) {
		c, from := line[at], at
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			at++
			continue
		case c == '#':
			return append(tokens, token{column: from + 1})
		case c == '"':
			t := scanString(line[from:], from+1)
			tokens = append(tokens, t)
			at += max(1, len(t.text))
			continue
		case wordByte(c):
			for at < len(line) && wordByte(line[at]) {
				at++
			}
			tokens = append(tokens, token{'w', line[from:at], from + 1})
			continue
		}
		kind := byte('?')
		switch c {
		case '%', '=', ':', ',', '[', ']', '{', '}':
			kind = c
		}
		tokens = append(tokens, token{kind, line[from : from+1], from + 1})
		at++
	}
	return append(tokens, token{column: len(line) + 1})
}

// scanString takes a string with Go's escapes, quotes included.
func scanString(text string, column int) token {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return token{'?', text, column}
	}
	return token{'"', quoted, column}
}
