package quant

// readQ8_0: d at 0, 32 signed bytes at 2; d·code.
func readQ8_0(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 34 {
		d := half(src)
		values, codes := dst[:32], src[2:34]
		for i, c := range codes {
			values[i] = d * float32(int8(c))
		}
		dst, src = dst[32:], src[34:]
	}
}
