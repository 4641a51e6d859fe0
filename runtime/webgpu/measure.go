//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"encoding/binary"
	"strconv"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// measureGroups is the number of workgroups that a measuring kernel runs.
const measureGroups = 4

// measureKernel stores three words for each invocation: the subgroup size, its place in the subgroup, and the workgroup
// index of its subgroup's first invocation.
func measureKernel(workgroup int) *plan.Kernel {
	n := strconv.Itoa(workgroup)
	return &plan.Kernel{
		Name: "measure_subgroups_" + n,
		Text: plan.EnableSubgroups + `@group(0) @binding(0) var<storage, read_write> seen: array<u32>;
@compute @workgroup_size(` + n + `)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32) {
  let first = subgroupBroadcastFirst(local);
  let at = (group.x * ` + n + `u + local) * 3u;
  seen[at] = size;
  seen[at + 1u] = lane;
  seen[at + 2u] = first;
}
`,
		Bindings:  []plan.Binding{{Name: "seen", Access: plan.ReadWrite, Bytes: uint64(workgroup * measureGroups * 12)}},
		Workgroup: [3]int{workgroup, 1, 1},
	}
}

// measureSubgroups returns the subgroup size if it is the same for every invocation of workgroups of several sizes, and
// invocations i·size to i·size+size-1 of a workgroup form a subgroup with their lanes in order; else 0.
func (a *Adapter) measureSubgroups(ctx context.Context) (int, error) {
	d, err := a.open(ctx, plan.Requires{Subgroups: true})
	if err != nil {
		return 0, err
	}
	defer d.Close()
	seen, err := d.NewBuffer(plan.Buffer{Name: "seen", Kind: plan.OutputBuffer, Bytes: 256 * measureGroups * 12})
	if err != nil {
		return 0, err
	}
	size := 0
	for _, workgroup := range []int{32, 64, 128, 256} {
		if workgroup > d.info.Limits.Invocations {
			continue
		}
		words, err := d.runMeasure(ctx, measureKernel(workgroup), seen)
		if err != nil {
			return 0, err
		}
		got := subgroupSize(words, workgroup)
		if got == 0 || size != 0 && got != size {
			return 0, nil
		}
		size = got
	}
	return size, nil
}

func (d *Device) runMeasure(ctx context.Context, k *plan.Kernel, seen plan.Handle) ([]uint32, error) {
	pipeline, err := d.NewPipeline(k, false)
	if err != nil {
		return nil, err
	}
	r := plan.Range{Buffer: int(seen), Bytes: k.Bindings[0].Bytes}
	group, err := d.NewGroup(k.Accesses(), []plan.Range{r})
	if err != nil {
		return nil, err
	}
	t, err := d.Submit(plan.Work{Replays: [][]uint32{{uint32(pipeline), uint32(group), measureGroups, 1, 1}}, Reads: []plan.Range{r}})
	if err != nil {
		return nil, err
	}
	data, err := d.Wait(ctx, t)
	if err != nil {
		return nil, err
	}
	words := make([]uint32, len(data)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return words, nil
}

// subgroupSize judges what a measuring kernel stored.
func subgroupSize(words []uint32, workgroup int) int {
	size := words[0]
	if size == 0 {
		return 0
	}
	for i := range len(words) / 3 {
		local := uint32(i % workgroup)
		if words[3*i] != size || words[3*i+1] != local%size || words[3*i+2] != local-local%size {
			return 0
		}
	}
	return int(size)
}
