package suite

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

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
}

// newCache draws the pages of a sequence. The last page of the cache is none of them.
func newCache(r *rand.Rand, kv plan.KV, heads, size, pages int) cache {
	c := cache{kv, heads, size, nil}
	for _, p := range r.Perm(max(1, kv.Pages-1)) {
		c.pages = append(c.pages, uint32(p))
	}
	c.pages = c.pages[:min(pages, len(c.pages))]
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

// elements is what c has for a position in its keys or values: heads·size numbers.
func (c cache) elements(half []byte, position int) []float32 {
	at, n := c.element(position), c.heads*c.size
	return c.numbers(half[at*c.elementBytes():][:n*c.elementBytes()])
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
