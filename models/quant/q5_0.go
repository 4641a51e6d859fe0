package quant

// readQ5_0: d at 0, the fifth bits of the codes in 4 bytes at 2, the low four in 16 bytes at 6 in the order of Q4_0; d·(code-16).
func readQ5_0(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 22 {
		d := half(src)
		var value [32]float32
		for code := range value {
			value[code] = d * float32(code-16)
		}
		spread5(dst[:32], src[2:6], src[6:22], &value)
		dst, src = dst[32:], src[22:]
	}
}

// spread5 looks up the values of 32 codes of five bits: bit i of the four bytes high is the fifth bit of code i.
func spread5(dst []float32, high, low []byte, value *[32]float32) {
	bits := uint32(high[0]) | uint32(high[1])<<8 | uint32(high[2])<<16 | uint32(high[3])<<24
	first, second := dst[:16], dst[16:32]
	for i, c := range low[:16] {
		first[i] = value[uint32(c&15)|bits>>i&1<<4]
		second[i] = value[uint32(c>>4)|bits>>(i+16)&1<<4]
	}
}
