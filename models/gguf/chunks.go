package gguf

import (
	"iter"
	"strings"
)

// chunkSize is how much of a header is read at once.
const chunkSize = 256 << 10

// chunks are the first bytes of a file in pieces of chunkSize, the last one may be shorter. A header grows piece by piece,
// since its length is known only at its end, and growing one block would hold the header twice.
type chunks [][]byte

// part returns bytes from..to, as a view if they lie in one piece.
func (c chunks) part(from, to int) []byte {
	if from == to {
		return []byte{}
	}
	if i := from / chunkSize; i == (to-1)/chunkSize {
		return c[i][from-i*chunkSize : to-i*chunkSize : to-i*chunkSize]
	}
	out := make([]byte, 0, to-from)
	for piece := range c.pieces(from, to) {
		out = append(out, piece...)
	}
	return out
}

// text returns bytes from..to as a string, with no copy beside it.
func (c chunks) text(from, to int) string {
	var b strings.Builder
	b.Grow(to - from)
	for piece := range c.pieces(from, to) {
		b.Write(piece)
	}
	return b.String()
}

func (c chunks) pieces(from, to int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for from < to {
			i, at := from/chunkSize, from%chunkSize
			n := min(to-from, chunkSize-at)
			if !yield(c[i][at : at+n : at+n]) {
				return
			}
			from += n
		}
	}
}
