//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// testDevice opens a device for a test and checks at its end that nothing was left.
func testDevice(t testing.TB, requires plan.Requires) *Device {
	t.Helper()
	l := testLibrary(t, Options{})
	adapters, err := l.Adapters()
	if err != nil {
		missing(t, err)
	}
	d, err := adapters[0].Open(t.Context(), requires)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// testLibrary loads the library and checks at the end of the test that no object of it is left.
func testLibrary(t testing.TB, o Options) *Library {
	t.Helper()
	o.Log = func(s string) { t.Log(s) }
	l, err := Find(o)
	if err != nil {
		missing(t, err)
	}
	t.Cleanup(func() {
		l.Close()
		if n := l.api.live.Load(); n != 0 {
			t.Errorf("%d objects of the library were not released", n)
		}
	})
	return l
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
