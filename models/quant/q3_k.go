package quant

// readQ3_K: the high bits of the codes in 32 bytes at 0, the low two in 64 bytes at 32 in the order of Q2_K, 16 scales of six bits
// in 12 bytes at 96, d at 108. A value is d·(scale-32)·(code-4). Bit 4n+j of byte l is the high bit of value 128n+32j+l.
func readQ3_K(dst []float32, src []byte) {
	for len(dst) >= 256 && len(src) >= 110 {
		d, scales := half(src[108:]), src[96:108]
		for sub := range 16 {
			// The low four bits of a scale are half a byte of the first eight, the high two a quarter of one of the last four.
			scale := scales[sub%8]>>(sub/8*4)&15 | scales[8+sub%4]>>(sub/4*2)&3<<4
			var value [8]float32
			for code := range value {
				value[code] = d * float32(int(scale)-32) * float32(code-4)
			}
			codes, shift := src[32+sub/8*32+sub%2*16:][:16], sub%8/2*2
			high := src[sub%2*16:][:16]
			for i, c := range codes {
				dst[sub*16+i] = value[c>>shift&3|high[i]>>(sub/2)&1<<2]
			}
		}
		dst, src = dst[256:], src[110:]
	}
}
