package quant_test

import (
	"fmt"
	"log"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// A block of Q4_0 with the scale 0.5 (f16 0x3800): byte i holds value i in its low and value 16+i in its high nibble.
func ExampleDequantize() {
	block := make([]byte, 18)
	block[1] = 0x38
	for i := range 16 {
		block[2+i] = byte(8 | i<<4)
	}
	row := make([]float32, 32)
	if err := quant.Dequantize(quant.Q4_0, row, block); err != nil {
		log.Fatal(err)
	}
	fmt.Println(row[0], row[15], row[16], row[24], row[31])
	fmt.Println(quant.Dequantize(quant.IQ2_XS, nil, nil))
	// Output:
	// 0 0 -4 0 3.5
	// quant: tensors of type IQ2_XS are not supported; supported are F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, BF16, MXFP4
}
