package kgen_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kgen-wgsl/kgen"
)

// The kernels of a model, judged without a GPU: a token is decoded by the simulator with subgroups of 64, and what is wrong with a
// kernel is printed as FILE:LINE:COLUMN: KIND: VARIABLE[INDEX]: what it is.
func ExampleModel_Findings() {
	ctx := context.Background()
	model, err := kgen.Load(ctx, "model.gguf", kgen.Options{Device: "sim", SubgroupSize: 64, Context: 256})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	ids, err := model.Executor().Step(ctx, 0, 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ids)
	for _, f := range model.Findings() {
		fmt.Println(f)
	}
}
