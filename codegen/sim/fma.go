package sim

import "math"

// fma32 returns a·b + c, rounded once.
//
// The product of two float32 is a float64. Their sum is rounded twice then, to float64 and to float32, which is wrong only where the
// first rounding gave a number halfway between two float32: there the part that it dropped decides.
func fma32(a, b, c float32) float32 {
	product, addend := float64(a)*float64(b), float64(c)
	sum := product + addend
	bits := math.Float64bits(sum)
	if bits<<36 != 0 { // a number halfway ends in 28 zeros
		return float32(sum)
	}
	back := sum - product
	dropped := (product - (sum - back)) + (addend - back)
	switch away := dropped > 0 == (sum > 0); {
	case dropped == 0 || dropped != dropped:
		return float32(sum)
	case away:
		return float32(math.Float64frombits(bits + 1))
	}
	return float32(math.Float64frombits(bits - 1))
}

// fmaHalf returns a·b + c of f16 values, rounded once. The product has 22 bits. Where the sum isn't a float64, one addend is below
// 2^-30 of the other: then the result is c, or infinite.
func fmaHalf(a, b, c float32) float32 {
	product := float64(a) * float64(b)
	return halfOf64(product + float64(c))
}
