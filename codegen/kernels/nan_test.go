package kernels_test

import (
	"math"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/schedules"
)

var (
	notANumber = math.Float32frombits(0x7fc00000)
	infinity   = float32(math.Inf(1))
)

// testOddScores gives attention a score that is NaN or +Inf, which makes NaN of its head, where the device keeps NaN, and nothing of
// the others.
func testOddScores(t *testing.T, d device) {
	for _, f16 := range []bool{false, true} {
		for _, window := range []int{0, 33} {
			a := kernels.AttentionDecode{Heads: 4, KVHeads: 2, Size: 64, Scale: 1, Window: window, Params: params, KV: cache(f16)}
			k, err := a.Kernel(schedules.DefaultAttention(a.Problem(), d.compat), d.compat)
			b := build(t, k, err)
			run := func(scores []float32) []float32 {
				return suite.Unfloats(d.run(t, b, suite.Scored(a, b, scores, 1))[kernels.Y])
			}
			plain := slices.Repeat([]float32{1}, 40)
			clean := run(plain)
			for name, bad := range map[string]float32{"NaN": notANumber, "+Inf": infinity} {
				scores := slices.Clone(plain)
				scores[35] = bad
				y := run(scores)
				if others := 2 * a.Size; !slices.Equal(y[others:], clean[others:]) {
					t.Errorf("%s: a score of %s in one head changes another", b.Name, name)
				}
				finite := slices.ContainsFunc(y[:2*a.Size], func(v float32) bool { return v == v })
				if finite && d.keepsNaN {
					t.Errorf("%s: a score of %s makes plausible numbers of its own head: %v", b.Name, name, y[:4])
				} else if finite {
					t.Logf("%s: this device hides a score of %s", b.Name, name)
				}
			}
		}
	}
}

// testNotANumber wants the other families to pass NaN on too: what is wrong shows in the logits, where commands refuse it.
func testNotANumber(t *testing.T, d device) {
	testOddScores(t, d)
	if !d.keepsNaN {
		t.Log("WGSL lets this device's compiler assume that there is no NaN")
		return
	}
	const n, at = 288, 100
	x := suite.Normal(suite.Random(1), n, 1)
	bad := slices.Clone(x)
	bad[at] = notANumber
	s := schedules.DefaultElementwise(d.portable)
	check := func(k kernels.Kernel, err error, named, result string, wrong func(i int) bool) {
		t.Helper()
		b := build(t, k, err)
		inputs := map[string][]byte{}
		for _, o := range b.Operands {
			switch o.Name {
			case named:
				inputs[named] = suite.Floats(bad)
			case result:
			default:
				inputs[o.Name] = suite.Floats(slices.Repeat([]float32{1}, int(o.Place.Bytes/4)))
			}
		}
		for i, v := range suite.Unfloats(d.run(t, b, inputs)[result]) {
			if (v != v) != wrong(i) {
				t.Errorf("%s: value %d of the result is %v where value %d of %s is NaN", b.Name, i, v, at, named)
			}
		}
	}
	its := func(i int) bool { return i == at }
	k, err := kernels.Softcap{N: n, Cap: 30}.Kernel(s, d.portable)
	check(k, err, kernels.X, kernels.Y, its)
	k, err = kernels.Add{N: n}.Kernel(s, d.portable)
	check(k, err, kernels.AddRight, kernels.Y, its)
	for _, act := range []ir.Activation{ir.SiLU, ir.GELU} {
		for _, operand := range []string{kernels.Gate, kernels.Up} {
			k, err = kernels.GLU{N: n, Act: act}.Kernel(s, d.portable)
			check(k, err, operand, kernels.Y, its)
		}
	}
	k, err = kernels.RMSNorm{Rows: 3, Columns: n / 3, Eps: 1e-5}.Kernel(schedules.DefaultRowReduce(n/3, d.portable), d.portable)
	check(k, err, kernels.X, kernels.Y, func(i int) bool { return i/(n/3) == at/(n/3) })
	k, err = kernels.GEMV{Format: quant.F32, Columns: n, Results: []int{5}, Epilogue: kernels.Store}.Kernel(
		schedules.DefaultGEMV(schedules.GEMVProblem{Rows: 5, Columns: n, Format: quant.F32, N: 1}, d.portable), d.portable)
	check(k, err, kernels.X, kernels.Result(0), func(int) bool { return true })

	// A vector of NaN, as a norm leaves it, has scales of NaN, so that products with it are NaN.
	k, err = kernels.QuantQ8{Columns: n}.Kernel(schedules.DefaultQuantQ8(d.portable), d.portable)
	b := build(t, k, err)
	for _, v := range []float32{notANumber, infinity} {
		got, err := suite.ReadQ8(d.run(t, b, map[string][]byte{kernels.X: suite.Floats(slices.Repeat([]float32{v}, n))})[kernels.Y], n)
		if err != nil {
			t.Fatal(err)
		}
		for i, scale := range got.D {
			if !(scale != scale || math.IsInf(float64(scale), 1)) || got.S[i] == got.S[i] {
				t.Errorf("%s: a block of %v has the scale %v and the sum %v", b.Name, v, scale, got.S[i])
			}
		}
	}
}
