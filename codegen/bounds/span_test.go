package bounds

import (
	"math/rand/v2"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// anySpan draws a span of a type with no more than a few dozen values, often near the limits of the type.
func anySpan(r *rand.Rand, t wgsl.Type) span {
	most := limits(t)
	at := []int64{0, 1, 7, most.lo, most.hi - 20, 1 << 20, 1<<31 - 10}[r.IntN(7)] + int64(r.IntN(9))
	s := span{at, at + int64(r.IntN(40)), 1, 0}
	if r.IntN(2) == 0 {
		s.mod = int64(1 + r.IntN(6))
		s.rem = modulo(int64(r.IntN(6)), s.mod)
	}
	if r.IntN(5) == 0 {
		s = constant(at)
	}
	return s.meet(most)
}

// values lists those of a span.
func (s span) values() []int64 {
	var out []int64
	for v := s.lo; v <= s.hi; v++ {
		if s.mod == 0 && v == s.rem || s.mod > 0 && modulo(v, s.mod) == s.rem {
			out = append(out, v)
		}
	}
	return out
}

func (s span) has(v int64) bool {
	return v >= s.lo && v <= s.hi && (s.mod == 0 && v == s.rem || s.mod > 0 && modulo(v, s.mod) == s.rem)
}

func wrap32(n int64, t wgsl.Type) int64 {
	if t == wgsl.Type(wgsl.I32) {
		return int64(int32(n))
	}
	return int64(uint32(n))
}

// The span of an operation has every result of values of its operands' spans.
func TestOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	operations := []struct {
		op op
		of func(x, y int64) int64
	}{
		{opAdd, func(x, y int64) int64 { return x + y }},
		{opSub, func(x, y int64) int64 { return x - y }},
		{opMul, func(x, y int64) int64 { return int64(uint64(x) * uint64(y)) }},
		{opDiv, func(x, y int64) int64 {
			if y == 0 {
				return x
			}
			return x / y
		}},
		{opMod, func(x, y int64) int64 {
			if y == 0 {
				return 0
			}
			return x % y
		}},
		{opAnd, func(x, y int64) int64 { return x & y }},
		{opOr, func(x, y int64) int64 { return x | y }},
		{opXor, func(x, y int64) int64 { return x ^ y }},
		{opShl, func(x, y int64) int64 { return x << (y & 31) }},
		{opShr, func(x, y int64) int64 { return x >> (y & 31) }},
		{opMin, func(x, y int64) int64 { return min(x, y) }},
		{opMax, func(x, y int64) int64 { return max(x, y) }},
		{opConvert, func(x, _ int64) int64 { return x }},
	}
	for range 6_000 {
		typ := []wgsl.Type{wgsl.U32, wgsl.I32}[r.IntN(2)]
		from := typ
		o := operations[r.IntN(len(operations))]
		if o.op == opConvert {
			from = []wgsl.Type{wgsl.U32, wgsl.I32}[r.IntN(2)]
		}
		a, b := anySpan(r, from), anySpan(r, from)
		if o.op == opShl || o.op == opShr {
			b = anySpan(r, wgsl.U32)
			if r.IntN(2) == 0 {
				b = between(int64(r.IntN(32)), int64(r.IntN(36)))
			}
		}
		p := newProver(Use{Grid: [3]int{1, 1, 1}}, &wgsl.Func{Workgroup: [3]int{1, 1, 1}}, &memory{})
		f := newFacts()
		got := p.span(f, p.make(o.op, typ, p.known(from, a), &node{typ: from, base: b}))
		for _, x := range a.values() {
			for _, y := range b.values() {
				if v := wrap32(o.of(x, y), typ); !got.has(v) {
					t.Fatalf("operation %d in %v of %+v and %+v is %+v; of %d and %d it is %d", o.op, typ, a, b, got, x, y, v)
				}
			}
		}
	}
}

// Joined spans have the values of both, and what spans have in common their meet has.
func TestJoinAndMeet(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	for range 6_000 {
		a, b := anySpan(r, wgsl.U32), anySpan(r, wgsl.U32)
		join, meet := a.join(b), a.meet(b)
		for _, v := range a.values() {
			if !join.has(v) || !a.widen(b, limits(wgsl.U32)).has(v) {
				t.Fatalf("%+v and %+v joined are %+v, without %d", a, b, join, v)
			}
			if b.has(v) && !meet.has(v) {
				t.Fatalf("%+v and %+v meet in %+v, without %d", a, b, meet, v)
			}
		}
		for _, v := range b.values() {
			if !join.has(v) || !a.widen(b, limits(wgsl.U32)).has(v) {
				t.Fatalf("%+v and %+v joined are %+v, without %d", a, b, join, v)
			}
		}
		if a.inside(b) {
			for _, v := range a.values() {
				if !b.has(v) {
					t.Fatalf("%+v is not inside %+v", a, b)
				}
			}
		}
	}
}

// What follows from a condition holds for every pair of values of which the condition does.
func TestAssume(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 7))
	for range 6_000 {
		p := newProver(Use{Grid: [3]int{1, 1, 1}}, &wgsl.Func{Workgroup: [3]int{1, 1, 1}}, &memory{})
		typ := []wgsl.Type{wgsl.U32, wgsl.U32, wgsl.I32}[r.IntN(3)]
		x, y := p.known(typ, anySpan(r, typ)), p.known(typ, anySpan(r, typ))
		f := newFacts()
		e := p.make([]op{opAdd, opSub, opMul, opDiv, opMod, opAnd, opShl, opShr, opMin, opMax}[r.IntN(10)], typ, x, y)
		c := p.make([]op{opLess, opAtMost, opEqual}[r.IntN(3)], wgsl.Bool, e, p.known(typ, anySpan(r, typ)))
		if r.IntN(2) == 0 {
			c = p.make(c.op, wgsl.Bool, c.args[1], c.args[0])
		}
		if r.IntN(3) == 0 {
			c = p.make([]op{opBoth, opEither}[r.IntN(2)], wgsl.Bool, c, p.make(opLess, wgsl.Bool, x, y))
		}
		holds := r.IntN(2) == 0
		g, possible := p.assume(f, c, holds)
		for range 60 {
			values := map[*node]int64{}
			if v, ok := evaluate(r, c, values); !ok || (v == 1) != holds {
				continue
			}
			if !possible {
				t.Fatalf("%v can be %v", values, holds)
			}
			for n, v := range values {
				if !p.span(g, n).has(v) {
					t.Fatalf("node of operation %d is %d, not in %+v", n.op, v, p.span(g, n))
				}
			}
			for pair, d := range g.apart {
				if values[pair[0]]-values[pair[1]] < d {
					t.Fatalf("%d is not at least %d more than %d", values[pair[0]], d, values[pair[1]])
				}
			}
		}
	}
}

// evaluate draws a value for every node below n; ok is false when a span has none.
func evaluate(r *rand.Rand, n *node, values map[*node]int64) (v int64, ok bool) {
	if v, ok := values[n]; ok {
		return v, true
	}
	if n.op == opAny {
		all := n.base.values()
		if len(all) == 0 {
			return 0, false
		}
		values[n] = all[r.IntN(len(all))]
		return values[n], true
	}
	x, ok1 := evaluate(r, n.args[0], values)
	y, ok2 := evaluate(r, n.args[1], values)
	if !ok1 || !ok2 {
		return 0, false
	}
	truth := map[bool]int64{true: 1}
	switch n.op {
	case opAdd:
		v = wrap32(x+y, n.typ)
	case opSub:
		v = wrap32(x-y, n.typ)
	case opMul:
		v = wrap32(int64(uint64(x)*uint64(y)), n.typ)
	case opDiv, opMod:
		if y == 0 {
			return 0, false
		}
		v = x / y
		if n.op == opMod {
			v = x % y
		}
		v = wrap32(v, n.typ)
	case opAnd:
		v = x & y
	case opShl:
		v = wrap32(x<<(y&31), n.typ)
	case opShr:
		v = x >> (y & 31)
	case opMin:
		v = min(x, y)
	case opMax:
		v = max(x, y)
	case opLess:
		v = truth[x < y]
	case opAtMost:
		v = truth[x <= y]
	case opEqual:
		v = truth[x == y]
	case opBoth:
		v = x & y
	case opEither:
		v = x | y
	}
	values[n] = v
	return v, true
}
