package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// The operands of RoPEKV beside params.
const (
	RoPETable = "table"
	Q         = "q"
	K         = "k"
	V         = "v"
)

// RoPEKV rotates the query of one token in place, and writes its rotated key and its value to the cache:
//
//	(x', y') = (x·cos − y·sin, x·sin + y·cos)   for the pairs (x, y) of a head's first Dims values, as Style pairs them
//
// Cos and sin come from the table for the token's position; the rest of a head passes through. The cache has the order of
// plan.KV, and the page of a position comes from params. Operands: params, table, q, k, v, which lie side by side, and both
// caches.
type RoPEKV struct {
	Heads, KVHeads, Size int
	Dims                 int // even
	Style                ir.RoPEStyle
	Positions            int // in the table; the position is clamped to them
	Params               plan.Params
	KV                   plan.KV // Layers is not read
}

func (r RoPEKV) check() error {
	switch {
	case r.Heads <= 0 || r.KVHeads <= 0:
		return fmt.Errorf("rope: %d heads, %d key heads", r.Heads, r.KVHeads)
	case r.Size <= 0 || r.Size%2 != 0:
		return fmt.Errorf("rope: head size %d is not even", r.Size)
	case r.Dims <= 0 || r.Dims%2 != 0 || r.Dims > r.Size:
		return fmt.Errorf("rope: %d rotated dimensions of a head of %d are not even", r.Dims, r.Size)
	case r.Style != ir.Norm && r.Style != ir.NeoX:
		return fmt.Errorf("rope: no style %d", r.Style)
	case r.Positions <= 0:
		return fmt.Errorf("rope: a table of %d positions", r.Positions)
	}
	return checkCache(r.KV)
}

// Kernel builds the kernel, or says why the schedule cannot. A thread takes a pair that rotates in q, or two neighbours of k
// or v: neighbours share a word of an f16 cache.
func (r RoPEKV) Kernel(s schedules.Elementwise, p schedules.Profile) (Kernel, error) {
	if err := r.check(); err != nil {
		return Kernel{}, err
	}
	w, err := newEach(r.qPairs()+2*r.kvPairs(), s, p)
	if err != nil {
		return Kernel{}, err
	}
	f32s := func(name string, n int, access plan.Access) bind.Operand {
		return bind.Operand{Name: name, Elem: "f32", Count: n, Access: access}
	}
	keys := bind.Operand{Name: KeyCache, Elem: "f32", Count: cacheElements(r.KV, r.KVHeads*r.Size), Access: plan.ReadWrite}
	if r.KV.F16 {
		keys.Elem, keys.Count = "u32", keys.Count/2
	}
	values := keys
	values.Name = ValueCache
	style := map[ir.RoPEStyle]string{ir.Norm: "norm", ir.NeoX: "neox"}[r.Style]
	return Kernel{
		Name: name("rope_kv", style, fmt.Sprintf("%dx%d", r.Heads, r.Size), cacheName(r.KV)),
		Header: []string{
			fmt.Sprintf("rotate %d of %d values of %d query heads and %d key heads (%s); append k and v to the %s cache",
				r.Dims, r.Size, r.Heads, r.KVHeads, style, cacheName(r.KV)),
			s.String(),
		},
		Operands: []bind.Operand{
			paramsOperand(r.Params),
			{Name: RoPETable, Elem: "vec2<f32>", Count: r.Positions * r.Dims / 2, Access: plan.Read},
			f32s(Q, r.Heads*r.Size, plan.ReadWrite), f32s(K, r.KVHeads*r.Size, plan.Read), f32s(V, r.KVHeads*r.Size, plan.Read),
			keys, values,
		},
		Workgroup: s.Workgroup, Grid: w.grid.size(), Problem: r, Schedule: s,
		Body: func(m *wgsl.Module) { w.write(m, func() { r.write(m) }) },
	}, nil
}

func (r RoPEKV) qPairs() int  { return r.Heads * r.Dims / 2 }
func (r RoPEKV) kvPairs() int { return r.KVHeads * r.Size / 2 }

func (r RoPEKV) write(m *wgsl.Module) {
	m.Let("position", "min(%s[%du], %du)", Params, plan.ParamsPos, r.Positions-1)
	m.Let("angles", "position * %du", r.Dims/2)
	keys, values := r.qPairs(), r.qPairs()+r.kvPairs()
	m.IfElse("i < %du", func() { r.rotateQuery(m) }, func() {
		slot(m, r.KV, "position", r.KVHeads*r.Size)
		m.IfElse("i < %du", func() {
			m.Let("e", "(i - %du) * 2u", keys)
			r.rotateKey(m)
			r.append(m, KeyCache, "first", "second")
		}, func() {
			m.Let("e", "(i - %du) * 2u", values)
			r.append(m, ValueCache, "v[e]", "v[e + 1u]")
		}, values)
	}, keys)
}

// rotateQuery rotates pair i of the query.
func (r RoPEKV) rotateQuery(m *wgsl.Module) {
	half, step, apart := r.Dims/2, 2, 1
	if r.Style == ir.NeoX {
		step, apart = 1, half
	}
	m.Let("pair", "i %% %du", half)
	m.Let("at", "i / %du * %du + pair * %du", half, r.Size, step)
	m.Let("turn", "table[angles + pair]")
	m.Let("a", "q[at]")
	m.Let("b", "q[at + %du]", apart)
	m.Set("q[at]", "fma(a, turn.x, -(b * turn.y))")
	m.Set(fmt.Sprintf("q[at + %du]", apart), "fma(b, turn.x, a * turn.y)")
}

// rotateKey declares first and second, values e and e+1 of the key after rotation.
func (r RoPEKV) rotateKey(m *wgsl.Module) {
	m.Let("within", "e %% %du", r.Size)
	m.Var("first", "k[e]")
	m.Var("second", "k[e + 1u]")
	if r.Style == ir.Norm {
		r.ifRotated(m, "within", func() {
			m.Let("turn", "table[angles + within / 2u]")
			m.Let("a", "first")
			m.Set("first", "fma(a, turn.x, -(second * turn.y))")
			m.Set("second", "fma(second, turn.x, a * turn.y)")
		})
		return
	}
	for offset, value := range []string{"first", "second"} {
		at := fmt.Sprintf("within + %du", offset)
		r.ifRotated(m, at, func() {
			n := fmt.Sprint(offset)
			m.Let("upper"+n, "%s >= %du", at, r.Dims/2)
			m.Let("other"+n, "k[select(e + %du, e + %du - %du, upper%s)]", offset+r.Dims/2, offset, r.Dims/2, n)
			m.Let("turn"+n, "table[angles + select(%s, %s - %du, upper%s)]", at, at, r.Dims/2, n)
			m.Set(value, "fma(%s, turn%s.x, select(-other%s, other%s, upper%s) * turn%s.y)", value, n, n, n, n, n)
		})
	}
}

// ifRotated runs body for the values of a head that rotate: all of them, unless Dims is less than Size.
func (r RoPEKV) ifRotated(m *wgsl.Module, within string, body func()) {
	if r.Dims == r.Size {
		body()
		return
	}
	m.If(fmt.Sprintf("%s < %du", within, r.Dims), body)
}

// append stores two neighbours in a cache.
func (r RoPEKV) append(m *wgsl.Module, cache, first, second string) {
	if r.KV.F16 {
		m.Set(cache+"[(slot + e) / 2u]", "pack2x16float(vec2<f32>(%s, %s))", first, second)
		return
	}
	m.Set(cache+"[slot + e]", first)
	m.Set(cache+"[slot + e + 1u]", second)
}
