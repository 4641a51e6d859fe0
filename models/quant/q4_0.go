package quant

// readQ4_0: d at 0, 16 bytes of codes at 2; d·(code-8). Low nibbles are values 0..15, high nibbles 16..31.
func readQ4_0(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 18 {
		d := half(src)
		var value [16]float32
		for code := range value {
			value[code] = d * float32(code-8)
		}
		spread(dst[:32], src[2:18], &value)
		dst, src = dst[32:], src[18:]
	}
}
