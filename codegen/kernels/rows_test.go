package kernels_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

func testRMSNorm(t *testing.T, d device) {
	var worst float64
	seeds := seeds(t)
	for _, p := range []schedules.Profile{d.portable, d.compat} {
		for i, shape := range [][2]int{{1, 576}, {9, 64}, {3, 80}, {1, 1}, {2, 255}, {3, 256}, {1, 257}, {2, 300}, {3, 512}, {1, 1000}, {5, 4}} {
			rows, columns := shape[0], shape[1]
			n := kernels.RMSNorm{Rows: rows, Columns: columns, Eps: 1e-5}
			k, err := n.Kernel(schedules.DefaultRowReduce(columns, p), p)
			b := build(t, k, err)
			r := random(seeds[i%len(seeds)])
			x, w := normal(r, rows*columns, 2), normal(r, columns, 1)
			want := make([]float64, rows*columns)
			for row := range rows {
				sum := 0.0
				for _, v := range x[row*columns:][:columns] {
					sum += float64(v) * float64(v)
				}
				for c := range columns {
					want[row*columns+c] = float64(x[row*columns+c]) / math.Sqrt(sum/float64(columns)+1e-5) * float64(w[c])
				}
			}
			out := d.run(t, b, map[string][]byte{kernels.X: floats(x), kernels.NormWeights: floats(w)})
			closeTo(t, b.Name, unfloats(out[kernels.Y]), want, 1e-10, &worst)
			n.InPlace = true
			k, err = n.Kernel(schedules.DefaultRowReduce(columns, p), p)
			b = build(t, k, err)
			out = d.run(t, b, map[string][]byte{kernels.X: floats(x), kernels.NormWeights: floats(w)})
			closeTo(t, b.Name, unfloats(out[kernels.X]), want, 1e-10, &worst)
		}
	}
	t.Logf("largest NMSE %.2g", worst)
}

func testElementwise(t *testing.T, d device) {
	p := d.compat
	s := schedules.DefaultElementwise(p)
	var worst float64
	for _, n := range []int{1, 63, 64, 65, 257, 1536} {
		r := random(uint64(n))
		x, y := normal(r, n, 4), normal(r, n, 1)
		x[0] = -1000 // exp of its negative is no f32
		each := func(f func(x, y float64) float64) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = f(float64(x[i]), float64(y[i]))
			}
			return out
		}
		run := func(k kernels.Kernel, err error, left, right, result string, want []float64) {
			b := build(t, k, err)
			out := d.run(t, b, map[string][]byte{left: floats(x), right: floats(y)})
			got := unfloats(out[result])
			for i := range want {
				if math.Abs(want[i]) < 1e-30 && math.Abs(float64(got[i])) < 1e-30 {
					want[i], got[i] = 0, 0 // f32 may flush what is left
				}
			}
			if n == 1 && want[0] == 0 && got[0] == 0 {
				return
			}
			closeTo(t, b.Name, got, want, 1e-12, &worst)
		}
		add := func(x, y float64) float64 { return x + y }
		k, err := kernels.Add{N: n}.Kernel(s, p)
		run(k, err, "a", "b", "y", each(add))
		k, err = kernels.Add{N: n, InPlace: true}.Kernel(s, p)
		run(k, err, "a", "b", "a", each(add))
		k, err = kernels.GLU{N: n, Act: ir.SiLU}.Kernel(s, p)
		run(k, err, kernels.Gate, kernels.Up, "y", each(func(x, y float64) float64 { return x / (1 + math.Exp(-x)) * y }))
		k, err = kernels.GLU{N: n, Act: ir.GELU}.Kernel(s, p)
		run(k, err, kernels.Gate, kernels.Up, "y", each(func(x, y float64) float64 {
			return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) * y
		}))
		k, err = kernels.Softcap{N: n, Cap: 30}.Kernel(s, p)
		run(k, err, "x", "", "y", each(func(x, _ float64) float64 { return 30 * math.Tanh(x/30) }))
	}
	t.Logf("largest NMSE %.2g", worst)
}

// testArgMax runs both kernels; the largest value comes twice in most cases, and the lower index must win.
func testArgMax(t *testing.T, d device) {
	for _, n := range []int{1, 2, 65, 1000, 5001} {
		for _, partials := range []int{0, 3} {
			for _, where := range [][]int{{0}, {n - 1}, {n / 2, n - 1}, {n / 3, n / 2}, {n/2 + 1, n / 2}} {
				x := normal(random(uint64(n)), n, 1)
				want := n
				for _, i := range where {
					if i < n {
						x[i] = 10
						want = min(want, i)
					}
				}
				if want == n {
					continue
				}
				s := schedules.DefaultArgMax(n, d.compat)
				if partials > 0 {
					s.Partials = partials
				}
				d.checkArgMax(t, s, x, want)
			}
		}
	}
	all := slices.Repeat([]float32{-5}, 300)
	d.checkArgMax(t, schedules.DefaultArgMax(300, d.compat), all, 0)
}

func (d device) checkArgMax(t *testing.T, s schedules.ArgMax, x []float32, want int) {
	t.Helper()
	k, err := kernels.ArgMaxPartials{N: len(x)}.Kernel(s, d.compat)
	partials := d.run(t, build(t, k, err), map[string][]byte{kernels.X: floats(x)})[kernels.Partials]
	k, err = kernels.ArgMaxFinal{N: len(x), Params: params}.Kernel(s, d.compat)
	before := unwords(record(41))
	before[plan.ParamsOutLen], before[plan.ParamsFlags], before[plan.ParamsRNG] = 15, 7, 9
	got := unwords(d.run(t, build(t, k, err), map[string][]byte{kernels.Partials: partials, kernels.Params: words(before)})[kernels.Params])
	after := slices.Clone(before)
	after[plan.ParamsToken], after[plan.ParamsPos], after[plan.ParamsLen], after[plan.ParamsOutLen] = uint32(want), 42, 43, 16
	after[params.RingAt+15] = uint32(want)
	if !slices.Equal(got, after) {
		t.Errorf("%d values, %v: params became %v, want %v", len(x), s, got, after)
	}
	after[plan.ParamsPos], after[plan.ParamsLen], after[plan.ParamsOutLen] = 43, 44, 17 // the ring is full: nothing else changes
	again := unwords(d.run(t, build(t, k, err), map[string][]byte{kernels.Partials: partials, kernels.Params: words(got)})[kernels.Params])
	if !slices.Equal(again, after) {
		t.Errorf("%d values, full ring: params became %v, want %v", len(x), again, after)
	}
}

func testAdvance(t *testing.T, d device) {
	k, err := kernels.Advance{Params: params}.Kernel()
	b := build(t, k, err)
	before := unwords(record(41))
	for i := range params.Ring {
		before[params.RingAt+i] = uint32(100 + i)
	}
	for read, token := range map[uint32]uint32{0: 100, 7: 107, 15: 115, 16: 115} {
		before[plan.ParamsOutLen] = read
		got := unwords(d.run(t, b, map[string][]byte{kernels.Params: words(before)})[kernels.Params])
		want := slices.Clone(before)
		want[plan.ParamsToken], want[plan.ParamsPos], want[plan.ParamsLen], want[plan.ParamsOutLen] = token, 42, 43, read+1
		if !slices.Equal(got, want) {
			t.Errorf("params became %v, want %v", got, want)
		}
	}
}
