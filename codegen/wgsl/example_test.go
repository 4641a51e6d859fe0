package wgsl_test

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// A kernel that scales a vector of 1000 elements, one element to an invocation. The tail is guarded at the store.
func Example() {
	const n, workgroup = 1000, 64
	m := wgsl.New()
	m.Comment("y = x / 3")
	m.ConstOf("factor", "%v", "1/3", float32(1)/3)
	m.Read("x", "f32", n)
	m.ReadWrite("y", "f32", n)
	m.Compute(workgroup, "@builtin(global_invocation_id) id: vec3<u32>", func() {
		m.Let("i", "id.x")
		m.If("i < %du", func() {
			m.Set("y[i]", "x[i] * factor")
		}, n)
	})
	text, err := m.Text()
	fmt.Print(text, err)
	// Output:
	// // y = x / 3
	// const factor = 0.33333334; // 1/3
	//
	// @group(0) @binding(0) var<storage, read> x: array<f32, 1000>;
	// @group(0) @binding(1) var<storage, read_write> y: array<f32, 1000>;
	//
	// @compute @workgroup_size(64)
	// fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	//   let i = id.x;
	//   if (i < 1000u) {
	//     y[i] = x[i] * factor;
	//   }
	// }
	// <nil>
}
