package mutate_test

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/mutate"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// All mistakes of a bound that can be made in a kernel, and the text with the first of them.
func Example() {
	const text = `@group(0) @binding(0) var<storage, read_write> y: array<f32, 1000>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < 1000u) {
    y[id.x] *= 0.5;
  }
}
`
	file, err := wgsl.Parse("halve.wgsl", text)
	if err != nil {
		fmt.Println(err)
		return
	}
	var bounds []mutate.Site
	for _, site := range mutate.Sites(file) {
		if site.Operator == "bound" {
			fmt.Println(site)
			bounds = append(bounds, site)
		}
	}
	mutant, err := mutate.Apply(text, bounds[0])
	fmt.Print(mutant, err)
	// Output:
	// halve.wgsl:5:12: bound: id.x < 1000u becomes id.x <= 1000u
	// halve.wgsl:5:14: bound: 1000u becomes 1001u
	// halve.wgsl:5:14: bound: 1000u becomes 999u
	// @group(0) @binding(0) var<storage, read_write> y: array<f32, 1000>;
	//
	// @compute @workgroup_size(64)
	// fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	//   if (id.x <= 1000u) {
	//     y[id.x] *= 0.5;
	//   }
	// }
	// <nil>
}
