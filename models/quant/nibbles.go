package quant

// spread looks up the values of 32 codes of four bits, low nibbles first. A block has half as many distinct values as
// elements, so they are computed once.
func spread(dst []float32, codes []byte, value *[16]float32) {
	low, high := dst[:16], dst[16:32]
	for i, c := range codes[:16] {
		low[i] = value[c&15]
		high[i] = value[c>>4]
	}
}
