package bounds

import (
	"math"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// span is what is known of an integer: it is lo to hi, and rem modulo mod. The mod of a constant is 0, that of an integer of which
// nothing but the limits is known 1. A bool is an integer that is 0 or 1. A span with lo > hi is that of no value at all.
type span struct {
	lo, hi   int64
	mod, rem int64
}

const word = int64(1) << 32

// mostMod bounds mod, so that products of two of them and of values fit an int64.
const mostMod = 1 << 30

func constant(n int64) span { return span{n, n, 0, n} }

func between(lo, hi int64) span { return span{lo, hi, 1, 0}.tight() }

// nothing is the span of no value.
var nothing = span{1, 0, 1, 0}

// limits returns what a value of a type is between. Values of other types than bool and integers have no order that counts here.
func limits(t wgsl.Type) span {
	switch t {
	case wgsl.U32:
		return span{0, word - 1, 1, 0}
	case wgsl.I32:
		return span{math.MinInt32, math.MaxInt32, 1, 0}
	}
	return span{0, 1, 1, 0}
}

func (s span) empty() bool          { return s.lo > s.hi }
func (s span) single() bool         { return s.lo == s.hi }
func (s span) is(n int64) bool      { return s.lo == n && s.hi == n }
func (s span) inside(o span) bool   { return s.empty() || s.lo >= o.lo && s.hi <= o.hi && s.fits(o) }
func (s span) within(o span) bool   { return s.lo >= o.lo && s.hi <= o.hi }
func (s span) overlaps(o span) bool { return s.lo <= o.hi && o.lo <= s.hi }

// fits reports whether all that s leaves of a remainder o has.
func (s span) fits(o span) bool {
	switch {
	case o.mod == 1:
		return true
	case o.mod == 0 || s.mod == 0 && o.mod > 0:
		return s.mod == 0 && (o.mod == 0 && s.rem == o.rem || o.mod > 0 && modulo(s.rem, o.mod) == o.rem)
	}
	return s.mod%o.mod == 0 && modulo(s.rem, o.mod) == o.rem
}

// tight moves the limits to the nearest values that have the remainder.
func (s span) tight() span {
	if s.lo > s.hi {
		return nothing
	}
	if s.mod > 1 {
		s.lo += modulo(s.rem-s.lo, s.mod)
		s.hi -= modulo(s.hi-s.rem, s.mod)
	}
	switch {
	case s.lo > s.hi:
		return nothing
	case s.lo == s.hi:
		return constant(s.lo)
	case s.mod == 0: // limits that are wider than the constant
		return constant(s.rem)
	}
	return s
}

// join is the span of values of either.
func (s span) join(o span) span {
	switch {
	case s.empty():
		return o
	case o.empty():
		return s
	}
	r := span{lo: min(s.lo, o.lo), hi: max(s.hi, o.hi)}
	r.mod, r.rem = common(s, o, s.rem-o.rem)
	return r.tight()
}

// common is the remainder of values of both, which differ by apart and by multiples of their mods.
func common(s, o span, apart int64) (mod, rem int64) {
	r := span{}.remainder(gcd(gcd(s.mod, o.mod), apart), s.rem)
	return r.mod, r.rem
}

// meet is the span of values that both have.
func (s span) meet(o span) span {
	if s.empty() || o.empty() {
		return nothing
	}
	r := span{max(s.lo, o.lo), min(s.hi, o.hi), s.mod, s.rem}
	switch {
	case s.mod == 0 || o.mod == 0:
		if o.mod == 0 {
			s, o = o, s
		}
		if o.mod == 0 && o.rem != s.rem || o.mod > 0 && modulo(s.rem, o.mod) != o.rem {
			return nothing
		}
		r.mod, r.rem = 0, s.rem
		if s.rem < r.lo || s.rem > r.hi {
			return nothing
		}
		return constant(s.rem)
	case o.mod > s.mod:
		r.mod, r.rem = o.mod, o.rem
	}
	return r.tight()
}

// widen is the span of a value that grew from s to o and may go on: what moved goes to the limits of its type.
func (s span) widen(o, most span) span {
	r := s.join(o)
	if r.lo < s.lo {
		r.lo = most.lo
	}
	if r.hi > s.hi {
		r.hi = most.hi
	}
	return r.tight()
}

// wrapped is the span in 32 bits of a result without bounds.
func (s span) wrapped(t wgsl.Type) span {
	most := limits(t)
	if s.empty() || s.within(most) {
		return s.tight()
	}
	over := floorDiv(s.lo-most.lo, word)
	if over == floorDiv(s.hi-most.lo, word) {
		s.lo, s.hi, s.rem = s.lo-over*word, s.hi-over*word, s.rem-over*word
		if s.mod > 0 {
			s.rem = modulo(s.rem, s.mod)
		}
		return s.tight()
	}
	mod := gcd(s.mod, word)
	if mod > mostMod {
		mod = mostMod
	}
	return span{most.lo, most.hi, mod, modulo(s.rem, mod)}.tight()
}

func (s span) add(o span) span {
	r := span{lo: s.lo + o.lo, hi: s.hi + o.hi}
	return r.remainder(gcd(s.mod, o.mod), s.rem+o.rem)
}

func (s span) sub(o span) span {
	r := span{lo: s.lo - o.hi, hi: s.hi - o.lo}
	return r.remainder(gcd(s.mod, o.mod), s.rem-o.rem)
}

// remainder sets the remainder of a result; limits stay as they are, for wrapped.
func (s span) remainder(mod, rem int64) span {
	if mod > mostMod {
		mod = mod & -mod // a power of two divides it
		mod = min(mod, mostMod)
	}
	s.mod, s.rem = mod, rem
	if mod > 0 {
		s.rem = modulo(rem, mod)
	}
	return s
}

// mul is the product, without limits where they don't fit 62 bits.
func (s span) mul(o span) (r span, ok bool) {
	const most = 1 << 62
	r = span{math.MaxInt64, math.MinInt64, 1, 0}
	for _, a := range []int64{s.lo, s.hi} {
		for _, b := range []int64{o.lo, o.hi} {
			if math.Abs(float64(a)*float64(b)) > most {
				return span{}, false
			}
			r.lo, r.hi = min(r.lo, a*b), max(r.hi, a*b)
		}
	}
	if s.single() {
		s, o = o, s
	}
	switch {
	case s.single() && o.single():
		return constant(s.lo * o.lo), true
	case o.single() && o.lo != 0:
		c := o.lo
		if c < 0 {
			c = -c
		}
		if mod := s.mod * c; c < mostMod && mod < mostMod {
			r = r.remainder(mod, modulo(s.rem, mod)*modulo(o.lo, mod))
		} else if power := c & -c; power < mostMod {
			r = r.remainder(power, 0)
		}
	}
	return r, true
}

// pieces is what is left of a division by a positive constant, of values that aren't negative: x % n.
func (s span) pieces(n int64) span {
	if s.hi < n {
		return s
	}
	r := span{lo: 0, hi: n - 1, mod: 1}
	if floorDiv(s.lo, n) == floorDiv(s.hi, n) {
		r.lo, r.hi = s.lo%n, s.hi%n
	}
	return r.remainder(gcd(s.mod, n), s.rem).tight()
}

// over is the quotient by a positive constant, of values that aren't negative.
func (s span) over(n int64) span {
	r := span{lo: s.lo / n, hi: s.hi / n, mod: 1}
	if s.mod > 0 && s.mod%n == 0 {
		r = r.remainder(s.mod/n, s.rem/n)
	}
	return r.tight()
}

func modulo(a, b int64) int64 {
	if r := a % b; r < 0 {
		return r + b
	} else {
		return r
	}
}

func floorDiv(a, b int64) int64 { return (a - modulo(a, b)) / b }

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

func gcd(a, b int64) int64 {
	if a < 0 {
		a = -a
	}
	if b < 0 {
		b = -b
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
