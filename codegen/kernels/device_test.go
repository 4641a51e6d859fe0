package kernels_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
	"github.com/kgen-wgsl/kgen/schedules"
)

// device is an adapter opened for the tests, with profiles it can run.
type device struct {
	*webgpu.Device
	portable  schedules.Profile
	compat    schedules.Profile
	subgroups schedules.Profile // Subgroups is false when the device has none of a fixed size
	keepsNaN  bool              // its compiler does what IEEE 754 says of NaN, which WGSL doesn't promise: llvmpipe's does, NVIDIA's and SwiftShader's don't
	pipelines map[string]plan.Handle
	ran       map[string]bool // texts
}

// open opens the adapter that the environment chooses, with subgroups if it has them.
func open(t testing.TB) device {
	t.Helper()
	adapter := gpu.Adapter(t)
	info := gpu.Measured(t, adapter)
	d := device{portable: profile(t, "portable"), compat: profile(t, "compat"), pipelines: map[string]plan.Handle{}, ran: map[string]bool{}}
	d.keepsNaN = strings.Contains(info.Name, "llvmpipe")
	requires := d.portable.Requires()
	if s, err := profile(t, "subgroups").WithDevice(info); err == nil {
		d.subgroups, requires = s, s.Requires()
	}
	d.Device = gpu.Open(t, adapter, requires)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%s, subgroups of %d", info.Name, info.SubgroupSize)
	return d
}

// sentinel fills what no operand holds, and operands without input: as f32 it is 3.39e38, so that a read too far shows.
const sentinel = 0x7f7f7f7f

// run runs a kernel. Inputs are the bytes of operands; the result is the bytes of all operands that are written. Every byte
// outside of those must keep the sentinel. A kernel's first run is done twice: as a plan has it, and without the compiler's
// bounds checks and with wider bindings, so that nothing but the kernel's own tests keeps it in bounds.
func (d device) run(t *testing.T, b built, inputs map[string][]byte) map[string][]byte {
	t.Helper()
	ends := map[int]uint64{}
	for _, o := range b.operands {
		ends[o.Place.Buffer] = max(ends[o.Place.Buffer], o.Place.Offset+o.Place.Bytes)
	}
	before := map[int][]byte{}
	for number, end := range ends {
		content := bytes.Repeat([]byte{sentinel & 0xff}, int(end+border))
		for _, o := range b.operands {
			if in, ok := inputs[o.Name]; o.Place.Buffer == number && ok {
				if uint64(len(in)) != o.Place.Bytes {
					t.Fatalf("%s: %s has %d bytes, not %d", b.Name, o.Name, len(in), o.Place.Bytes)
				}
				copy(content[o.Place.Offset:], in)
			}
		}
		before[number] = content
	}
	first := !d.ran[b.plan.Text]
	d.ran[b.plan.Text] = true
	after := d.dispatch(t, b, before, true)
	if first {
		sameWithChecks(t, b, d.dispatch(t, b, before, false), after)
	}
	out := map[string][]byte{}
	for _, o := range b.operands {
		if o.Access == plan.ReadWrite {
			place := after[o.Place.Buffer][o.Place.Offset:][:o.Place.Bytes]
			out[o.Name] = slices.Clone(place)
			copy(before[o.Place.Buffer][o.Place.Offset:], place)
		}
	}
	for number := range before {
		if !bytes.Equal(before[number], after[number]) {
			t.Errorf("%s writes outside of its operands in buffer %d", b.Name, number)
		}
	}
	return out
}

// sameWithChecks compares what a kernel leaves with and without bounds checks: bit for bit, but for values of f32, which two
// compilations may round differently: WGSL lets them contract products and sums. On an H200 small GEMVs do differ; that it is for
// this reason was not shown.
func sameWithChecks(t *testing.T, b built, checked, unchecked map[int][]byte) {
	t.Helper()
	for number := range checked {
		left, right := slices.Clone(checked[number]), slices.Clone(unchecked[number])
		for _, o := range b.operands {
			if o.Place.Buffer != number || o.Access != plan.ReadWrite || !strings.Contains(o.Elem, "f32") {
				continue
			}
			from, to := o.Place.Offset, o.Place.Offset+o.Place.Bytes
			if bytes.Equal(left[from:to], right[from:to]) {
				continue
			}
			var want []float64
			for _, v := range unfloats(left[from:to]) {
				want = append(want, float64(v))
			}
			if e := nmse(unfloats(right[from:to]), want); !(e <= 1e-10) {
				t.Errorf("%s: %s differs without bounds checks by an NMSE of %.2g", b.Name, o.Name, e)
			}
			copy(right[from:to], left[from:to])
		}
		if !bytes.Equal(left, right) {
			t.Errorf("%s: buffer %d differs without bounds checks", b.Name, number)
		}
	}
}

// dispatch runs a kernel on buffers of the given contents, and returns their contents after.
func (d device) dispatch(t *testing.T, b built, contents map[int][]byte, unchecked bool) map[int][]byte {
	t.Helper()
	var work plan.Work
	handles := map[int]int{}
	var order []int
	for number, content := range contents {
		h, err := d.NewBuffer(plan.Buffer{Name: fmt.Sprint("b", number), Kind: plan.ArenaBuffer, Bytes: uint64(len(content))})
		if err == nil {
			err = d.Write(h, 0, content)
		}
		if err != nil {
			t.Fatal(err)
		}
		handles[number], order = int(h), append(order, number)
		work.Reads = append(work.Reads, plan.Range{Buffer: int(h), Bytes: uint64(len(content))})
	}
	ranges := b.bindings.Ranges()
	for i := range ranges {
		r := &ranges[i]
		if unchecked {
			r.Bytes = uint64(len(contents[r.Buffer])) - r.Offset
		}
		r.Buffer = handles[r.Buffer]
	}
	group, err := d.NewGroup(b.plan.Accesses(), ranges)
	if err != nil {
		t.Fatal(err)
	}
	g := b.Grid
	work.Replays = [][]uint32{{d.pipeline(t, b, unchecked), uint32(group), uint32(g[0]), uint32(g[1]), uint32(g[2])}}
	ticket, err := d.Submit(work)
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.Wait(t.Context(), ticket)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int][]byte{}
	for _, number := range order {
		n := len(contents[number])
		out[number], data = data[:n], data[n:]
	}
	return out
}

// pipeline compiles a kernel once.
func (d device) pipeline(t testing.TB, b built, unchecked bool) uint32 {
	t.Helper()
	key := fmt.Sprint(unchecked, b.plan.Text)
	if _, made := d.pipelines[key]; !made {
		k := b.plan
		k.Proved = unchecked
		h, err := d.NewPipeline(&k, unchecked)
		if err != nil {
			t.Fatal(err)
		}
		d.pipelines[key] = h
	}
	return uint32(d.pipelines[key])
}

func words(w []uint32) []byte {
	b := make([]byte, 4*len(w))
	for i, v := range w {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	return b
}

func unwords(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

func floats(f []float32) []byte {
	w := make([]uint32, len(f))
	for i, v := range f {
		w[i] = math.Float32bits(v)
	}
	return words(w)
}

func unfloats(b []byte) []float32 {
	f := make([]float32, len(b)/4)
	for i, v := range unwords(b) {
		f[i] = math.Float32frombits(v)
	}
	return f
}

// normal draws n values of a normal distribution with the given deviation.
func normal(r *rand.Rand, n int, deviation float64) []float32 {
	f := make([]float32, n)
	for i := range f {
		f[i] = float32(r.NormFloat64() * deviation)
	}
	return f
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// nmse is the squared error relative to the squared values wanted; it is NaN when a value is.
func nmse(got []float32, want []float64) float64 {
	wrong, all := 0.0, 0.0
	for i, w := range want {
		wrong += (float64(got[i]) - w) * (float64(got[i]) - w)
		all += w * w
	}
	return wrong / all
}

// close checks the error of a result, and keeps the largest.
func closeTo(t *testing.T, what string, got []float32, want []float64, bound float64, worst *float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	e := nmse(got, want)
	if !(e <= bound) {
		t.Errorf("%s: NMSE %.3g exceeds %.3g; got %v, want %v", what, e, bound, got[:min(4, len(got))], want[:min(4, len(want))])
	}
	*worst = max(*worst, e)
}

// TestOnAdapter runs every family on the adapter and compares it with sums in float64.
func TestOnAdapter(t *testing.T) {
	d := open(t)
	t.Run("gemv", func(t *testing.T) { testGEMV(t, d) })
	t.Run("gemv tails", func(t *testing.T) { testGEMVTails(t, d) })
	t.Run("gemv folded", func(t *testing.T) { testGEMVFolded(t, d) })
	t.Run("gemv beyond f16", func(t *testing.T) { testGEMVBeyondF16(t, d) })
	t.Run("quant_q8", func(t *testing.T) { testQuantQ8(t, d) })
	t.Run("gemv_q8", func(t *testing.T) { testGEMVQ8(t, d) })
	t.Run("embed", func(t *testing.T) { testEmbed(t, d) })
	t.Run("decode", func(t *testing.T) { testDecode(t, d) })
	t.Run("embed shards", func(t *testing.T) { testEmbedShards(t, d) })
	t.Run("rmsnorm", func(t *testing.T) { testRMSNorm(t, d) })
	t.Run("rope", func(t *testing.T) { testRoPE(t, d) })
	t.Run("attention", func(t *testing.T) { testAttention(t, d) })
	t.Run("softmax", func(t *testing.T) { testSoftmax(t, d) })
	t.Run("not a number", func(t *testing.T) { testNotANumber(t, d) })
	t.Run("elementwise", func(t *testing.T) { testElementwise(t, d) })
	t.Run("argmax", func(t *testing.T) { testArgMax(t, d) })
	t.Run("repeats", func(t *testing.T) { testRepeats(t, d) })
	t.Run("advance", func(t *testing.T) { testAdvance(t, d) })
}
