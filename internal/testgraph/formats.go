package testgraph

import "github.com/kgen-wgsl/kgen/models/quant"

// Scales says where a block of a quantised type has what its values are multiplied with and shifted by.
type Scales struct {
	Unit   int // the byte where the f16 is that codes are multiplied with; -1 for none
	Offset int // the byte where the f16 is that shifts values; -1 for none
	Most   int // about the largest code, times the largest factor that the block has for it
}

// ScalesOf returns where blocks of a type have their scales; MXFP4, with an exponent in byte 0, has no f16.
func ScalesOf(t quant.Type) Scales {
	return map[quant.Type]Scales{
		quant.Q8_0: {0, -1, 127}, quant.Q4_0: {0, -1, 8}, quant.Q4_1: {0, 2, 8}, quant.Q5_0: {0, -1, 16}, quant.Q5_1: {0, 2, 16},
		quant.IQ4_NL: {0, -1, 127}, quant.MXFP4: {-1, -1, 12},
		quant.Q2_K: {80, 82, 3 * 15}, quant.Q3_K: {108, -1, 4 * 32}, quant.Q4_K: {0, 2, 15 * 63}, quant.Q5_K: {0, 2, 31 * 63}, quant.Q6_K: {208, -1, 32 * 128},
	}[t]
}
