package eval_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models"
)

const quantiseText = `graph "quantise"
	input x: f32[T, 64]
	%q, %q.d, %q.s = quant_q8 x : i8[T, 64], f32[T, 2], f32[T, 2]
	output %q, %q.d, %q.s`

func parse(t *testing.T, text string) *ir.Graph {
	t.Helper()
	g, err := ir.Parse("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// block is 32 values that start as given; the rest are zero.
func block(values ...float32) []float32 { return append(values, make([]float32, 32-len(values))...) }

func TestQuantise(t *testing.T) {
	const huge, least = math.MaxFloat32, 0x1p-118
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		x, codes []float32
		d, s     float32
	}{
		"ties go to the even code":             {block(127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.49, -3.51), block(127, 0, 2, 2, 0, -2, -2, 3, -4), 1, 126},
		"the largest magnitude is a 127":       {block(1, -4, 2), block(32, -127, 64), float32(4) / 127, float32(4) / 127 * -31}, // 31.75, 63.5
		"nothing":                              {block(), block(), 0, 0},
		"below what devices may flush":         {block(-least * (1 - 0x1p-24)), block(), 0, 0},
		"the least that is kept":               {block(least, -least/2), block(127, -64), float32(least) / 127, 63 * (float32(least) / 127)},
		"the largest numbers":                  {block(huge, -huge, huge/4), block(127, -127, 32), huge / 127, 32 * (float32(huge) / 127)},
		"what is no number makes the scale so": {block(1, nan), block(), nan, nan},
		"an infinity too":                      {block(1, float32(math.Inf(-1))), block(), nan, nan},
	} {
		t.Run(name, func(t *testing.T) {
			// The block comes second, after one that must not matter.
			got, err := eval.Evaluate(parse(t, quantiseText), values{"x": numbers(slices.Concat(block(3, 9), c.x)...)}, nil, ir.Sizes{T: 1, S: 1})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got["q"].F32[32:], c.codes) {
				t.Errorf("codes %v, want %v", got["q"].F32[32:], c.codes)
			}
			for name, want := range map[string]float32{"q.d": c.d, "q.s": c.s} {
				if have := got[name].F32[1]; have != want && !(have != have && want != want) {
					t.Errorf("%s is %v, want %v", name, have, want)
				}
			}
		})
	}
}

// Products with d·codes are those of linear with the same numbers, where they are f32: with scales that are powers of two.
func TestLinearQ8(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const tokens, columns, rows = 3, 64, 5
	var x, codes, scales, bias []float32
	for i := range tokens * columns {
		if i%32 == 0 {
			scales = append(scales, float32(math.Ldexp(1, -r.IntN(20))))
		}
		codes = append(codes, float32(r.IntN(255)-127))
		x = append(x, codes[i]*scales[i/32])
	}
	weights := make([]byte, rows*columns/32*18)
	for i := range weights {
		weights[i] = byte(r.Uint32() & 0x3f) // a scale below infinity
	}
	for range rows {
		bias = append(bias, float32(r.NormFloat64()))
	}
	source := eval.Bytes{"w": weights, "b": floats(bias...), "v": weights[:18*2]}
	sizes := ir.Sizes{T: tokens, S: tokens}
	want, err := eval.Evaluate(parse(t, `graph "f32"
		input x: f32[T, 64]
		weight w: q4_0[5, 64]
		weight b: f32[5]
		weight v: q4_0[1, 64]
		%y = linear x, w, b {bias=true} : f32[T, 5]
		%z, %u = linear x, v, w : f32[T, 1], f32[T, 5]
		output %y, %z, %u`), values{"x": numbers(x...)}, source, sizes)
	if err != nil {
		t.Fatal(err)
	}
	g := parse(t, `graph "q8"
		input c: i8[T, 64]
		input d: f32[T, 2]
		input s: f32[T, 2]
		weight w: q4_0[5, 64]
		weight b: f32[5]
		weight v: q4_0[1, 64]
		%y = linear_q8 c, d, s, w, b {bias=true} : f32[T, 5]
		%z, %u = linear_q8 c, d, s, v, w : f32[T, 1], f32[T, 5]
		output %y, %z, %u`)
	inputs := values{"c": numbers(codes...), "d": numbers(scales...), "s": numbers(make([]float32, len(scales))...)}
	got, err := eval.Evaluate(g, inputs, source, sizes)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"y", "z", "u"} {
		if !slices.Equal(got[name].F32, want[name].F32) {
			t.Errorf("%s is %v, want %v", name, got[name].F32, want[name].F32)
		}
	}
	for _, code := range []float32{-128, 128, 0.5, float32(math.NaN())} {
		inputs["c"].F32[7] = code
		if _, err := eval.Evaluate(g, inputs, source, sizes); err == nil || !strings.Contains(err.Error(), "input c: ") {
			t.Errorf("code %v: got %v", code, err)
		}
	}
}

// Models on the graph of the fast path stay within what 8-bit activations may do, and are not the exact ones.
func TestQuantisedModels(t *testing.T) {
	for _, name := range []string{"llama-q8_0", "llama-q4_0", "llama-q4_1", "qwen3-q4_0", "gemma3-q8_0"} {
		m := oracle.Load(t, name)
		h, err := models.FromGGUF(m.File)
		if err != nil {
			t.Fatal(err)
		}
		g, err := models.Build(h, models.Options{AllLogits: true})
		if err != nil {
			t.Fatal(err)
		}
		ir.QuantiseActivations(g)
		e, err := eval.New(g, m.File, 128)
		if err != nil {
			t.Fatal(err)
		}
		if f := m.CheckLogits(t, e, oracle.FastTiny); f.NMSE < 1e-7 {
			t.Errorf("%s: NMSE %.1e: activations are not rounded", name, f.NMSE)
		}
	}
}
