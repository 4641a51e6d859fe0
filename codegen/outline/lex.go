package outline

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	nameToken tokenKind = iota
	numberToken
	signToken         // one byte
	preprocessorToken // a line that begins with #
)

// token is a piece of the text from at to end. match is the index of the bracket that belongs to a bracket, -1 where there is none.
type token struct {
	at, end, match int32
	kind           tokenKind
}

// lineBreaks are the code points that end a line in WGSL.
const lineBreaks = "\n\v\f\r\u0085\u2028\u2029"

const blanks = lineBreaks + " \t\u200e\u200f"

// preprocessor begins such a line: of C's, or of another with words after a #.
var preprocessor = regexp.MustCompile(`^#[ \t]*[a-z_]{2}`)

// maxEndless bounds how often the end of a comment is looked for in vain: in what is no WGSL, /* is common.
const maxEndless = 64

// lex cuts any text into tokens, without comments and blanks. What is no WGSL becomes signs.
func lex(text string) []token {
	var tokens []token
	lineStart := true // nothing but blanks since the line began
	endless := 0      // comments without an end
	for i := 0; i < len(text); {
		if n, breaks := blankAt(text[i:]); n > 0 {
			lineStart = lineStart || breaks
			i += n
			continue
		}
		if endless < maxEndless && text[i] == '/' {
			n := commentEnd(text[i:])
			if n > 0 {
				i += n
				continue
			}
			if strings.HasPrefix(text[i:], "/*") {
				endless++
			}
		}
		n, kind := tokenAt(text[i:])
		if lineStart && text[i] == '#' && preprocessor.MatchString(text[i:min(len(text), i+32)]) {
			n, kind = lineEnd(text[i:]), preprocessorToken
		}
		tokens = append(tokens, token{int32(i), int32(i + n), -1, kind})
		lineStart = false
		i += n
	}
	matchBrackets(text, tokens)
	return tokens
}

func blankAt(text string) (n int, breaks bool) {
	switch c := text[0]; {
	case c == ' ' || c == '\t':
		return 1, false
	case c < utf8.RuneSelf:
		if strings.IndexByte("\n\v\f\r", c) >= 0 {
			return 1, true
		}
		return 0, false
	}
	r, n := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError || !strings.ContainsRune(blanks, r) {
		return 0, false
	}
	return n, strings.ContainsRune(lineBreaks, r)
}

func tokenAt(text string) (int, tokenKind) {
	c := text[0]
	switch {
	case inName(c) && !digit(c):
		n := 1
		for n < len(text) && inName(text[n]) && !blankRune(text[n:]) {
			n++
		}
		return n, nameToken
	case digit(c) || c == '.' && len(text) > 1 && digit(text[1]):
		return numberEnd(text), numberToken
	}
	return 1, signToken
}

// inName reports whether a byte may be part of a name. All beyond ASCII may: which letters are allowed is for others to say.
func inName(c byte) bool {
	return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || digit(c) || c >= utf8.RuneSelf
}

func blankRune(text string) bool {
	if text[0] < utf8.RuneSelf {
		return false
	}
	n, _ := blankAt(text)
	return n > 0
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// numberEnd returns where the number ends that a text begins with: letters, digits and points, and a sign after an exponent.
func numberEnd(text string) int {
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	n := 1
	for n < len(text) {
		c, before := text[n], text[n-1]|0x20
		exponent := (c == '+' || c == '-') && (!hex && before == 'e' || hex && before == 'p')
		if !inName(c) && c != '.' && !exponent || c >= utf8.RuneSelf {
			break
		}
		n++
	}
	return n
}

// lineEnd returns the length of a preprocessor's line, with those that a backslash joins to it.
func lineEnd(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' && (i == 0 || text[i-1] != '\\') {
			return i
		}
	}
	return len(text)
}

// commentEnd returns the length of the comment that a text begins with, or 0. One between /* and */ that has no end is none.
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

// matchBrackets joins brackets. A closing one that doesn't fit the last open one is passed over.
func matchBrackets(text string, tokens []token) {
	var open []int32
	for i := range tokens {
		if tokens[i].kind != signToken {
			continue
		}
		switch c := text[tokens[i].at]; c {
		case '(', '[', '{':
			open = append(open, int32(i))
		case ')', ']', '}':
			if len(open) == 0 {
				continue
			}
			last := open[len(open)-1]
			if fits := map[byte]byte{')': '(', ']': '[', '}': '{'}; text[tokens[last].at] != fits[c] {
				continue
			}
			tokens[i].match, tokens[last].match = last, int32(i)
			open = open[:len(open)-1]
		}
	}
}
