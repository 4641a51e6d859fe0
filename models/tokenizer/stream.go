package tokenizer

import "unicode/utf8"

// Stream turns generated ids into text piece by piece. It holds back the bytes of an unfinished character until
// the rest arrives, so every string it gives is valid UTF-8; bytes that cannot become a character give U+FFFD, one
// for each longest beginning of a character.
type Stream struct {
	tokenizer *Tokenizer
	special   bool
	pending   []byte
}

// NewStream starts a text. With special, control tokens give their text, without, nothing.
func (t *Tokenizer) NewStream(special bool) *Stream {
	return &Stream{tokenizer: t, special: special}
}

// Push adds a token and returns the text that is complete by now, perhaps none.
func (s *Stream) Push(id uint32) string {
	if s.special || !s.tokenizer.IsSpecial(id) {
		s.pending = append(s.pending, s.tokenizer.Piece(id)...)
	}
	return s.take(false)
}

// Flush ends the text: what was held back comes as U+FFFD.
func (s *Stream) Flush() string { return s.take(true) }

// take removes the complete part of the pending bytes, or all of them.
func (s *Stream) take(all bool) string {
	var text []byte
	rest := s.pending
	for len(rest) > 0 {
		n, complete := character(rest)
		if complete {
			text = append(text, rest[:n]...)
		} else if n == len(rest) && !all && unfinished(rest) {
			break
		} else {
			text = append(text, "\uFFFD"...)
		}
		rest = rest[n:]
	}
	s.pending = append(s.pending[:0], rest...)
	return string(text)
}

// character measures the character at the start of b, or else the longest run of bytes there that begins one (at
// least one byte).
func character(b []byte) (n int, complete bool) {
	if r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1 {
		return n, true
	}
	for n = min(len(b), utf8.UTFMax-1); n > 1; n-- {
		if unfinished(b[:n]) {
			return n, false
		}
	}
	return 1, false
}

// unfinished tells whether more bytes could make b one character.
func unfinished(b []byte) bool { return !utf8.FullRune(b) }
