package quant

import "math"

func readF32(dst []float32, src []byte) {
	for i := range dst {
		b := src[4*i : 4*i+4]
		dst[i] = math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
	}
}

func readF16(dst []float32, src []byte) {
	for i := range dst {
		b := src[2*i : 2*i+2]
		h := uint32(b[0]) | uint32(b[1])<<8
		if h&0x7c00-0x400 < 0x7800 { // as in half, which is too big to be inlined
			dst[i] = math.Float32frombits(h&0x8000<<16 | h&0x7fff<<13 + 112<<23)
		} else {
			dst[i] = rareHalf(h)
		}
	}
}

func readBF16(dst []float32, src []byte) {
	for i := range dst {
		b := src[2*i : 2*i+2]
		dst[i] = math.Float32frombits(uint32(b[0])<<16 | uint32(b[1])<<24)
	}
}
