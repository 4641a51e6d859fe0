package ir_test

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/ir"
)

func ExampleBuilder() {
	b := ir.NewBuilder("logits")
	x := b.Input("x", ir.F32, ir.T, 64)
	last := b.Node("last", ir.Last, ir.Attrs{}, x)
	logits := b.Linear([]string{"logits"}, false, last, b.Weight("output.weight", ir.F16, 256, 64))
	b.Output(logits...)
	g, err := b.Graph()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(ir.Print(g))
	// Output:
	// graph "logits"
	// input x: f32[T, 64]
	// weight output.weight: f16[256, 64]
	// %last = last x : f32[1, 64]
	// %logits = linear %last, output.weight : f32[1, 256]
	// output %logits
}
