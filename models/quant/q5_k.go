package quant

// readQ5_K: d, unit, scales and minima as in Q4_K; the fifth bits of the codes in 32 bytes at 16, the low four in 128 bytes at 48 in
// the order of Q4_K. Bit g of byte l is the fifth bit of value 32g+l.
func readQ5_K(dst []float32, src []byte) {
	for len(dst) >= 256 && len(src) >= 176 {
		d, unit := half(src), half(src[2:])
		for sub := range 8 {
			scale, minimum := sixBits(src[4:16], sub)
			var value [32]float32
			for code := range value {
				value[code] = float32(d*scale*float32(code)) - unit*minimum
			}
			codes, shift := src[48+sub/2*32:][:32], sub%2*4
			high := src[16:48]
			values := dst[sub*32:][:32]
			for i, c := range codes {
				values[i] = value[c>>shift&15|high[i]>>sub&1<<4]
			}
		}
		dst, src = dst[256:], src[176:]
	}
}
