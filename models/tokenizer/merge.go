package tokenizer

import "strings"

// pair packs two neighbouring token ids.
type pair uint64

func newPair(left, right uint32) pair { return pair(left)<<32 | pair(right) }

// merge says what a pair becomes, and how early.
type merge struct {
	rank, id uint32
}

const (
	// shortWord is the number of symbols up to which looking at all pairs anew for each merge beats a heap.
	shortWord = 24
	// cachedWord is the longest word, in bytes, that is remembered; cacheSize is how many are.
	cachedWord = 24
	cacheSize  = 1 << 13
	// keptSymbols is how much working memory of a long word is kept for the next one.
	keptSymbols = 1 << 14
)

// work is the memory of one Encode call, reused by later ones.
type work struct {
	ids     []uint32 // the result
	symbols []symbol
	heap    []uint64 // candidates, rank<<32 | position of the left symbol
	cache   map[string][]uint32
}

// symbol is one element of a doubly linked list of tokens. A symbol that was merged into its left neighbour is dead.
type symbol struct {
	id         uint32
	prev, next int32 // -1 at the ends
	dead       bool
}

// trim gives back the memory of unusually long words.
func (w *work) trim() {
	if cap(w.symbols) > keptSymbols {
		w.symbols = nil
	}
	if cap(w.heap) > keptSymbols {
		w.heap = nil
	}
}

// encodeWord appends the ids of one word, by the cache where possible.
func (t *Tokenizer) encodeWord(w *work, word string) {
	if ids, ok := w.cache[word]; ok {
		w.ids = append(w.ids, ids...)
		return
	}
	start := len(w.ids)
	t.mergeWord(w, word)
	if len(word) > cachedWord {
		return
	}
	if len(w.cache) >= cacheSize {
		clear(w.cache)
	}
	if w.cache == nil {
		w.cache = make(map[string][]uint32)
	}
	// The clone keeps a cached word from keeping the whole text.
	w.cache[strings.Clone(word)] = append([]uint32(nil), w.ids[start:]...)
}

// mergeWord appends the ids of one word. Bytes without a token are left out before merging.
func (t *Tokenizer) mergeWord(w *work, word string) {
	start := len(w.ids)
	for i := range len(word) {
		if id := t.byteIDs[word[i]]; id != None {
			w.ids = append(w.ids, uint32(id))
		}
	}
	if n := len(w.ids) - start; n <= shortWord {
		w.ids = w.ids[:start+t.mergeShort(w.ids[start:])]
		return
	}
	w.link(w.ids[start:])
	w.ids = w.ids[:start]
	t.mergeLong(w)
	for i := int32(0); i >= 0; i = w.symbols[i].next {
		w.ids = append(w.ids, w.symbols[i].id)
	}
}

// mergeShort merges ids in place and returns how many are left.
func (t *Tokenizer) mergeShort(ids []uint32) int {
	for {
		at, best := -1, merge{}
		for i := 0; i+1 < len(ids); i++ {
			m, ok := t.merges[newPair(ids[i], ids[i+1])]
			if ok && (at < 0 || m.rank < best.rank) {
				at, best = i, m
			}
		}
		if at < 0 {
			return len(ids)
		}
		ids[at] = best.id
		copy(ids[at+1:], ids[at+2:])
		ids = ids[:len(ids)-1]
	}
}

// link makes ids the list of symbols.
func (w *work) link(ids []uint32) {
	w.symbols = w.symbols[:0]
	for i, id := range ids {
		w.symbols = append(w.symbols, symbol{id: id, prev: int32(i - 1), next: int32(i + 1)})
	}
	w.symbols[len(ids)-1].next = -1
}

// mergeLong merges w.symbols in O(n log n): the heap holds a candidate for every pair that may merge. Candidates are
// not removed when a neighbour changes; one whose pair has another rank by now is stale and skipped.
func (t *Tokenizer) mergeLong(w *work) {
	w.heap = w.heap[:0]
	for i := range w.symbols {
		t.propose(w, int32(i))
	}
	for len(w.heap) > 0 {
		candidate := w.pop()
		at := int32(uint32(candidate))
		m, ok := t.mergeAt(w, at)
		if !ok || m.rank != uint32(candidate>>32) {
			continue
		}
		left := &w.symbols[at]
		right := &w.symbols[left.next]
		right.dead = true
		left.id, left.next = m.id, right.next
		if right.next >= 0 {
			w.symbols[right.next].prev = at
		}
		t.propose(w, at)
		if left.prev >= 0 {
			t.propose(w, left.prev)
		}
	}
}

// mergeAt looks up the pair whose left symbol is at.
func (t *Tokenizer) mergeAt(w *work, at int32) (merge, bool) {
	left := w.symbols[at]
	if left.dead || left.next < 0 {
		return merge{}, false
	}
	m, ok := t.merges[newPair(left.id, w.symbols[left.next].id)]
	return m, ok
}

// propose pushes the pair whose left symbol is at, if it may merge.
func (t *Tokenizer) propose(w *work, at int32) {
	if m, ok := t.mergeAt(w, at); ok {
		w.push(uint64(m.rank)<<32 | uint64(uint32(at)))
	}
}

// push and pop keep w.heap a binary min-heap.
func (w *work) push(candidate uint64) {
	w.heap = append(w.heap, candidate)
	for i := len(w.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if w.heap[parent] <= w.heap[i] {
			return
		}
		w.heap[parent], w.heap[i] = w.heap[i], w.heap[parent]
		i = parent
	}
}

func (w *work) pop() uint64 {
	top, last := w.heap[0], len(w.heap)-1
	w.heap[0] = w.heap[last]
	w.heap = w.heap[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && w.heap[child+1] < w.heap[child] {
			child++
		}
		if w.heap[i] <= w.heap[child] {
			return top
		}
		w.heap[i], w.heap[child] = w.heap[child], w.heap[i]
		i = child
	}
}
