package quant

// readQ6_K: the low four bits of the codes in 128 bytes at 0, the high two in 64 bytes at 128, 16 signed scales at 192, d at 208. A
// value is d·scale·(code-32), with the scale of its 16 values. Of 128 values, byte l of 64 has the low bits of values l and 64+l in
// its halves, byte l of 32 the high bits of values l, 32+l, 64+l and 96+l.
func readQ6_K(dst []float32, src []byte) {
	for len(dst) >= 256 && len(src) >= 210 {
		d := half(src[208:])
		for sub := range 16 {
			scale := d * float32(int8(src[192+sub]))
			n, j, l := sub/8, sub%8/2, sub%2*16
			low, lowShift := src[64*n+32*(j&1)+l:][:16], j/2*4
			high, highShift := src[128+32*n+l:][:16], j*2
			values := dst[sub*16:][:16]
			for i, c := range low {
				values[i] = scale * float32(int(c>>lowShift&15|high[i]>>highShift&3<<4)-32)
			}
		}
		dst, src = dst[256:], src[210:]
	}
}
