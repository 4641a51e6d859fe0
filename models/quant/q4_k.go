package quant

// readQ4_K: d at 0, the unit of the minima at 2, eight scales and minima of six bits in 12 bytes at 4, 128 bytes of 4-bit codes at
// 16. A value is d·scale·code - unit·minimum, with scale and minimum of its 32 values. The low halves of each 32 bytes of codes
// are 32 values, the high halves the next 32.
func readQ4_K(dst []float32, src []byte) {
	for len(dst) >= 256 && len(src) >= 144 {
		d, unit := half(src), half(src[2:])
		for sub := range 8 {
			scale, minimum := sixBits(src[4:16], sub)
			var value [16]float32
			for code := range value {
				value[code] = float32(d*scale*float32(code)) - unit*minimum
			}
			codes, shift := src[16+sub/2*32:][:32], sub%2*4
			values := dst[sub*32:][:32]
			for i, c := range codes {
				values[i] = value[c>>shift&15]
			}
		}
		dst, src = dst[256:], src[144:]
	}
}

// sixBits returns scale and minimum number sub of the eight in the 12 bytes of Q4_K and Q5_K. The first four of each have a byte
// less its two high bits, which are the high bits of the last four; the low four bits of those share the last four bytes.
func sixBits(s []byte, sub int) (scale, minimum float32) {
	if sub < 4 {
		return float32(s[sub] & 63), float32(s[sub+4] & 63)
	}
	return float32(s[sub+4]&15 | s[sub-4]>>6<<4), float32(s[sub+4]>>4 | s[sub]>>6<<4)
}
