package sim

import "math"

// An f16 value is kept as the f32 that equals it: every binary16 is a binary32. So each operation on f16 ends with one rounding to
// the precision of binary16, of the exact result or of its float64.
//
// Sums, differences, products, quotients and square roots of f16 may be computed in float32 first: with 24 bits in between, at
// least 2·11 + 2, the second rounding never changes the result. Of a fused multiply-add that isn't so; see fmaHalf.

// largestHalf is the largest finite binary16.
const largestHalf = 65504

// roundHalf returns x to the precision of binary16: the nearest, of two the even one, infinite from 65520 on. Subnormals are kept.
func roundHalf(x float32) float32 { return halfOf64(float64(x)) }

// halfOf64 is roundHalf of a float64, in one rounding.
func halfOf64(x float64) float32 {
	const (
		fractionBits = 52
		dropped      = fractionBits - 10
		smallest     = 1.0 / (1 << 14) // the least normal binary16
		coarse       = 1 << 28         // a float64 here is a multiple of 2^-24, as subnormal binary16 are
	)
	size := math.Abs(x)
	switch {
	case size < smallest:
		return float32(math.Copysign(size+coarse-coarse, x))
	case size >= largestHalf+16:
		return float32(math.Copysign(math.Inf(1), x))
	case x != x:
		return float32(x)
	}
	b := math.Float64bits(x)
	b += 1<<(dropped-1) - 1 + b>>dropped&1
	return float32(math.Float64frombits(b >> dropped << dropped))
}

// halfBits returns the binary16 nearest to f, as roundHalf does. A NaN stays one.
func halfBits(f float32) uint16 {
	b := math.Float32bits(roundHalf(f))
	sign, size := uint16(b>>16&0x8000), b&0x7fffffff
	switch {
	case size > 0x7f800000:
		return sign | 0x7e00
	case size == 0x7f800000:
		return sign | 0x7c00
	case size < 113<<23: // below 2^-14
		return sign | uint16(math.Float32frombits(size)*(1<<24))
	}
	return sign | uint16(size>>13-112<<10)
}

// halfFloat returns the value of a binary16.
func halfFloat(h uint16) float32 {
	sign, size := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case size >= 0x7c00:
		return math.Float32frombits(sign | 0x7f800000 | size&0x3ff<<13)
	case size < 0x400:
		return math.Float32frombits(sign | math.Float32bits(float32(size)/(1<<24)))
	}
	return math.Float32frombits(sign | (size<<13 + 112<<23))
}
