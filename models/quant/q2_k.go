package quant

// readQ2_K: 16 bytes at 0 with a scale in the low half and a minimum in the high one, for 16 values each; 64 bytes of 2-bit codes
// at 16; d at 80, and the unit of the minima at 82. A value is d·scale·code - unit·minimum. Bits 2j and 2j+1 of byte l of each 32
// bytes of codes are value 32j+l of 128.
func readQ2_K(dst []float32, src []byte) {
	for len(dst) >= 256 && len(src) >= 84 {
		d, unit := half(src[80:]), half(src[82:])
		for sub, scale := range src[:16] {
			var value [4]float32
			for code := range value {
				value[code] = float32(d*float32(scale&15)*float32(code)) - unit*float32(scale>>4)
			}
			codes, shift := src[16+sub/8*32+sub%2*16:][:16], sub%8/2*2
			for i, c := range codes {
				dst[sub*16+i] = value[c>>shift&3]
			}
		}
		dst, src = dst[256:], src[84:]
	}
}
