package bounds_test

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// A kernel that adds the neighbour of each element. With 64 invocations in each of 4 workgroups, the last one has no neighbour.
func Example() {
	const text = `
@group(0) @binding(0) var<storage, read> x: array<f32, 256>;
@group(0) @binding(1) var<storage, read_write> y: array<f32, 256>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  y[id.x] = x[id.x] + x[id.x + 1u];
}
`
	f, err := wgsl.Parse("neighbours.wgsl", text)
	if err != nil {
		fmt.Println(err)
		return
	}
	proof := bounds.Prove(f, "main", bounds.Use{Grid: [3]int{4, 1, 1}})
	fmt.Println(proof.Proved(), proof.Accesses)
	for _, failure := range proof.Failures {
		fmt.Println(failure)
	}
	// Output:
	// false 3
	// neighbours.wgsl:7:24: x[id.x + 1u]: the index may be 1 to 256, and there are 256 elements
}
