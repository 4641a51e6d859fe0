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
	fmt.Println(quant.Dequantize(quant.Q6_K, nil, nil))
	// Output:
	// 0 0 -4 0 3.5
	// quant: tensors of type Q6_K are not supported; supported are F32, F16, BF16, Q8_0, Q4_0 and Q4_1
}
