package tokenizer

import (
	"slices"
	"strings"
)

// maxSpecial is the longest special or user-defined token, in bytes. It bounds the time that looking for them takes at
// each byte of a text. Those in use have up to 100.
const maxSpecial = 256

// specials finds the special tokens in a text.
type specials struct {
	tokens []special  // in ascending order of their texts
	starts [257]int32 // tokens[starts[b]:starts[b+1]] begin with byte b
}

type special struct {
	text    string
	id      uint32
	trusted bool // it is recognised in trusted text only
}

func newSpecials(v *Vocab) *specials {
	count := 0
	for id, text := range v.Tokens {
		if text != "" && isFound(v.kind(id)) {
			count++
		}
	}
	s := &specials{tokens: make([]special, 0, count)}
	for id, text := range v.Tokens {
		if kind := v.kind(id); text != "" && isFound(kind) {
			s.tokens = append(s.tokens, special{text, uint32(id), kind != UserDefined})
		}
	}
	slices.SortFunc(s.tokens, func(a, b special) int { return strings.Compare(a.text, b.text) })
	for _, t := range s.tokens {
		s.starts[int(t.text[0])+1]++
	}
	for b := range 256 {
		s.starts[b+1] += s.starts[b]
	}
	return s
}

// isFound tells the kinds of tokens that are looked for in a text before it is cut into words.
func isFound(kind int32) bool { return kind == Control || kind == Unknown || kind == UserDefined }

// longest finds the longest token at text[at:] and its length in bytes, 0 when there is none. untrusted are the
// ranges that end behind at.
func (s *specials) longest(text string, at int, untrusted [][2]int) (id uint32, length int) {
	b := text[at]
	among := s.tokens[s.starts[b]:s.starts[int(b)+1]]
	if len(among) == 0 {
		return 0, 0
	}
	trustedUntil := len(text)
	for _, span := range untrusted {
		if span[0] < span[1] {
			trustedUntil = span[0]
			break
		}
	}
	// among are the tokens that begin with the first n bytes. Of these the one that ends there comes first.
	for n := 1; ; n++ {
		if t := &among[0]; len(t.text) == n {
			if !t.trusted || at+n <= trustedUntil {
				id, length = t.id, n
			}
			among = among[1:]
		}
		if at+n == len(text) {
			return id, length
		}
		if among = withByte(among, n, text[at+n]); len(among) == 0 {
			return id, length
		}
	}
}

// withByte narrows tokens, all longer than n bytes, to those with byte b at n.
func withByte(tokens []special, n int, b byte) []special {
	compare := func(t special, b int) int { return int(t.text[n]) - b }
	from, found := slices.BinarySearchFunc(tokens, int(b), compare)
	if !found {
		return nil
	}
	to, _ := slices.BinarySearchFunc(tokens[from:], int(b)+1, compare)
	return tokens[from : from+to]
}
