package eval_test

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
)

// A graph of one node is judged: what should a kernel for it have written?
func ExampleEvaluate() {
	g, err := ir.Parse("glu", `
		graph "glu"
		input gate: f32[T, 2]
		input up: f32[T, 2]
		%y = glu gate, up {act=silu} : f32[T, 2]
		output %y`)
	if err != nil {
		fmt.Println(err)
		return
	}
	inputs := map[string]eval.Value{
		"gate": {F32: []float32{0, 1, 2, -1}},
		"up":   {F32: []float32{1, 1, 10, 10}},
	}
	values, err := eval.Evaluate(g, inputs, nil, ir.Sizes{T: 2, S: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", values["y"].F32)
	// Output: [0.0000 0.7311 17.6159 -2.6894]
}
