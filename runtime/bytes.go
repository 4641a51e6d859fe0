package kgenrt

import "math"

// Buffers on the device are little-endian.

func putU32(b []byte, v uint32) {
	_ = b[3]
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

func getU32(b []byte) uint32 {
	_ = b[3]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func putF32(b []byte, v float32) { putU32(b, math.Float32bits(v)) }

func getF32(b []byte) float32 { return math.Float32frombits(getU32(b)) }

func floats(dst []float32, b []byte) {
	for i := range dst {
		dst[i] = getF32(b[i*4:])
	}
}

func words(values ...uint32) []byte {
	b := make([]byte, 4*len(values))
	for i, v := range values {
		putU32(b[4*i:], v)
	}
	return b
}
