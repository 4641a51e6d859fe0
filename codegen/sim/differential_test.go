package sim_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/randomwgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
)

var (
	programs  = flag.Int("programs", 25, "how many random programs run in the simulator and on a device")
	firstSeed = flag.Uint64("seed", 1, "the seed of the first of them")
)

// TestRandomPrograms runs random programs in the simulator and on the device, and compares what they leave in memory, bit for bit.
// More programs: go test ./codegen/sim -run TestRandomPrograms -programs 1000 -seed 1000
func TestRandomPrograms(t *testing.T) {
	d, o := openForPrograms(t)
	failed := 0
	for seed := *firstSeed; seed < *firstSeed+uint64(*programs) && failed < 3; seed++ {
		p := randomwgsl.New(seed, o)
		difference := compare(t.Context(), d, p, o.Subgroup)
		if difference == "" {
			continue
		}
		failed++
		end := time.Now().Add(time.Minute) // of making it smaller
		same := func(text string) bool {
			if time.Now().After(end) {
				return false
			}
			q := p
			q.Text = text
			brief, cancel := context.WithTimeout(t.Context(), 2*time.Second) // what was left out may be the end of a loop
			defer cancel()
			reason := compare(brief, d, q, o.Subgroup)
			return sort(reason) == sort(difference)
		}
		p.Text = randomwgsl.Reduce(p.Text, same)
		t.Errorf("seed %d, workgroup %v, grid %v: %s\n%s", seed, p.Workgroup, p.Grid, compare(t.Context(), d, p, o.Subgroup), p.Text)
	}
}

// TestRandomProgramsAlone runs random programs in the simulator at every size of subgroups. They have no faults to find, and what they
// compute depends neither on the order of workgroups nor, without operations of subgroups, on that size.
func TestRandomProgramsAlone(t *testing.T) {
	for seed := range uint64(8) {
		alone := randomwgsl.New(seed, randomwgsl.Options{F16: true})
		var first [][]uint32
		for _, size := range sim.SubgroupSizes() {
			after := simulated(t, alone, sim.Options{SubgroupSize: size, Seed: uint64(size)})
			if first == nil {
				first = after
			}
			sameWords(t, alone, first, after)
			together := randomwgsl.New(seed, randomwgsl.Options{Subgroup: size, F16: true})
			one := simulated(t, together, sim.Options{SubgroupSize: size, Workers: 1})
			sameWords(t, together, one, simulated(t, together, sim.Options{SubgroupSize: size, Workers: 4, Seed: 1}))
		}
	}
}

func simulated(t *testing.T, p randomwgsl.Program, o sim.Options) [][]uint32 {
	t.Helper()
	after, difference := simulate(t.Context(), p, o)
	if difference != "" {
		t.Fatalf("%s\n%s", difference, p.Text)
	}
	return after
}

func sameWords(t *testing.T, p randomwgsl.Program, a, b [][]uint32) {
	t.Helper()
	for i := range p.Bindings {
		if !slices.Equal(a[i], b[i]) {
			t.Fatalf("%s differs from run to run\n%s", p.Bindings[i].Name, p.Text)
		}
	}
}

// openForPrograms opens the adapter with all that random programs use of it.
func openForPrograms(t *testing.T) (*webgpu.Device, randomwgsl.Options) {
	t.Helper()
	adapter := gpu.Adapter(t)
	info := gpu.Measured(t, adapter)
	o := randomwgsl.Options{F16: info.F16}
	if slices.Contains(sim.SubgroupSizes(), info.SubgroupSize) {
		o.Subgroup = info.SubgroupSize
	}
	t.Logf("subgroups of %d, f16 %v", o.Subgroup, o.F16)
	return gpu.Open(t, adapter, plan.Requires{Subgroups: o.Subgroup > 0, SubgroupSize: o.Subgroup, F16: o.F16}), o
}

// sort returns the first word of a difference, which says of what sort it is.
func sort(difference string) string {
	for i, r := range difference {
		if r == ':' {
			return difference[:i]
		}
	}
	return difference
}

// compare runs a program twice and tells how the results differ; it is empty where they don't. What a program can't be is a
// difference too: refused, or with a finding.
func compare(ctx context.Context, d *webgpu.Device, p randomwgsl.Program, subgroup int) string {
	simulated, difference := simulate(ctx, p, sim.Options{SubgroupSize: subgroup, LoopTrips: 1 << 16})
	if difference != "" {
		return difference
	}
	computed, err := compute(ctx, d, p)
	if err != nil {
		return fmt.Sprintf("device: %v", err)
	}
	for i, b := range p.Bindings {
		for n, got := range simulated[i] {
			if want := computed[i][n]; got != want && !(b.Half && zeros(got) == zeros(want)) {
				return fmt.Sprintf("value: %s[%d] is %#x in the simulator, %#x on the device", b.Name, n, got, want)
			}
		}
	}
	return ""
}

// zeros makes every zero of two f16 positive.
func zeros(word uint32) uint32 {
	if word&0x7fff == 0 {
		word &= 0xffff0000
	}
	if word&0x7fff0000 == 0 {
		word &= 0xffff
	}
	return word
}

// simulate runs a program in the simulator and returns the words of its bindings after.
func simulate(ctx context.Context, p randomwgsl.Program, o sim.Options) (after [][]uint32, difference string) {
	file, err := wgsl.Parse("program.wgsl", p.Text)
	if err != nil {
		return nil, fmt.Sprintf("parse: %v", err)
	}
	program, err := sim.Compile(file, "main")
	if err != nil {
		return nil, fmt.Sprintf("compile: %v", err)
	}
	if o.SubgroupSize == 0 {
		o.SubgroupSize = 32
	}
	buffers := make([]*sim.Buffer, len(p.Bindings))
	for i, b := range p.Bindings {
		buffers[i] = sim.NewBuffer(b.Name, uint64(4*len(b.Words)), true)
		buffers[i].Write(0, bytesOf(b.Words))
	}
	var bindings []sim.Binding
	for _, declared := range program.Bindings() {
		b := buffers[declared.Binding]
		bindings = append(bindings, sim.Binding{Binding: declared.Binding, Buffer: b, Bytes: b.Size()})
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	result, err := program.Run(ctx, p.Grid, bindings, o)
	if err != nil {
		return nil, fmt.Sprintf("run: %v", err)
	}
	for _, f := range result.Findings {
		return nil, fmt.Sprintf("finding: %v", f)
	}
	for _, b := range buffers {
		after = append(after, wordsOf(b.Read(0, b.Size())))
	}
	return after, ""
}

// compute runs a program on a device and returns the words of its bindings after.
func compute(ctx context.Context, d *webgpu.Device, p randomwgsl.Program) ([][]uint32, error) {
	kernel := &plan.Kernel{Name: "program", Text: p.Text, Workgroup: p.Workgroup}
	access := map[string]plan.Access{"uniform": plan.Uniform, "read": plan.Read, "read_write": plan.ReadWrite}
	var layout []plan.Access
	var ranges []plan.Range
	for _, b := range p.Bindings {
		size := uint64(4 * len(b.Words))
		kind := plan.ArenaBuffer
		if b.Access == "uniform" {
			kind = plan.ParamsBuffer
		}
		h, err := d.NewBuffer(plan.Buffer{Name: b.Name, Kind: kind, Bytes: size})
		if err != nil {
			return nil, err
		}
		if err := d.Write(h, 0, bytesOf(b.Words)); err != nil {
			return nil, err
		}
		kernel.Bindings = append(kernel.Bindings, plan.Binding{Name: b.Name, Access: access[b.Access], Bytes: size})
		layout = append(layout, access[b.Access])
		ranges = append(ranges, plan.Range{Buffer: int(h), Bytes: size})
	}
	pipeline, err := d.NewPipeline(kernel, false)
	if err != nil {
		return nil, err
	}
	group, err := d.NewGroup(layout, ranges)
	if err != nil {
		return nil, err
	}
	record := []uint32{uint32(pipeline), uint32(group), uint32(p.Grid[0]), uint32(p.Grid[1]), uint32(p.Grid[2])}
	ticket, err := d.Submit(plan.Work{Replays: [][]uint32{record}, Reads: ranges})
	if err != nil {
		return nil, err
	}
	data, err := d.Wait(ctx, ticket)
	if err != nil {
		return nil, err
	}
	var after [][]uint32
	for _, b := range p.Bindings {
		n := 4 * len(b.Words)
		after = append(after, wordsOf(data[:n]))
		data = data[n:]
	}
	return after, nil
}

func bytesOf(words []uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func wordsOf(b []byte) []uint32 {
	words := make([]uint32, len(b)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return words
}
