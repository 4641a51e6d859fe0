//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// shared is the one library of the tests: NVIDIA's driver lists no adapter any more after some thirty instances.
var shared = sync.OnceValues(func() (*Library, error) {
	l, err := Find(Options{})
	if err == nil {
		_, err = l.Adapters()
	}
	return l, err
})

// testAdapter returns the best adapter and checks at the end of the test that no object made during it is left.
func testAdapter(t testing.TB) *Adapter {
	t.Helper()
	l, err := shared()
	if err != nil {
		missing(t, err)
	}
	mailboxes.Lock()
	before, boxes := l.api.live.Load(), len(mailboxes.byID)
	mailboxes.Unlock()
	t.Cleanup(func() {
		if n := l.api.live.Load() - before; n != 0 {
			t.Errorf("%d objects of the library were not released", n)
		}
		mailboxes.Lock()
		defer mailboxes.Unlock()
		if n := len(mailboxes.byID) - boxes; n != 0 {
			t.Errorf("%d mailboxes were not closed", n)
		}
	})
	adapters, err := l.Adapters()
	if err != nil {
		missing(t, err)
	}
	return adapters[0]
}

// testDevice opens a device for a test.
func testDevice(t testing.TB, requires plan.Requires) *Device {
	t.Helper()
	d, err := testAdapter(t).Open(t.Context(), requires)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// hook changes the row of the library's table until the end of the test.
func hook(t testing.TB, d *Device, change func(f *flavour)) {
	inner, changed := d.api.flavour, *d.api.flavour
	change(&changed)
	d.api.flavour = &changed
	t.Cleanup(func() { d.api.flavour = inner })
}

// missing skips a test that lacks a library or an adapter.
func missing(t testing.TB, err error) {
	t.Helper()
	var e *plan.DeviceError
	if os.Getenv("KGEN_REQUIRE") == "1" || !errors.As(err, &e) || e.Fault != plan.NoLibrary && e.Fault != plan.NoAdapter {
		t.Fatal(err)
	}
	t.Skipf("run `make setup`: %v", err)
}

func testBuffer(t testing.TB, d *Device, name string, words int) int {
	t.Helper()
	h, err := d.NewBuffer(plan.Buffer{Name: name, Kind: plan.ArenaBuffer, Bytes: uint64(words) * 4})
	if err != nil {
		t.Fatal(err)
	}
	return int(h)
}

func words(n int, f func(i int) uint32) []byte {
	b := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(b[4*i:], f(i))
	}
	return b
}

func floats(n int, f func(i int) float32) []byte {
	return words(n, func(i int) uint32 { return math.Float32bits(f(i)) })
}

func word(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

func float(b []byte, i int) float32 { return math.Float32frombits(word(b, i)) }

func testPipeline(t testing.TB, d *Device, k *plan.Kernel) uint32 {
	t.Helper()
	h, err := d.NewPipeline(k, false)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(h)
}

func testGroup(t testing.TB, d *Device, k *plan.Kernel, ranges ...plan.Range) uint32 {
	t.Helper()
	h, err := d.NewGroup(k.Accesses(), ranges)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(h)
}

func submitAndWait(t testing.TB, d *Device, w plan.Work) []byte {
	t.Helper()
	n, err := d.Submit(w)
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.Wait(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const axpyItems = 4096

// axpy is y = 3x + y.
func axpy() *plan.Kernel {
	return &plan.Kernel{
		Name: "axpy",
		Text: `@group(0) @binding(0) var<storage, read> x: array<f32, 4096>;
@group(0) @binding(1) var<storage, read_write> y: array<f32, 4096>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { y[id.x] = 3.0 * x[id.x] + y[id.x]; }
`,
		Bindings:  []plan.Binding{{Name: "x", Access: plan.Read, Bytes: 4 * axpyItems}, {Name: "y", Access: plan.ReadWrite, Bytes: 4 * axpyItems}},
		Workgroup: [3]int{64, 1, 1},
	}
}

func TestAxpy(t *testing.T) {
	d := testDevice(t, plan.Requires{})
	t.Logf("%+v", d.Device())
	x, y := testBuffer(t, d, "x", axpyItems), testBuffer(t, d, "y", axpyItems)
	if err := d.Write(plan.Handle(x), 0, floats(axpyItems, func(i int) float32 { return float32(i) })); err != nil {
		t.Fatal(err)
	}
	if err := d.Write(plan.Handle(y), 0, floats(axpyItems, func(i int) float32 { return 0.5 })); err != nil {
		t.Fatal(err)
	}
	k := axpy()
	whole := plan.Range{Buffer: y, Bytes: 4 * axpyItems}
	p, g := testPipeline(t, d, k), testGroup(t, d, k, plan.Range{Buffer: x, Bytes: 4 * axpyItems}, whole)
	got := submitAndWait(t, d, plan.Work{Replays: [][]uint32{{p, g, axpyItems / 64, 1, 1}}, Reads: []plan.Range{whole}})
	for i := range axpyItems {
		if want := 3*float32(i) + 0.5; float(got, i) != want {
			t.Fatalf("y[%d] = %g, want %g", i, float(got, i), want)
		}
	}
}

func TestSubgroupSize(t *testing.T) {
	d := testDevice(t, plan.Requires{Subgroups: true})
	t.Logf("measured %d", d.Device().SubgroupSize)
}
