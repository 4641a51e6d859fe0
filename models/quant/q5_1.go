package quant

// readQ5_1: d at 0, m at 2, the fifth bits of the codes in 4 bytes at 4, the low four in 16 bytes at 8 in the order of Q4_0;
// d·code+m, the product rounded before the sum.
func readQ5_1(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 24 {
		d, m := half(src), half(src[2:])
		var value [32]float32
		for code := range value {
			value[code] = float32(d*float32(code)) + m
		}
		spread5(dst[:32], src[4:8], src[8:24], &value)
		dst, src = dst[32:], src[24:]
	}
}
