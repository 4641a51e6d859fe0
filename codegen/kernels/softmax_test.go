package kernels_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
	"github.com/x448/float16"
)

// scored is a cache of two heads in which key j of head 0 scores scores[j], and of head 1 its number, with a query that asks for the
// first element alone. Value j is 1 in element 0 and random in the others.
func scored(a kernels.AttentionDecode, scores []float32) (q []float32, kv []byte) {
	r := random(1)
	half := a.KV.Pages * a.KV.PageTokens * a.KVHeads * a.Size
	kv = make([]byte, 2*half*4)
	put := func(at int, v float32) { binary.LittleEndian.PutUint32(kv[4*at:], math.Float32bits(v)) }
	if a.KV.F16 {
		kv = make([]byte, 2*half*2)
		put = func(at int, v float32) { binary.LittleEndian.PutUint16(kv[2*at:], uint16(float16.Fromfloat32(v))) }
	}
	for i := range kv {
		kv[i] = sentinel & 0xff
	}
	for j := range scores {
		for h := range a.KVHeads {
			for e := range a.Size {
				at := element(a.KV, a.KVHeads, a.Size, j, h, e)
				put(at, 0)
				put(half+at, float32(r.NormFloat64()))
			}
			at := element(a.KV, a.KVHeads, a.Size, j, h, 0)
			put(half+at, 1)
			put(at, float32(j%7))
			if h == 0 {
				put(at, scores[j])
			}
		}
	}
	q = make([]float32, a.Heads*a.Size)
	for h := range a.Heads {
		q[h*a.Size] = 1
	}
	return q, kv
}

var (
	notANumber = math.Float32frombits(0x7fc00000)
	infinity   = float32(math.Inf(1))
)

// testSoftmax gives attention rows of scores that are easy to get wrong. Without any key the result is 0. A row of finite scores is the
// softmax, and its weights add up to 1. A score that is NaN or +Inf makes NaN of its head, where the device keeps NaN, and nothing of
// the others.
func testSoftmax(t *testing.T, d device) {
	rows := map[string][]float32{
		"one key": {-5}, "equal": slices.Repeat([]float32{88}, 77), "large and small": nil, "huge": nil, "ascending": nil,
	}
	for j := range 100 {
		rows["large and small"] = append(rows["large and small"], float32(1e4-2e4*float64((j+1)%3/2)))
		rows["huge"] = append(rows["huge"], float32(6e4*math.Sin(float64(j))))
		rows["ascending"] = append(rows["ascending"], float32(j*100))
	}
	var worst float64
	for _, f16 := range []bool{false, true} {
		for _, window := range []int{0, 33} {
			a := kernels.AttentionDecode{Heads: 4, KVHeads: 2, Size: 64, Scale: 1, Window: window, Params: params, KV: cache(f16)}
			k, err := a.Kernel(schedules.DefaultAttention(a.Problem(), d.compat), d.compat)
			b := build(t, k, err)
			run := func(scores []float32) []float32 {
				q, kv := scored(a, scores)
				record := unwords(record(max(0, len(scores)-1)))
				record[plan.ParamsLen] = uint32(len(scores))
				return unfloats(d.run(t, b, map[string][]byte{kernels.Params: words(record), kernels.Q: floats(q), kernels.KeyCache: kv[:len(kv)/2], kernels.ValueCache: kv[len(kv)/2:]})[kernels.Y])
			}
			if y := run(nil); slices.ContainsFunc(y, func(v float32) bool { return v != 0 }) {
				t.Errorf("%s: without keys the result is %v", b.Name, y)
			}
			for name, scores := range rows {
				y := run(scores)
				q, kv := scored(a, scores)
				closeTo(t, b.Name+", "+name, y, attention(a, q, cached(a.KV, kv), len(scores)-1), 1e-9, &worst)
				for h := range a.Heads {
					if e := math.Abs(float64(y[h*a.Size]) - 1); !(e <= 1e-5) {
						t.Errorf("%s, %s: the weights of head %d add up to 1 but for %g", b.Name, name, h, e)
					}
				}
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
	t.Logf("largest NMSE %.2g", worst)
}

// testNotANumber wants the other families to pass NaN on too: what is wrong shows in the logits, where commands refuse it.
func testNotANumber(t *testing.T, d device) {
	if !d.keepsNaN {
		t.Log("WGSL lets this device's compiler assume that there is no NaN")
		return
	}
	const n, at = 288, 100
	x := normal(random(1), n, 1)
	bad := slices.Clone(x)
	bad[at] = notANumber
	s := schedules.DefaultElementwise(d.portable)
	check := func(k kernels.Kernel, err error, named, result string, wrong func(i int) bool) {
		t.Helper()
		b := build(t, k, err)
		inputs := map[string][]byte{}
		for _, o := range b.operands {
			switch o.Name {
			case named:
				inputs[named] = floats(bad)
			case result:
			default:
				inputs[o.Name] = floats(slices.Repeat([]float32{1}, int(o.Place.Bytes/4)))
			}
		}
		for i, v := range unfloats(d.run(t, b, inputs)[result]) {
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
		got := readQ8(t, d.run(t, b, map[string][]byte{kernels.X: floats(slices.Repeat([]float32{v}, n))})[kernels.Y], n)
		for i, scale := range got.d {
			if !(scale != scale || math.IsInf(float64(scale), 1)) || got.s[i] == got.s[i] {
				t.Errorf("%s: a block of %v has the scale %v and the sum %v", b.Name, v, scale, got.s[i])
			}
		}
	}
}
