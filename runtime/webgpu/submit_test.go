//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// TestWorkgroupKernel reverses each 64 words through workgroup memory and a barrier.
func TestWorkgroupKernel(t *testing.T) {
	d := testDevice(t, plan.Requires{})
	k := &plan.Kernel{
		Name: "reverse",
		Text: `@group(0) @binding(0) var<storage, read_write> y: array<u32, 4096>;
var<workgroup> held: array<u32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  held[local] = y[id.x];
  workgroupBarrier();
  y[id.x] = held[63u - local];
}
`,
		Bindings:       []plan.Binding{{Name: "y", Access: plan.ReadWrite, Bytes: 16384}},
		Workgroup:      [3]int{64, 1, 1},
		WorkgroupBytes: 256,
	}
	y := testBuffer(t, d, "y", 4096)
	if err := d.Write(plan.Handle(y), 0, words(4096, func(i int) uint32 { return uint32(i) })); err != nil {
		t.Fatal(err)
	}
	whole := plan.Range{Buffer: y, Bytes: 16384}
	p, g := testPipeline(t, d, k), testGroup(t, d, k, whole)
	got := submitAndWait(t, d, plan.Work{Replays: [][]uint32{{p, g, 64, 1, 1}}, Reads: []plan.Range{whole}})
	for i := range 4096 {
		if want := uint32(i/64*64 + 63 - i%64); word(got, i) != want {
			t.Fatalf("y[%d] = %d, want %d", i, word(got, i), want)
		}
	}
}

// TestUniformLayout binds a uniform between two storage buffers, at an offset, and a part of the output.
func TestUniformLayout(t *testing.T) {
	d := testDevice(t, plan.Requires{Limits: plan.Limits{StorageBuffers: 2, UniformBuffers: 1}})
	k := &plan.Kernel{
		Name: "bias",
		Text: `@group(0) @binding(0) var<storage, read> x: array<f32, 64>;
@group(0) @binding(1) var<uniform> bias: array<vec4<f32>, 16>;
@group(0) @binding(2) var<storage, read_write> y: array<f32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) { y[i] = x[i] + bias[i / 4u][i % 4u]; }
`,
		Bindings:  []plan.Binding{{Name: "x", Access: plan.Read, Bytes: 256}, {Name: "bias", Access: plan.Uniform, Bytes: 256}, {Name: "y", Access: plan.ReadWrite, Bytes: 256}},
		Workgroup: [3]int{64, 1, 1},
	}
	in, out := testBuffer(t, d, "in", 256), testBuffer(t, d, "out", 256)
	if err := d.Write(plan.Handle(in), 0, floats(256, func(i int) float32 { return float32(i) })); err != nil {
		t.Fatal(err)
	}
	p := testPipeline(t, d, k)
	g := testGroup(t, d, k, plan.Range{Buffer: in, Bytes: 256}, plan.Range{Buffer: in, Offset: 512, Bytes: 256}, plan.Range{Buffer: out, Offset: 256, Bytes: 256})
	got := submitAndWait(t, d, plan.Work{Replays: [][]uint32{{p, g, 1, 1, 1}}, Reads: []plan.Range{{Buffer: out, Bytes: 1024}}})
	for i := range 256 {
		want := float32(0)
		if i >= 64 && i < 128 {
			want = float32(i-64) + float32(128+i-64)
		}
		if float(got, i) != want {
			t.Errorf("out[%d] = %g, want %g", i, float(got, i), want)
		}
	}
}

// step is y[0] = y[0] * 3 + 1: repeated, its order and number show in the result.
func step() *plan.Kernel {
	return &plan.Kernel{
		Name: "step",
		Text: `@group(0) @binding(0) var<storage, read_write> y: array<u32, 4>;
@compute @workgroup_size(1)
fn main() { y[0] = y[0] * 3u + 1u; }
`,
		Bindings:  []plan.Binding{{Name: "y", Access: plan.ReadWrite, Bytes: 16}},
		Workgroup: [3]int{1, 1, 1},
	}
}

// steps is what n runs of step make of y.
func steps(y uint32, n int) uint32 {
	for range n {
		y = y*3 + 1
	}
	return y
}

func repeat(record []uint32, n int) []uint32 {
	var list []uint32
	for range n {
		list = append(list, record...)
	}
	return list
}

// add is y[0] = y[0] + 5, on the same layout as step.
func add() *plan.Kernel {
	k := step()
	k.Name, k.Text = "add", strings.Replace(k.Text, "y[0] * 3u + 1u", "y[0] + 5u", 1)
	return k
}

// TestLongReplay runs more dispatches than one pass takes, split over replays: each sees what the one before it wrote.
func TestLongReplay(t *testing.T) {
	d := testDevice(t, plan.Requires{Limits: plan.Limits{DispatchesInPass: 100}})
	inner := *d.api.flavour
	hooked := inner
	buffers := 0
	hooked.submit = func(a *api, q queue, list []commandBuffer) uint64 {
		buffers = len(list)
		return inner.submit(a, q, list)
	}
	d.api.flavour = &hooked
	y := testBuffer(t, d, "y", 64)
	r := plan.Range{Buffer: y, Bytes: 256}
	record := []uint32{testPipeline(t, d, step()), testGroup(t, d, step(), r), 1, 1, 1}
	got := submitAndWait(t, d, plan.Work{Replays: [][]uint32{repeat(record, 250), repeat(record, 1), nil, repeat(record, 100)}, Reads: []plan.Range{r}})
	if want := steps(0, 351); word(got, 0) != want {
		t.Errorf("got %d, want %d", word(got, 0), want)
	}
	if want := 3 + 1 + 0 + 1 + 1; buffers != want {
		t.Errorf("%d command buffers, want %d", buffers, want)
	}
	if s := d.Stats(); s.Dispatches != 351 || s.Submits != 1 || s.Syncs != 1 || s.ReadBytes != 256 {
		t.Errorf("stats %+v", s)
	}
}

// TestPipelinesAndGroupsChange mixes two pipelines and two groups in one pass, each change alone and both together.
func TestPipelinesAndGroupsChange(t *testing.T) {
	d := testDevice(t, plan.Requires{})
	y := testBuffer(t, d, "y", 128)
	var groups, pipelines [2]uint32
	for i := range groups {
		groups[i] = testGroup(t, d, step(), plan.Range{Buffer: y, Offset: uint64(256 * i), Bytes: 256})
	}
	pipelines[0], pipelines[1] = testPipeline(t, d, step()), testPipeline(t, d, add())
	var list []uint32
	var want [2]uint32
	for _, c := range [][2]int{{0, 0}, {0, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 0}, {0, 1}, {0, 0}} {
		list = append(list, pipelines[c[0]], groups[c[1]], 1, 1, 1)
		if c[0] == 0 {
			want[c[1]] = steps(want[c[1]], 1)
		} else {
			want[c[1]] += 5
		}
	}
	got := submitAndWait(t, d, plan.Work{Replays: [][]uint32{list}, Reads: []plan.Range{{Buffer: y, Bytes: 512}}})
	if word(got, 0) != want[0] || word(got, 64) != want[1] {
		t.Errorf("got %d and %d, want %d", word(got, 0), word(got, 64), want)
	}
}

// TestReadsInOrder reads several ranges in one submit, more than a readback buffer first holds.
func TestReadsInOrder(t *testing.T) {
	d := testDevice(t, plan.Requires{})
	a, b := testBuffer(t, d, "a", 4096), testBuffer(t, d, "b", 64)
	all := words(4096, func(i int) uint32 { return uint32(i) * 2654435761 })
	if err := errors.Join(d.Write(plan.Handle(a), 0, all), d.Write(plan.Handle(b), 8, all[:16])); err != nil {
		t.Fatal(err)
	}
	small := submitAndWait(t, d, plan.Work{Reads: []plan.Range{{Buffer: a, Offset: 4, Bytes: 4}}})
	if !bytes.Equal(small, all[4:8]) {
		t.Error("a small read is wrong")
	}
	got := submitAndWait(t, d, plan.Work{Reads: []plan.Range{{Buffer: b, Offset: 8, Bytes: 16}, {Buffer: a, Bytes: 16384}, {Buffer: a, Offset: 400, Bytes: 8}}})
	want := bytes.Join([][]byte{all[:16], all, all[400:408]}, nil)
	if !bytes.Equal(got, want) {
		t.Error("the reads are wrong")
	}
	if n := len(d.readbacks); n != 1 {
		t.Errorf("%d readback buffers for one submit at a time", n)
	}
}

// TestTwoInFlight submits twice, waits in both orders, and looks at what is waited for: the first submit alone.
func TestTwoInFlight(t *testing.T) {
	d := testDevice(t, plan.Requires{})
	var waited []uint64
	hook(t, d, func(f *flavour) {
		wait := f.wait
		f.wait = func(a *api, i instance, h device, index uint64) { waited = append(waited, index); wait(a, i, h, index) }
	})
	y := testBuffer(t, d, "y", 64)
	r := plan.Range{Buffer: y, Bytes: 256}
	record := []uint32{testPipeline(t, d, step()), testGroup(t, d, step(), r), 1, 1, 1}
	done := 0
	submit := func(n int) (plan.Ticket, uint64, uint32) {
		ticket, err := d.Submit(plan.Work{Replays: [][]uint32{repeat(record, n)}, Reads: []plan.Range{r}})
		if err != nil {
			t.Fatal(err)
		}
		done += n
		return ticket, d.tickets[ticket].index, steps(0, done)
	}
	wait := func(n plan.Ticket, want uint32) {
		t.Helper()
		data, err := d.Wait(t.Context(), n)
		if err != nil || word(data, 0) != want {
			t.Errorf("ticket %d: got %v, %v, want %d", n, data, err, want)
		}
	}
	for range 3 {
		first, firstIndex, firstValue := submit(10)
		second, secondIndex, secondValue := submit(500)
		waited = nil
		wait(first, firstValue)
		// When the first was done by the time of the second submit, nothing is left to wait for.
		if len(waited) > 1 || len(waited) == 1 && waited[0] != firstIndex || firstIndex >= secondIndex {
			t.Errorf("waited for %d with submits %d and %d", waited, firstIndex, secondIndex)
		}
		wait(second, secondValue)
		first, _, firstValue = submit(3)
		second, _, secondValue = submit(4)
		wait(second, secondValue)
		wait(first, firstValue)
	}
	if n := len(d.readbacks); n != 2 {
		t.Errorf("%d readback buffers for two submits at a time", n)
	}
}

// TestWaitCanceled ends the context while the device is waited for: Wait returns, the work goes on, and its bytes are there.
func TestWaitCanceled(t *testing.T) {
	d := testDevice(t, plan.Requires{})
	y := testBuffer(t, d, "y", 64)
	r := plan.Range{Buffer: y, Bytes: 256}
	record := []uint32{testPipeline(t, d, step()), testGroup(t, d, step(), r), 1, 1, 1}
	entered, release := make(chan bool), make(chan bool)
	n, err := d.Submit(plan.Work{Replays: [][]uint32{repeat(record, 5)}, Reads: []plan.Range{r}})
	if err != nil {
		t.Fatal(err)
	}
	hook(t, d, func(f *flavour) {
		wait := f.wait
		f.wait = func(a *api, i instance, h device, index uint64) { entered <- true; <-release; wait(a, i, h, index) }
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { _, err := d.Wait(ctx, n); ended <- err }()
	<-entered // the device's goroutine is in the library
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	// A context that ends before the device is free ends the wait as well.
	if _, err := d.Wait(ctx, n); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	release <- true
	data, err := d.Wait(t.Context(), n)
	if err != nil || word(data, 0) != steps(0, 5) {
		t.Errorf("after the cancel: %v, %v", data, err)
	}
}

// TestManyGoroutines uses one device from several goroutines; each has a buffer of its own.
func TestManyGoroutines(t *testing.T) {
	d := testDevice(t, plan.Requires{})
	p := testPipeline(t, d, step())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			y := testBuffer(t, d, "y"+strconv.Itoa(i), 64)
			r := plan.Range{Buffer: y, Bytes: 256}
			g := testGroup(t, d, step(), r)
			for n := range 5 {
				got := submitAndWait(t, d, plan.Work{Replays: [][]uint32{repeat([]uint32{p, g, 1, 1, 1}, i+1)}, Reads: []plan.Range{r}})
				if want := steps(0, (i+1)*(n+1)); word(got, 0) != want {
					t.Errorf("goroutine %d: got %d, want %d", i, word(got, 0), want)
				}
			}
		})
	}
	all.Wait()
}

// TestLargeWrite writes more than is held back at once.
func TestLargeWrite(t *testing.T) {
	d := testDevice(t, plan.Requires{})
	const n = 18 << 20 // words: 72 MiB
	h := testBuffer(t, d, "weights", n)
	data := words(n, func(i int) uint32 { return uint32(i) ^ 0x5bd1e995 })
	if err := d.Write(plan.Handle(h), 0, data); err != nil {
		t.Fatal(err)
	}
	if d.flush.index == 0 || d.flush.pending >= flushBytes {
		t.Errorf("nothing was flushed: %+v", d.flush)
	}
	var reads []plan.Range
	for _, at := range []uint64{0, flushBytes - 8, 2*flushBytes - 8, 4*n - 64} {
		reads = append(reads, plan.Range{Buffer: h, Offset: at, Bytes: 64})
	}
	got := submitAndWait(t, d, plan.Work{Reads: reads})
	for i, r := range reads {
		if !bytes.Equal(got[64*i:64*i+64], data[r.Offset:r.Offset+64]) {
			t.Errorf("bytes at %d are wrong", r.Offset)
		}
	}
}

// TestTrustedModules looks at which kernels lose their bounds checks.
func TestTrustedModules(t *testing.T) {
	for _, c := range []struct {
		proved, trusted, checked, want bool
	}{
		{true, true, false, true},
		{true, true, true, false},
		{true, false, false, false},
		{false, true, false, false},
	} {
		d := testDevice(t, plan.Requires{})
		unchecked := false
		hook(t, d, func(f *flavour) {
			trusted := f.trusted
			if trusted == nil { // Dawn has no such way: nothing to gain
				return
			}
			f.trusted = func(a *api, h device, desc *shaderModuleDescriptor) shaderModule {
				unchecked = true
				return trusted(a, h, desc)
			}
		})
		d.checked = c.checked
		k := step()
		k.Proved = c.proved
		p, err := d.NewPipeline(k, c.trusted)
		if err != nil {
			t.Fatal(err)
		}
		if unchecked != (c.want && d.api.flavour.name == "wgpu-native") {
			t.Errorf("%+v: unchecked %v", c, unchecked)
		}
		y := testBuffer(t, d, "y", 64)
		r := plan.Range{Buffer: y, Bytes: 256}
		got := submitAndWait(t, d, plan.Work{Replays: [][]uint32{{uint32(p), testGroup(t, d, k, r), 1, 1, 1}}, Reads: []plan.Range{r}})
		if word(got, 0) != 1 {
			t.Errorf("%+v: got %d", c, word(got, 0))
		}
	}
}

// BenchmarkRecord is the CPU's cost of a dispatch: 400 of them, 8 pipelines and a group each, as a small model's step.
func BenchmarkRecord(b *testing.B) {
	d := testDevice(b, plan.Requires{})
	const dispatches = 400
	y := testBuffer(b, d, "y", 64*dispatches)
	var pipelines [8]uint32
	for i := range pipelines {
		k := step()
		k.Name += strconv.Itoa(i)
		k.Text += "// " + k.Name + "\n"
		pipelines[i] = testPipeline(b, d, k)
	}
	var list []uint32
	for i := range dispatches {
		g := testGroup(b, d, step(), plan.Range{Buffer: y, Offset: uint64(i) * 256, Bytes: 256})
		list = append(list, pipelines[i%8], g, 1, 1, 1)
	}
	work := plan.Work{Replays: [][]uint32{list}}
	b.ReportAllocs()
	for b.Loop() {
		n, err := d.Submit(work)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Wait(b.Context(), n); err != nil {
			b.Fatal(err)
		}
	}
	s := d.Stats()
	b.ReportMetric(float64(s.EncodeNanos)/float64(s.Dispatches), "encode-ns/dispatch")
}
