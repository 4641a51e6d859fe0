package quant

// iq4Levels are the values that the codes of IQ4_NL stand for, spread unevenly: more of them near zero, as in the format's
// specification.
var iq4Levels = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// readIQ4_NL: d at 0, 16 bytes of codes at 2 in the order of Q4_0; d·level(code).
func readIQ4_NL(dst []float32, src []byte) {
	for len(dst) >= 32 && len(src) >= 18 {
		d := half(src)
		value := iq4Levels
		for code := range value {
			value[code] *= d
		}
		spread(dst[:32], src[2:18], &value)
		dst, src = dst[32:], src[18:]
	}
}
