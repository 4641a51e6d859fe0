package sim

import "math"

// frexp returns a fraction from 0.5 to below 1 and the exponent of 2 whose product is x. Subnormals are split as other numbers;
// 0, infinities and NaN have the exponent 0.
func frexp(x uint32) (fract, exp uint32) {
	f, e := math.Frexp(wide(x))
	return math.Float32bits(float32(f)), uint32(int32(e))
}

// modf returns x - trunc(x) and trunc(x).
func modf(x uint32) (fract, whole uint32) {
	w := math.Trunc(wide(x))
	return math.Float32bits(float32(wide(x) - w)), math.Float32bits(float32(w))
}

// ldexp returns x·2^exp of an i32, rounded once to f32, or to f16 with half.
func ldexp(x, exp uint32, half bool) uint32 {
	r := math.Ldexp(wide(x), int(int32(exp)))
	if half {
		return math.Float32bits(halfOf64(r))
	}
	return math.Float32bits(float32(r))
}
