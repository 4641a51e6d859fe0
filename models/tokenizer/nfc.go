package tokenizer

import (
	"slices"
	"unicode/utf8"
)

//go:generate go run ./internal/gen -out nfc_tables.go

// Normalisation to NFC (Unicode Standard Annex 15): decompose, put combining marks into canonical order, compose.
// The tables' layouts:
//
//	decompositions  sorted, from<<42 | first<<21 | second; second is 0 for a decomposition to one character
//	compositions    indices of those decompositions that may be composed, sorted by first and second
//	combining       ranges of characters with a combining class other than 0, sorted, from<<32 | to<<8 | class
//	unsettled       ranges of characters that text in NFC may not hold, or not everywhere, sorted, from<<32 | to

// Hangul syllables decompose by arithmetic (Unicode Standard, section 3.12).
const (
	hangulBase  = 0xAC00
	leadBase    = 0x1100
	vowelBase   = 0x1161
	trailBase   = 0x11A7
	leads       = 19
	vowels      = 21
	trails      = 28
	hangulCount = leads * vowels * trails
)

// normalizeNFC returns text in NFC. Invalid bytes stay as they are, and nothing composes or moves across them.
func normalizeNFC(text string) string {
	if settled(text) {
		return text
	}
	var marked []mark
	out := make([]byte, 0, len(text)+16)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			out = appendComposed(out, marked)
			out = append(out, text[i])
			marked = marked[:0]
		} else {
			marked = appendDecomposed(marked, r)
		}
		i += n
	}
	return string(appendComposed(out, marked))
}

// settled tells that text is in NFC for certain, which holds for nearly every text.
func settled(text string) bool {
	for _, r := range text {
		if r >= 0x300 && inRanges(unsettled[:], r) {
			return false
		}
	}
	return true
}

// inRanges looks r up in ranges from<<32 | to.
func inRanges(ranges []uint64, r rune) bool {
	i, found := slices.BinarySearchFunc(ranges, r, func(span uint64, r rune) int { return int(span>>32) - int(r) })
	return found || i > 0 && r <= rune(uint32(ranges[i-1]))
}

// mark is a decomposed character with its combining class; class 0 is a starter.
type mark struct {
	r     rune
	class uint8
}

// appendDecomposed appends the full canonical decomposition of r.
func appendDecomposed(marks []mark, r rune) []mark {
	if s := r - hangulBase; s >= 0 && s < hangulCount {
		marks = append(marks, mark{r: leadBase + s/(vowels*trails)}, mark{r: vowelBase + s/trails%vowels})
		if trail := s % trails; trail > 0 {
			marks = append(marks, mark{r: trailBase + trail})
		}
		return marks
	}
	first, second, ok := decompose(r)
	if !ok {
		return append(marks, mark{r, combiningClass(r)})
	}
	marks = appendDecomposed(marks, first)
	if second != 0 {
		marks = appendDecomposed(marks, second)
	}
	return marks
}

const (
	runeBits = 21
	runeMask = 1<<runeBits - 1
)

func decompose(r rune) (first, second rune, ok bool) {
	i, found := slices.BinarySearchFunc(decompositions[:], r, func(d uint64, r rune) int {
		return int(d>>(2*runeBits)) - int(r)
	})
	if !found {
		return 0, 0, false
	}
	d := decompositions[i]
	return rune(d >> runeBits & runeMask), rune(d & runeMask), true
}

func combiningClass(r rune) uint8 {
	i, found := slices.BinarySearchFunc(combining[:], r, func(span uint64, r rune) int { return int(span>>32) - int(r) })
	if !found {
		i--
	}
	if i < 0 || r > rune(combining[i]>>8&0xFFFFFF) {
		return 0
	}
	return uint8(combining[i])
}

// compose gives the one character that two make, 0 if they make none.
func compose(first, second rune) rune {
	switch {
	case first >= leadBase && first < leadBase+leads && second >= vowelBase && second < vowelBase+vowels:
		return hangulBase + ((first-leadBase)*vowels+second-vowelBase)*trails
	case first >= hangulBase && first < hangulBase+hangulCount && (first-hangulBase)%trails == 0 &&
		second > trailBase && second < trailBase+trails:
		return first + second - trailBase
	}
	key := uint64(first)<<runeBits | uint64(second)
	const pairMask = 1<<(2*runeBits) - 1
	i, found := slices.BinarySearchFunc(compositions[:], key, func(index uint16, key uint64) int {
		p := decompositions[index] & pairMask
		switch {
		case p < key:
			return -1
		case p > key:
			return 1
		}
		return 0
	})
	if !found {
		return 0
	}
	return rune(decompositions[compositions[i]] >> (2 * runeBits))
}

// appendComposed puts marks into canonical order, composes them and appends the text. It changes marks.
func appendComposed(dst []byte, marks []mark) []byte {
	reorder(marks)
	starter := -1     // where the last starter is
	kept := marks[:0] // what is left after composing
	last := uint8(0)  // class of the last character kept after the starter
	for _, m := range marks {
		// A mark is blocked from the starter by one of its own class or higher between them; a starter by anything.
		if starter >= 0 && (starter == len(kept)-1 || last < m.class) {
			if r := compose(kept[starter].r, m.r); r != 0 {
				kept[starter].r = r
				continue
			}
		}
		if m.class == 0 {
			starter = len(kept)
		}
		last = m.class
		kept = append(kept, m)
	}
	for _, m := range kept {
		dst = utf8.AppendRune(dst, m.r)
	}
	return dst
}

// reorder sorts each run of marks between starters by class, keeping the order within a class.
func reorder(marks []mark) {
	for from := 0; from < len(marks); from++ {
		if marks[from].class == 0 {
			continue
		}
		to := from
		for to < len(marks) && marks[to].class != 0 {
			to++
		}
		slices.SortStableFunc(marks[from:to], func(a, b mark) int { return int(a.class) - int(b.class) })
		from = to
	}
}
