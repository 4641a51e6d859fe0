package quant

import "math"

// fp4Values are twice the values of the codes of E2M1, four bits with two of exponent and one of mantissa (OCP Microscaling
// Formats 1.0), so that all are whole.
var fp4Values = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

// readMXFP4: an exponent e in the byte at 0, 16 bytes of codes at 1 in the order of Q4_0; 2^(e-128)·value(code), half the scale
// of the specification since the values are doubled. An e of 0 or 1 gives a subnormal scale; 255, which the specification
// makes NaN, gives 2^127.
func readMXFP4(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 17 {
		d := powerOf2(src[0])
		value := fp4Values
		for code := range value {
			value[code] *= d
		}
		spread(dst[:32], src[1:17], &value)
		dst, src = dst[32:], src[17:]
	}
}

// powerOf2 returns 2^(e-128).
func powerOf2(e byte) float32 {
	if e < 2 {
		return math.Float32frombits(0x200000 << e)
	}
	return math.Float32frombits(uint32(e-1) << 23)
}
