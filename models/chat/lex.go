package chat

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// tokenKind says what a token of an expression is.
type tokenKind int

const (
	nameToken tokenKind = iota
	numberToken
	stringToken
	operatorToken
)

// token is the smallest part of an expression. A string's text is its value.
type token struct {
	kind tokenKind
	text string
}

func (t token) is(operator string) bool { return t.kind == operatorToken && t.text == operator }

// source gives the token as the engine reads it.
func (t token) source() string {
	if t.kind == stringToken {
		return quote(t.text)
	}
	return t.text
}

// lex cuts the inside of a tag into tokens.
func lex(s string, line int) ([]token, *Error) {
	var tokens []token
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\v':
			i++
		case c == '\'' || c == '"':
			n := stringLength(s[i:])
			if n == 0 {
				return nil, errorf(ClassSyntax, line, "a string is not closed")
			}
			tokens = append(tokens, token{stringToken, unescape(s[i+1 : i+n-1])})
			i += n
		case isNameByte(c):
			end := i
			if isDigit(c) {
				var text string
				text, end = number(s, i)
				tokens = append(tokens, token{numberToken, text})
			} else {
				for end < len(s) && isNameByte(s[end]) {
					end++
				}
				tokens = append(tokens, token{nameToken, s[i:end]})
			}
			i = end
		default:
			n := operatorLength(s[i:])
			if n == 0 {
				r, _ := utf8.DecodeRuneInString(s[i:])
				return nil, errorf(ClassSyntax, line, "unexpected character %q", r)
			}
			tokens = append(tokens, token{operatorToken, s[i : i+n]})
			i += n
		}
	}
	return tokens, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c)
}

// number reads an integer or a float and returns its end. The engine knows exponents only behind a point.
func number(s string, i int) (text string, end int) {
	digits := func() string {
		from := i
		for i < len(s) && (isDigit(s[i]) || s[i] == '_') {
			i++
		}
		return strings.ReplaceAll(s[from:i], "_", "")
	}
	text = digits()
	point := i+1 < len(s) && s[i] == '.' && isDigit(s[i+1])
	if point {
		i++
		text += "." + digits()
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		sign := ""
		next := i + 1
		if next < len(s) && (s[next] == '+' || s[next] == '-') {
			sign = s[next : next+1]
			next++
		}
		if next < len(s) && isDigit(s[next]) {
			if !point {
				text += ".0"
			}
			i = next
			text += "e" + sign + digits()
		}
	}
	return text, i
}

func operatorLength(s string) int {
	for _, operator := range [...]string{"**", "//", "==", "!=", "<=", ">="} {
		if strings.HasPrefix(s, operator) {
			return 2
		}
	}
	if strings.IndexByte("+-*/%<>=~|.,:()[]{}", s[0]) >= 0 {
		return 1
	}
	return 0
}

// escapes are the one-letter escapes of Python strings.
var escapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", 'a': "\a", '0': "\x00",
	'\\': "\\", '\'': "'", '"': "\"", '\n': "",
}

// escapeDigits says how many hexadecimal digits follow an escape.
var escapeDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// unescape resolves the escapes of a string literal; unknown ones stay as they are, as in Python.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if text, ok := escapes[s[i]]; ok {
			b.WriteString(text)
			continue
		}
		n := escapeDigits[s[i]]
		if n > 0 && i+n < len(s) {
			if r, err := strconv.ParseUint(s[i+1:i+1+n], 16, 31); err == nil {
				b.WriteRune(rune(r))
				i += n
				continue
			}
		}
		b.WriteByte('\\')
		b.WriteByte(s[i])
	}
	return b.String()
}

// quote writes a string literal with the escapes that the engine knows.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
