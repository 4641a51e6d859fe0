package gguf_test

import (
	"fmt"
	"log"

	"github.com/kgen-wgsl/kgen/models/gguf"
	"github.com/kgen-wgsl/kgen/models/quant"
)

func Example() {
	f, err := gguf.Open("testdata/llama.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	if err := gguf.CheckModel(f); err != nil {
		log.Fatal(err)
	}
	layers, err := f.Int("llama.block_count")
	if err != nil {
		log.Fatal(err)
	}
	scale, err := gguf.Default(f.Float, "llama.attention.scale", 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(layers, scale, f.Text("tokenizer.ggml.token_type"))

	tensor, err := f.Tensor("blk.0.attn_q.weight")
	if err != nil {
		log.Fatal(err)
	}
	data, err := f.Bytes(tensor.Name)
	if err != nil {
		log.Fatal(err)
	}
	values := make([]float32, tensor.Elements())
	if err := quant.Dequantize(tensor.Type, values, data); err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Type, tensor.Dims, len(values))
	// Output:
	// 1 0 [1, 1, 1, 1, … 260 in all]
	// Q8_0 [32 32] 1024
}
