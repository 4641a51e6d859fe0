package quant

import "math"

// half converts the little-endian IEEE binary16 at the start of b: the exponent moves from binary16's bias, 15, to
// binary32's, 127. The two ends of
// the exponent's range go elsewhere.
func half(b []byte) float32 {
	h := uint32(b[0]) | uint32(b[1])<<8
	if h&0x7c00-0x400 < 0x7800 {
		return math.Float32frombits(h&0x8000<<16 | h&0x7fff<<13 + 112<<23)
	}
	return rareHalf(h)
}

// rareHalf converts zeros, subnormals, infinities and NaN. A subnormal gets the smallest exponent, as if it had a leading one,
// which the subtraction takes away again, exactly; arithmetic on a subnormal float32 would be slow.
func rareHalf(h uint32) float32 {
	sign, rest := h&0x8000<<16, h&0x7fff<<13
	if h&0x7c00 != 0 {
		return math.Float32frombits(sign | rest | 0xff<<23)
	}
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(rest+113<<23)-0x1p-14))
}
