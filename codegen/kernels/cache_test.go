package kernels_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
	"github.com/x448/float16"
)

// cachePages is a page table out of order, for a cache of 5 pages of which 4 are used.
var cachePages = []uint32{3, 0, 4, 2}

// record is a params block for a position, with cachePages as the sequence's pages.
func record(position int) []byte {
	w := make([]uint32, params.Words())
	w[plan.ParamsPos], w[plan.ParamsLen] = uint32(position), uint32(position+1)
	w[plan.ParamsPages], w[plan.ParamsOut] = uint32(params.PagesAt), uint32(params.RingAt)
	copy(w[params.PagesAt:], cachePages)
	return words(w)
}

// element is where the cache has element e of head h of the key at a position; the value is half the cache further.
func element(kv plan.KV, heads, size, position, h, e int) int {
	page := int(cachePages[position/kv.PageTokens])
	return page*kv.PageTokens*heads*size + ((position%kv.PageTokens)*heads+h)*size + e
}

// cached reads the elements of a cache.
func cached(kv plan.KV, b []byte) []float32 {
	if !kv.F16 {
		return unfloats(b)
	}
	out := make([]float32, len(b)/2)
	for i := range out {
		out[i] = float16.Frombits(binary.LittleEndian.Uint16(b[2*i:])).Float32()
	}
	return out
}

var positions = []int{0, 1, 31, 32, 33, 63, 64, 95, 127}

func testRoPE(t *testing.T, d device) {
	var worst float64
	for _, c := range []struct {
		heads, kvHeads, size, dims int
		style                      ir.RoPEStyle
	}{
		{9, 3, 64, 64, ir.Norm}, {8, 2, 64, 64, ir.NeoX}, {4, 4, 80, 20, ir.NeoX}, {4, 2, 80, 80, ir.NeoX}, {2, 1, 96, 32, ir.Norm},
		{2, 1, 128, 128, ir.NeoX}, {1, 1, 6, 6, ir.NeoX}, {3, 1, 10, 6, ir.NeoX}, {1, 1, 256, 256, ir.Norm}, {2, 2, 64, 2, ir.Norm},
		{1, 1, 300, 300, ir.NeoX}, {2, 1, 512, 512, ir.NeoX}, {1, 1, 1000, 1000, ir.Norm}, // more pairs than any workgroup has threads
	} {
		for _, f16 := range []bool{false, true} {
			r := kernels.RoPEKV{Heads: c.heads, KVHeads: c.kvHeads, Size: c.size, Dims: c.dims, Style: c.style, Positions: 128, Params: params, KV: cache(f16)}
			k, err := r.Kernel(schedules.DefaultElementwise(d.compat), d.compat)
			b := build(t, k, err, kernels.K, kernels.V)
			for _, position := range positions {
				d.checkRoPE(t, b, r, position, &worst)
			}
		}
	}
	t.Logf("largest error relative to the largest value %.2g", worst)
}

// rotate turns the pairs of a head's first dims values, in float64.
func rotate(x []float32, r kernels.RoPEKV, position int) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	for head := 0; head < len(x); head += r.Size {
		for i := range r.Dims / 2 {
			a, b := head+2*i, head+2*i+1
			if r.Style == ir.NeoX {
				a, b = head+i, head+i+r.Dims/2
			}
			sin, cos := math.Sincos(angle(r, position, i))
			out[a], out[b] = out[a]*cos-out[b]*sin, out[a]*sin+out[b]*cos
		}
	}
	return out
}

func angle(r kernels.RoPEKV, position, i int) float64 {
	return float64(position) * math.Pow(10000, -2*float64(i)/float64(r.Dims))
}

func (d device) checkRoPE(t *testing.T, b built, r kernels.RoPEKV, position int, worst *float64) {
	t.Helper()
	rnd := random(uint64(position))
	q, key, value := normal(rnd, r.Heads*r.Size, 1), normal(rnd, r.KVHeads*r.Size, 1), normal(rnd, r.KVHeads*r.Size, 1)
	var table []float32
	for p := range r.Positions {
		for i := range r.Dims / 2 {
			sin, cos := math.Sincos(angle(r, p, i))
			table = append(table, float32(cos), float32(sin))
		}
	}
	out := d.run(t, b, map[string][]byte{
		kernels.Params: record(position), kernels.RoPETable: floats(table),
		kernels.Q: floats(q), kernels.K: floats(key), kernels.V: floats(value),
	})
	within := func(what string, got float32, want, bound float64) {
		e := math.Abs(float64(got) - want)
		if !(e <= bound) {
			t.Fatalf("%s, position %d: %s is %v, want %v", b.Name, position, what, got, want)
		}
		if bound == 4e-6 {
			*worst = max(*worst, e/4)
		}
	}
	for i, want := range rotate(q, r, position) {
		within(fmt.Sprint("q ", i), unfloats(out[kernels.Q])[i], want, 4e-6) // 1e-6 of the largest value, which is near 4
	}
	kv := cached(r.KV, slices.Concat(out[kernels.KeyCache], out[kernels.ValueCache]))
	bound := func(want float64) float64 {
		if r.KV.F16 {
			return math.Abs(want)/1024 + 1e-6
		}
		return 4e-6
	}
	used := map[int]bool{}
	for i, want := range rotate(key, r, position) {
		at := element(r.KV, r.KVHeads, r.Size, position, i/r.Size, i%r.Size)
		within(fmt.Sprint("k ", i), kv[at], want, bound(want))
		within(fmt.Sprint("v ", i), kv[len(kv)/2+at], float64(value[i]), bound(float64(value[i])))
		used[at], used[len(kv)/2+at] = true, true
	}
	untouched := cached(r.KV, words([]uint32{sentinel}))[0]
	for i, v := range kv {
		if !used[i] && v != untouched && !(v != v && untouched != untouched) {
			t.Fatalf("%s, position %d: element %d of the cache became %v", b.Name, position, i, v)
		}
	}
}

func testAttention(t *testing.T, d device) {
	var worst float64
	seeds := seeds(t)
	for _, c := range []struct {
		heads, kvHeads, size, workgroup, window int
		f16                                     bool
	}{
		{9, 3, 64, 0, 0, false}, {9, 3, 64, 0, 0, true}, {8, 8, 80, 0, 0, true}, {4, 1, 96, 32, 0, false}, {2, 1, 128, 0, 0, true},
		{2, 2, 256, 0, 0, false}, {2, 1, 64, 128, 0, true}, {2, 1, 64, 4, 0, false}, {4, 2, 64, 0, 16, false}, {4, 2, 64, 32, 33, true},
		{2, 1, 300, 0, 0, false}, {1, 1, 512, 0, 0, true}, // several elements for each thread
	} {
		a := kernels.AttentionDecode{
			Heads: c.heads, KVHeads: c.kvHeads, Size: c.size, Scale: 1 / math.Sqrt(float64(c.size)), Window: c.window,
			Params: params, KV: cache(c.f16),
		}
		s := schedules.DefaultAttention(a.Problem(), d.compat)
		if c.workgroup > 0 {
			s.Workgroup = c.workgroup
		}
		k, err := a.Kernel(s, d.compat)
		b := build(t, k, err)
		for i, position := range positions {
			d.checkAttention(t, b, a, position, 1, seeds[i%len(seeds)], &worst)
		}
		d.checkAttention(t, b, a, 64, 30, 64, &worst) // scores up to hundreds: one key takes all
	}
	t.Logf("largest NMSE %.2g", worst)
}

func (d device) checkAttention(t *testing.T, b built, a kernels.AttentionDecode, position int, sharp float64, seed uint64, worst *float64) {
	t.Helper()
	r := random(seed)
	q := normal(r, a.Heads*a.Size, sharp)
	n := 2 * a.KV.Pages * a.KV.PageTokens * a.KVHeads * a.Size
	kv := make([]byte, n*4)
	if a.KV.F16 {
		kv = make([]byte, n*2)
	}
	for i := range kv {
		kv[i] = sentinel & 0xff // what is not a key of the sequence is huge, or NaN in f16
	}
	for p := range position + 1 {
		for h := range a.KVHeads {
			for e := range a.Size {
				at := element(a.KV, a.KVHeads, a.Size, p, h, e)
				for _, i := range []int{at, at + n/2} {
					if v := float32(r.NormFloat64()); a.KV.F16 {
						binary.LittleEndian.PutUint16(kv[2*i:], uint16(float16.Fromfloat32(v)))
					} else {
						binary.LittleEndian.PutUint32(kv[4*i:], math.Float32bits(v))
					}
				}
			}
		}
	}
	out := d.run(t, b, map[string][]byte{kernels.Params: record(position), kernels.Q: floats(q), kernels.KeyCache: kv[:len(kv)/2], kernels.ValueCache: kv[len(kv)/2:]})
	want := attention(a, q, cached(a.KV, kv), position)
	closeTo(t, fmt.Sprintf("%s, position %d, seed %d", b.Name, position, seed), unfloats(out[kernels.Y]), want, 1e-9, worst)
}

// attention is the sum in float64 over the keys that a token at the position sees.
func attention(a kernels.AttentionDecode, q, kv []float32, position int) []float64 {
	first := 0
	if a.Window > 0 {
		first = max(0, position+1-a.Window)
	}
	out := make([]float64, len(q))
	for h := range a.Heads {
		kvHead := h * a.KVHeads / a.Heads
		var scores []float64
		top := math.Inf(-1)
		for p := first; p <= position; p++ {
			score := 0.0
			for e := range a.Size {
				score += float64(q[h*a.Size+e]) * float64(kv[element(a.KV, a.KVHeads, a.Size, p, kvHead, e)])
			}
			scores = append(scores, score*a.Scale)
			top = max(top, score*a.Scale)
		}
		sum := 0.0
		for _, s := range scores {
			sum += math.Exp(s - top)
		}
		for i, s := range scores {
			for e := range a.Size {
				v := kv[len(kv)/2+element(a.KV, a.KVHeads, a.Size, first+i, kvHead, e)]
				out[h*a.Size+e] += math.Exp(s-top) / sum * float64(v)
			}
		}
	}
	return out
}
