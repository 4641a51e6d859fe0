package webgpu_test

import (
	"context"
	"fmt"

	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
)

// Doubles 64 numbers on the best adapter. It is compiled but not run: it needs a WebGPU library.
func Example() {
	ctx := context.Background()
	device, err := webgpu.Open(ctx, webgpu.Options{}, plan.Requires{})
	if err != nil {
		fmt.Println(err) // names every place where a library was looked for
		return
	}
	defer device.Close()

	double := &plan.Kernel{
		Name: "double",
		Text: `@group(0) @binding(0) var<storage, read_write> y: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) { y[i] = 2u * y[i]; }
`,
		Bindings:  []plan.Binding{{Name: "y", Access: plan.ReadWrite, Bytes: 256}},
		Workgroup: [3]int{64, 1, 1},
	}
	data, err := run(ctx, device, double)
	fmt.Println(data, err)
}

// run runs a kernel of one binding over one workgroup.
func run(ctx context.Context, backend plan.Backend, k *plan.Kernel) ([]byte, error) {
	y, err := backend.NewBuffer(plan.Buffer{Name: "y", Kind: plan.ArenaBuffer, Bytes: 256})
	if err != nil {
		return nil, err
	}
	if err := backend.Write(y, 0, make([]byte, 256)); err != nil {
		return nil, err
	}
	pipeline, err := backend.NewPipeline(k, false)
	if err != nil {
		return nil, err
	}
	whole := plan.Range{Buffer: int(y), Bytes: 256}
	group, err := backend.NewGroup(k.Accesses(), []plan.Range{whole})
	if err != nil {
		return nil, err
	}
	record := []uint32{uint32(pipeline), uint32(group), 1, 1, 1}
	ticket, err := backend.Submit(plan.Work{Replays: [][]uint32{record}, Reads: []plan.Range{whole}})
	if err != nil {
		return nil, err
	}
	return backend.Wait(ctx, ticket)
}
