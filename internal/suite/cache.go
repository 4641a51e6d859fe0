package suite

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/x448/float16"
)

// newRecord is a params block for a position, with the given page ids.
func newRecord(p plan.Params, pages []uint32, position, length int) []uint32 {
	w := make([]uint32, p.Words())
	w[plan.ParamsPos], w[plan.ParamsLen] = uint32(position), uint32(length)
	w[plan.ParamsPages], w[plan.ParamsOut] = uint32(p.PagesAt), uint32(p.RingAt)
	copy(w[p.PagesAt:p.PagesAt+p.Pages], pages)
	return w
}

// cache is the pages of a layer as a kernel's caches hold them.
type cache struct {
	plan.KV
	heads, size int
	pages       []uint32 // of the sequence, out of order
	watched     []int    // the pages that results have, in order; nil for all
}

// newCache draws the pages of a sequence. The last page of the cache comes last.
func newCache(r *rand.Rand, kv plan.KV, heads, size, pages int) cache {
	c := cache{KV: kv, heads: heads, size: size}
	for _, p := range r.Perm(kv.Pages - 1) {
		c.pages = append(c.pages, uint32(p))
	}
	c.pages = append(c.pages, uint32(kv.Pages-1))[:min(pages, kv.Pages)]
	return c
}

// page is the page that a kernel has to take for a page id: one that doesn't exist stands for the last.
func (c cache) page(position int) int {
	return min(int(c.pages[position/c.PageTokens]), c.Pages-1)
}

// element is where the keys, or the values, have the first element of a position.
func (c cache) element(position int) int {
	return (c.page(position)*c.PageTokens + position%c.PageTokens) * c.heads * c.size
}

func (c cache) elementBytes() int {
	if c.F16 {
		return 2
	}
	return 4
}

// watch lets results have pages around the one of a position alone, where the cache is large.
func (c *cache) watch(position int) {
	if c.Pages*c.pageBytes() <= 1<<20 {
		return
	}
	at := c.page(position)
	for _, p := range []int{0, at - 1, at, at + 1, c.Pages - 1} {
		if p >= 0 && p < c.Pages && (len(c.watched) == 0 || p > c.watched[len(c.watched)-1]) {
			c.watched = append(c.watched, p)
		}
	}
}

// blank is the watched pages full of the sentinel; nothing when all are watched.
func (c cache) blank() []Part {
	var all []Part
	for _, p := range c.watched {
		all = append(all, Part{uint64(p * c.pageBytes()), bytes.Repeat([]byte{Sentinel}, c.pageBytes())})
	}
	return all
}

func (c cache) pageBytes() int { return c.PageTokens * c.heads * c.size * c.elementBytes() }

// found is where the watched pages of keys or values have the first byte of a position.
func (c cache) found(position int) int {
	at := c.element(position) * c.elementBytes()
	if c.watched == nil {
		return at
	}
	return slices.Index(c.watched, c.page(position))*c.pageBytes() + at%c.pageBytes()
}

// numbers reads elements.
func (c cache) numbers(b []byte) []float32 {
	if !c.F16 {
		return Unfloats(b)
	}
	out := make([]float32, len(b)/2)
	for i := range out {
		out[i] = float16.Frombits(binary.LittleEndian.Uint16(b[2*i:])).Float32()
	}
	return out
}

// part is numbers as the elements of a position.
func (c cache) part(position int, numbers []float32) Part {
	data := make([]byte, len(numbers)*c.elementBytes())
	for i, v := range numbers {
		if c.F16 {
			binary.LittleEndian.PutUint16(data[2*i:], uint16(float16.Fromfloat32(v)))
		} else {
			binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
		}
	}
	return Part{uint64(c.element(position) * c.elementBytes()), data}
}
