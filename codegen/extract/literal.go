package extract

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a literal between quotes. One that does not end on its line is none: it is an apostrophe in text.
func (s *scriptReader) quoted(quote byte) {
	l := sum{open: true, at: s.at}
	i := s.at + 1
	for s.at >= s.endless[quote] && i < len(s.src) && s.src[i] != '\n' {
		switch c := s.src[i]; c {
		case quote:
			s.at = i + 1
			s.literal(l)
			return
		case '\\':
			var n int
			l.text, n = escape(l.text, s.src[i:])
			i += n
		default:
			l.text = append(l.text, c)
			i++
		}
	}
	s.endless[quote] = max(s.endless[quote], i)
	s.at++
	s.last = lastToken{text: string(quote)}
}

// templateLiteral reads one on from ` or from the } after a part; it stops at the next ${.
func (s *scriptReader) templateLiteral(l *sum) {
	if s.at == l.at {
		s.at++
	}
	for s.at < len(s.src) {
		switch c := s.src[s.at]; {
		case c == '`':
			s.at++
			s.literal(*l)
			return
		case c == '\\':
			var n int
			l.text, n = escape(l.text, s.src[s.at:])
			s.at += n
		case s.has("${"):
			s.at += 2
			s.frames = append(s.frames, frame{template: l})
			s.last = lastToken{text: "{"}
			return
		case s.has("\r\n"):
			s.at++
		default:
			l.text = append(l.text, c)
			s.at++
		}
	}
}

// simple are the escapes of one letter.
var simple = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'v': '\v', 'f': '\f', '0': 0}

// escape appends what an escape stands for, and returns how long the escape is. One that is wrong stands for its letters.
func escape(text, src []byte) ([]byte, int) {
	if len(src) < 2 {
		return text, 1
	}
	switch c := src[1]; {
	case c == '\n':
		return text, 2
	case bytes.HasPrefix(src[1:], []byte("\r\n")):
		return text, 3
	case bytes.HasPrefix(src[1:], []byte("\u2028")), bytes.HasPrefix(src[1:], []byte("\u2029")):
		return text, 4
	case c == 'x' || c == 'u':
		if r, n := codePoint(src); n > 0 {
			return utf8.AppendRune(text, r), n
		}
	}
	if c, ok := simple[src[1]]; ok {
		return append(text, c), 2
	}
	return append(text, src[1]), 2
}

// codePoint reads \xHH, \uHHHH, two of these for a pair of surrogates, and \u{H...}. n is 0 where it is none of them.
func codePoint(src []byte) (r rune, n int) {
	if src[1] == 'x' {
		return hex(src, 2, 4)
	}
	if len(src) > 2 && src[2] == '{' {
		end := bytes.IndexByte(src[:min(len(src), 12)], '}')
		if end < 0 {
			return 0, 0
		}
		r, n = hex(src, 3, end)
		return r, min(n, 1) * (n + 1)
	}
	r, n = hex(src, 2, 6)
	if utf16.IsSurrogate(r) && bytes.HasPrefix(src[min(6, len(src)):], []byte(`\u`)) {
		if low, m := hex(src[6:], 2, 6); m > 0 && utf16.DecodeRune(r, low) != utf8.RuneError {
			return utf16.DecodeRune(r, low), 12
		}
	}
	return r, n
}

func hex(src []byte, from, to int) (rune, int) {
	if to > len(src) || from >= to {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(src[from:to]), 16, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0
	}
	return rune(v), to
}
