package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
	"github.com/kgen-wgsl/kgen/schedules"
)

// device is an adapter opened for the tests, with profiles it can run.
type device struct {
	*webgpu.Device
	runner    *suite.Runner
	portable  schedules.Profile
	compat    schedules.Profile
	subgroups schedules.Profile // Subgroups is false when the device has none of a fixed size
	keepsNaN  bool              // its compiler does what IEEE 754 says of NaN, which WGSL doesn't promise: llvmpipe's does, NVIDIA's and SwiftShader's don't
	pipelines map[string]plan.Handle
}

// open opens the adapter that the environment chooses, with subgroups if it has them.
func open(t testing.TB) device {
	t.Helper()
	adapter := gpu.Adapter(t)
	info := gpu.Measured(t, adapter)
	d := device{portable: profile(t, "portable"), compat: profile(t, "compat"), pipelines: map[string]plan.Handle{}}
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
	d.runner = suite.Device(d.Device)
	t.Logf("%s, subgroups of %d", info.Name, info.SubgroupSize)
	return d
}

// profiles are those that the device can run.
func (d device) profiles() []schedules.Profile {
	all := []schedules.Profile{d.portable, d.compat}
	if d.subgroups.Subgroups {
		all = append(all, d.subgroups)
	}
	return all
}

// run runs a kernel. Inputs are the bytes of operands; the result is the bytes of all operands that are written.
func (d device) run(t *testing.T, b *suite.Kernel, inputs map[string][]byte) map[string][]byte {
	t.Helper()
	out, err := d.runner.Run(t.Context(), b, inputs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// pipeline compiles a kernel once.
func (d device) pipeline(t testing.TB, b *suite.Kernel, unchecked bool) uint32 {
	t.Helper()
	key := fmt.Sprint(unchecked, b.Plan.Text)
	if _, made := d.pipelines[key]; !made {
		k := b.Plan
		k.Proved = unchecked
		h, err := d.NewPipeline(&k, unchecked)
		if err != nil {
			t.Fatal(err)
		}
		d.pipelines[key] = h
	}
	return uint32(d.pipelines[key])
}

// planes repacks a weight into the operands that hold its planes.
func planes(t *testing.T, b *suite.Kernel, format quant.Type, columns int, rows []int, weights []suite.Weight, inputs map[string][]byte) {
	t.Helper()
	if err := suite.Planes(b, format, columns, rows, weights, inputs); err != nil {
		t.Fatal(err)
	}
}

// newWeight draws a weight.
func newWeight(t *testing.T, r *rand.Rand, format quant.Type, rows, columns int) suite.Weight {
	t.Helper()
	w, err := suite.NewWeight(r, format, rows, columns, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// record is a params block for a position, with pages out of order.
func record(position int) []uint32 {
	w := make([]uint32, params.Words())
	w[plan.ParamsPos], w[plan.ParamsLen] = uint32(position), uint32(position+1)
	w[plan.ParamsPages], w[plan.ParamsOut] = uint32(params.PagesAt), uint32(params.RingAt)
	copy(w[params.PagesAt:], []uint32{3, 0, 4, 2})
	return w
}

// TestOnAdapter runs the cases of package suite on the adapter, and what else there is to ask of one.
func TestOnAdapter(t *testing.T) {
	d := open(t)
	for _, p := range d.profiles() {
		t.Run(p.Name, func(t *testing.T) {
			run := suiteRun{runner: func() *suite.Runner { return d.runner }}
			run.cases(t, onAdapter(p))
		})
	}
	t.Run("own codes", func(t *testing.T) { testOwnCodes(t, d) })
	t.Run("gemv folded", func(t *testing.T) { testGEMVFolded(t, d) })
	t.Run("decode", func(t *testing.T) { testDecode(t, d) })
	t.Run("not a number", func(t *testing.T) { testNotANumber(t, d) })
	t.Run("repeats", func(t *testing.T) { testRepeats(t, d) })
}
