package wgsl

import "strings"

type tokenKind uint8

const (
	endToken tokenKind = iota
	nameToken
	numberToken
	opToken
	commentToken
)

type token struct {
	kind tokenKind
	text string
	at   int // byte offset
}

// operators, longest first where one begins another. Tokens that WGSL reserves, such as ++, are here to be refused.
var operators = []string{
	"&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "++", "--", "->",
	"+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "<", ">", "(", ")", "[", "]", ",", ".", ":", "@", "=", ";", "{", "}",
}

// lex cuts text into tokens, the last of them an endToken. Comments are for whole files.
func lex(text string, base Pos) ([]token, *Error) {
	var tokens []token
	for i := 0; i < len(text); {
		c := text[i]
		blank, comment := 0, 0
		if base.InFile {
			blank, comment = blankAt(text[i:]), commentEnd(text[i:])
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			i++
			continue
		case blank > 0:
			i += blank
			continue
		case comment > 0:
			tokens = append(tokens, token{commentToken, text[i : i+comment], i})
			i += comment
			continue
		case base.InFile && strings.HasPrefix(text[i:], "/*"):
			base.Column = i + 1
			return nil, errorAt(base, "", "the comment has no end")
		case c == '_' || letter(c):
			n := i + 1
			for n < len(text) && (text[n] == '_' || letter(text[n]) || digit(text[n])) {
				n++
			}
			tokens = append(tokens, token{nameToken, text[i:n], i})
			i = n
			continue
		case digit(c) || c == '.' && i+1 < len(text) && digit(text[i+1]):
			n := numberEnd(text, i)
			tokens = append(tokens, token{numberToken, text[i:n], i})
			i = n
			continue
		}
		op := operatorAt(text[i:])
		if op == "" {
			base.Column = i + 1
			if base.InFile {
				return nil, errorAt(base, "", "no WGSL token that kgen knows starts with %q", firstRune(text[i:]))
			}
			return nil, errorAt(base, text, "no WGSL token starts with %q", firstRune(text[i:]))
		}
		tokens = append(tokens, token{opToken, op, i})
		i += len(op)
	}
	return append(tokens, token{endToken, "the end", len(text)}), nil
}

func operatorAt(text string) string {
	for _, op := range operators {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	return ""
}

// numberEnd returns where the number that starts at i ends: letters and digits, points, and a sign after an exponent.
func numberEnd(text string, i int) int {
	hex := strings.HasPrefix(text[i:], "0x") || strings.HasPrefix(text[i:], "0X")
	n := i
	for n < len(text) {
		c := text[n]
		exponent := n > i && (c == '+' || c == '-') && (!hex && (text[n-1]|0x20) == 'e' || hex && (text[n-1]|0x20) == 'p')
		if !letter(c) && !digit(c) && c != '.' && !exponent {
			break
		}
		n++
	}
	return n
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }
