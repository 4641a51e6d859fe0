package quant

// readQ4_1: d at 0, m at 2, 16 bytes of codes at 4 in the order of Q4_0; d·code+m. The product is rounded before the sum: the conversion
// keeps compilers from fusing the two.
func readQ4_1(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 20 {
		d, m := half(src), half(src[2:])
		var value [16]float32
		for code := range value {
			value[code] = float32(d*float32(code)) + m
		}
		spread(dst[:32], src[4:20], &value)
		dst, src = dst[32:], src[20:]
	}
}
