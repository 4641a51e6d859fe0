package kernels_test

import (
	"errors"
	"math"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// mesaTrips is the cap of Mesa's llvmpipe. The kernels of TestLoopCap go up to it on every device.
const mesaTrips = 65535

// capped is a shape whose longest loop is just within mesaTrips, and one that is a trip beyond it.
type capped struct {
	name   string
	within func(p schedules.Profile) (kernels.Kernel, error)
	beyond func(p schedules.Profile) (kernels.Kernel, error)
	inputs func() map[string][]byte
	check  func(t *testing.T, out map[string][]byte)
}

// TestLoopCap holds the loop trips that schedules count to a device that ends loops early: kernels that go up to the cap are
// right, and one trip more is refused. Where no such device is at hand, only the first and the last part say something.
func TestLoopCap(t *testing.T) {
	d := open(t)
	info := gpu.Measured(t, gpu.Adapter(t))
	if info.LoopTrips != 0 && info.LoopTrips != mesaTrips {
		t.Fatalf("%s ends loops after %d trips: let this test go up to them", info.Name, info.LoopTrips)
	}
	t.Logf("%s ends loops after %d trips (0: never seen)", info.Name, info.LoopTrips)
	p := d.portable
	p.LoopTrips = mesaTrips
	for _, c := range []capped{cappedGEMV(), cappedAttention(), cappedRMSNorm(), cappedArgMax()} {
		t.Run(c.name, func(t *testing.T) {
			k, err := c.within(p)
			b := build(t, k, err)
			if left := mesaTrips - k.LoopTrips; left < 0 || left > 40 {
				t.Errorf("it makes %d trips, which is not just within %d", k.LoopTrips, mesaTrips)
			}
			c.check(t, d.run(t, b, c.inputs()))
			_, err = c.beyond(p)
			var illegal *schedules.IllegalError
			if !errors.As(err, &illegal) || !illegal.BeyondLimits() {
				t.Errorf("one trip more: %v", err)
			}
		})
	}
}

// TestBeyondLoopCap shows what the cap is for: on a device with one, a kernel beyond it is wrong without a word.
func TestBeyondLoopCap(t *testing.T) {
	d := open(t)
	if gpu.Measured(t, gpu.Adapter(t)).LoopTrips == 0 {
		t.Log("no loop of the adapter ends early: nothing to show")
		return
	}
	const trips = mesaTrips + 100
	c := rowOfOnes(trips)
	k, err := c.Kernel(schedules.DefaultGEMV(c.Problem(), d.portable), d.portable)
	b := build(t, k, err)
	out := d.run(t, b, map[string][]byte{kernels.X: floats(repeated(1, 4*trips)), kernels.Values: floats(repeated(1, 4*trips))})
	if got := unfloats(out[kernels.Result(0)])[0]; got != 4*mesaTrips {
		t.Errorf("a row of %d ones adds up to %v; a cap of %d leaves %d", 4*trips, got, mesaTrips, 4*mesaTrips)
	}
}

// rowOfOnes is one row of f32 that a thread goes over in the given trips.
func rowOfOnes(trips int) kernels.GEMV {
	return kernels.GEMV{Format: quant.F32, Columns: 4 * trips, Results: []int{1}, Epilogue: kernels.Store}
}

func repeated(v float32, n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = v
	}
	return all
}

func cappedGEMV() capped {
	const most = mesaTrips - 1 // the last look at the condition is a trip
	kernel := func(trips int) func(p schedules.Profile) (kernels.Kernel, error) {
		return func(p schedules.Profile) (kernels.Kernel, error) {
			g := rowOfOnes(trips)
			return g.Kernel(schedules.DefaultGEMV(g.Problem(), p), p)
		}
	}
	return capped{
		name: "gemv", within: kernel(most), beyond: kernel(most + 1),
		inputs: func() map[string][]byte {
			return map[string][]byte{kernels.X: floats(repeated(1, 4*most)), kernels.Values: floats(repeated(1, 4*most))}
		},
		check: func(t *testing.T, out map[string][]byte) {
			if got := unfloats(out[kernels.Result(0)])[0]; got != 4*most {
				t.Errorf("%d ones add up to %v", 4*most, got)
			}
		},
	}
}

// cappedAttention attends to equal keys, so that the result is the mean of the values: 1 in the first half of the tokens, 2 in the
// second.
func cappedAttention() capped {
	const (
		workgroup = 4 // 5 trips for a tile of 4 keys: a look, and two loops of a trip and a look
		most      = (mesaTrips - 1) / 5 / 8 * 32
		size      = 4
	)
	at := func(context int) kernels.AttentionDecode {
		pages := context / 32
		return kernels.AttentionDecode{
			Heads: 1, KVHeads: 1, Size: size, Scale: 1,
			Params: plan.Params{Sequences: 1, PagesAt: plan.ParamsRecordWords, Pages: pages, RingAt: plan.ParamsRecordWords + pages, Ring: 4},
			KV:     plan.KV{PageTokens: 32, Pages: pages},
		}
	}
	kernel := func(context int) func(p schedules.Profile) (kernels.Kernel, error) {
		return func(p schedules.Profile) (kernels.Kernel, error) {
			return at(context).Kernel(schedules.Attention{Workgroup: workgroup}, p)
		}
	}
	return capped{
		name: "attention", within: kernel(most), beyond: kernel(most + 32),
		inputs: func() map[string][]byte {
			a := at(most)
			record := make([]uint32, a.Params.Words())
			record[plan.ParamsPos], record[plan.ParamsLen], record[plan.ParamsPages] = most-1, most, uint32(a.Params.PagesAt)
			for page := range a.Params.Pages {
				record[a.Params.PagesAt+page] = uint32(page)
			}
			kv := repeated(0, 2*size*most)
			for i := range size * most {
				kv[size*most+i] = float32(1 + 2*i/(size*most))
			}
			return map[string][]byte{kernels.Params: words(record), kernels.Q: floats(repeated(1, size)), kernels.KV: floats(kv)}
		},
		check: func(t *testing.T, out map[string][]byte) {
			for i, got := range unfloats(out[kernels.Y]) {
				if math.Abs(float64(got)-1.5) > 1e-5 {
					t.Errorf("element %d of the mean is %v, want 1.5", i, got)
				}
			}
		},
	}
}

// cappedRMSNorm goes over a row twice, value by value, as its length is odd. The root mean square of twos is two.
func cappedRMSNorm() capped {
	const workgroup, most = 4, 4*(mesaTrips/2-1) - 1
	kernel := func(columns int) func(p schedules.Profile) (kernels.Kernel, error) {
		return func(p schedules.Profile) (kernels.Kernel, error) {
			return kernels.RMSNorm{Rows: 1, Columns: columns}.Kernel(schedules.RowReduce{Workgroup: workgroup, Reduce: schedules.ReduceTree}, p)
		}
	}
	return capped{
		name: "rmsnorm", within: kernel(most), beyond: kernel(most + 2),
		inputs: func() map[string][]byte {
			return map[string][]byte{kernels.X: floats(repeated(2, most)), kernels.NormWeights: floats(repeated(3, most))}
		},
		check: func(t *testing.T, out map[string][]byte) {
			for i, got := range unfloats(out[kernels.Y]) {
				if math.Abs(float64(got)-3) > 1e-4 {
					t.Fatalf("element %d is %v, want 3", i, got)
				}
			}
		},
	}
}

// cappedArgMax has the largest value at the end.
func cappedArgMax() capped {
	const workgroup, most = 4, 4 * (mesaTrips - 1)
	kernel := func(n int) func(p schedules.Profile) (kernels.Kernel, error) {
		return func(p schedules.Profile) (kernels.Kernel, error) {
			return kernels.ArgMaxPartials{N: n}.Kernel(schedules.ArgMax{Workgroup: workgroup, Partials: 1}, p)
		}
	}
	return capped{
		name: "argmax", within: kernel(most), beyond: kernel(most + 1),
		inputs: func() map[string][]byte {
			x := repeated(1, most)
			x[most-1] = 5
			return map[string][]byte{kernels.X: floats(x)}
		},
		check: func(t *testing.T, out map[string][]byte) {
			if got := unwords(out[kernels.Partials]); got[1] != most-1 {
				t.Errorf("the largest is found at %d, want %d", got[1], most-1)
			}
		},
	}
}
