package plan_test

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// A plan of one kernel that doubles the logits twice, in place.
func Example() {
	b := plan.NewBuilder("doubling", "portable", plan.Requires{})
	logits := plan.Range{Buffer: b.Buffer(plan.Buffer{Name: "logits", Kind: plan.OutputBuffer, Bytes: 256}), Bytes: 256}
	double := b.Kernel(plan.Kernel{
		Name: "double_64",
		Text: `@group(0) @binding(0) var<storage, read_write> y: array<f32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) { y[i] = 2.0 * y[i]; }
`,
		Bindings:  []plan.Binding{{Name: "y", Access: plan.ReadWrite, Bytes: 256}},
		Workgroup: [3]int{64, 1, 1},
	})
	step := b.List(plan.Forward, 1)
	step.Dispatch(double, 1, 1, 1, logits)
	step.Dispatch(double, 1, 1, 1, logits)
	b.Output("logits", logits)
	b.Model(64, 1)

	p, err := b.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	list, _ := p.List(plan.Forward, 1)
	fmt.Println(len(p.Kernels), "kernel,", len(p.Groups), "group")
	fmt.Println(list.Records)

	step.Dispatch(double, 70000, 1, 1, logits)
	_, err = b.Plan()
	fmt.Println(err)
	// Output:
	// 1 kernel, 1 group
	// [0 0 1 1 1 0 0 1 1 1]
	// list forward of 1 columns, dispatch 2, kernel double_64: needs maxComputeWorkgroupsPerDimension 70000, the limit is 65535
}
