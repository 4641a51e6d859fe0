package eval_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
)

// floats encodes an F32 weight.
func floats(values ...float32) []byte {
	var data []byte
	for _, v := range values {
		b := math.Float32bits(v)
		data = append(data, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	}
	return data
}

type values = map[string]eval.Value

func numbers(v ...float32) eval.Value { return eval.Value{F32: v} }

// TestOps compares single ops with answers worked out by hand from their definitions.
func TestOps(t *testing.T) {
	root := float32(math.Sqrt(0.5))
	e1 := float32(1 / (1 + math.Exp(-1))) // softmax of (1, 0)
	for name, c := range map[string]struct {
		graph   string
		inputs  values
		weights eval.Bytes
		sizes   ir.Sizes
		want    eval.Value // of %y
	}{
		"embed scales rows": {
			`input tokens: u32[T]
			weight w: f32[3, 2]
			%y = embed w, tokens {scale=2} : f32[T, 2]`,
			values{"tokens": {U32: []uint32{2, 0}}}, eval.Bytes{"w": floats(1, 2, 3, 4, 5, 6)},
			ir.Sizes{T: 2, S: 2}, numbers(10, 12, 2, 4),
		},
		"rms_norm works on the last dimension, eps inside the root": {
			`input x: f32[T, 2, 2]
			weight w: f32[2]
			%y = rms_norm x, w {eps=3} : f32[T, 2, 2]`,
			values{"x": numbers(1, 1, -1, 1)}, eval.Bytes{"w": floats(2, 4)},
			ir.Sizes{T: 1, S: 1}, numbers(1, 2, -1, 2),
		},
		"linear multiplies by rows and adds biases": {
			`input x: f32[T, 2]
			weight a: f32[3, 2]
			weight b: f32[1, 2]
			weight ab: f32[3]
			weight bb: f32[1]
			%y, %z = linear x, a, b, ab, bb {bias=true} : f32[T, 3], f32[T, 1]`,
			values{"x": numbers(1, 10, 2, 20)},
			eval.Bytes{"a": floats(1, 0, 0, 1, 1, 1), "b": floats(5, 5), "ab": floats(0, 0, 100), "bb": floats(0)},
			ir.Sizes{T: 2, S: 2}, numbers(1, 10, 111, 2, 20, 122),
		},
		"rope norm turns neighbours; positions start at S-T": {
			`input x: f32[T, 1, 4]
			weight f: f32[1]
			%y = rope x, f {style=norm, dims=2, base=10000, factor=0.5} : f32[T, 1, 4]`,
			values{"x": numbers(1, 2, 3, 4)}, eval.Bytes{"f": floats(2 / math.Pi)}, // angle position·π/4
			ir.Sizes{T: 1, S: 3}, numbers(-2, 1, 3, 4), // a quarter turn at position 2
		},
		"rope neox turns halves": {
			`input x: f32[T, 2, 4]
			%y = rope x {style=neox, dims=4, base=16, factor=` + "0.7853981633974483" + `} : f32[T, 2, 4]`,
			values{"x": numbers(1, 1, 0, 0, 0, 0, 1, 1)}, nil,
			ir.Sizes{T: 1, S: 2}, // pair 0 turns π/4, pair 1 π/16
			numbers(root, float32(math.Cos(math.Pi/16)), root, float32(math.Sin(math.Pi/16)),
				-root, -float32(math.Sin(math.Pi/16)), root, float32(math.Cos(math.Pi/16))),
		},
		"kv_append keeps what was there and rounds to f16": {
			`input k: f32[T, 1, 2]
			input v: f32[T, 1, 2]
			%y = kv_append k, v {layer=3} : f16[2, S, 1, 2]`,
			values{"k": numbers(1.0001, 2), "v": numbers(3, 65519), "y": numbers(5, 6, 7, 8)}, nil,
			ir.Sizes{T: 1, S: 2}, numbers(5, 6, 1, 2, 7, 8, 3, 65504),
		},
		"attention is causal": {
			`input q: f32[T, 1, 1]
			input kv: f32[2, S, 1, 1]
			%y = attention q, kv {scale=0.5} : f32[T, 1, 1]`,
			values{"q": numbers(7, 2), "kv": numbers(1, 0, 1, 0)}, nil,
			ir.Sizes{T: 2, S: 2}, numbers(1, e1),
		},
		"attention sees window keys, itself included": {
			`input q: f32[T, 1, 1]
			input kv: f32[2, S, 1, 1]
			%y = attention q, kv {scale=1, window=2} : f32[T, 1, 1]`,
			values{"q": numbers(0), "kv": numbers(9, 9, 9, 9, 100, 10, 2, 4)}, nil,
			ir.Sizes{T: 1, S: 4}, numbers(3),
		},
		"attention groups query heads": {
			`input q: f32[T, 4, 1]
			input kv: f16[2, S, 2, 1]
			%y = attention q, kv {scale=1} : f32[T, 4, 1]`,
			values{"q": numbers(1, 2, 3, 4), "kv": numbers(1, 1, 5, 6)}, nil,
			ir.Sizes{T: 1, S: 1}, numbers(5, 5, 6, 6),
		},
		"glu gelu is the form with tanh": {
			`input a: f32[T, 1]
			input b: f32[T, 1]
			%y = glu a, b {act=gelu} : f32[T, 1]`,
			values{"a": numbers(1), "b": numbers(1)}, nil, ir.Sizes{T: 1, S: 1}, numbers(0.8411919906),
		},
		"last, softcap": {
			`input x: f32[T, 2]
			%l = last x : f32[1, 2]
			%y = softcap %l {cap=2} : f32[1, 2]`,
			values{"x": numbers(9, 9, 0, 2)}, nil, ir.Sizes{T: 2, S: 2}, numbers(0, float32(2*math.Tanh(1))),
		},
		"argmax takes the lowest of equals": {
			`input x: f32[2, 3]
			%y = argmax x : u32[2]`,
			values{"x": numbers(-3, -1, -1, 4, 4, 2)}, nil, ir.Sizes{T: 1, S: 1}, eval.Value{U32: []uint32{1, 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := ir.Parse(name, "graph \"op\"\n"+c.graph+"\noutput %y")
			if err != nil {
				t.Fatal(err)
			}
			got, err := eval.Evaluate(g, c.inputs, c.weights, c.sizes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got["y"], cmpopts.EquateApprox(1e-6, 1e-6), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestEvaluateMistakes(t *testing.T) {
	text := `graph "mistakes"
		input tokens: u32[T]
		weight w: q4_0[3, 32]
		weight unsupported: iq1_s[3, 256]
		%x = embed w, tokens : f32[T, 32]
		%y = embed unsupported, tokens : f32[T, 256]
		output %x`
	plain := strings.NewReplacer("weight unsupported: iq1_s[3, 256]", "", "%y = embed unsupported, tokens : f32[T, 256]", "").Replace(text)
	for name, c := range map[string]struct {
		graph   string
		inputs  values
		weights eval.Bytes
		sizes   ir.Sizes
		want    string
	}{
		"type":    {text, nil, eval.Bytes{"w": make([]byte, 54)}, ir.Sizes{T: 1, S: 1}, "weight unsupported: quant: tensors of type IQ1_S are not supported"},
		"bytes":   {plain, nil, eval.Bytes{"w": make([]byte, 53)}, ir.Sizes{T: 1, S: 1}, "weight w: q4_0[3, 32] needs 54 bytes, the file has 53"},
		"missing": {plain, nil, nil, ir.Sizes{T: 1, S: 1}, "weight w: no tensor w"},
		"input":   {plain, values{"tokens": {U32: []uint32{1}}}, eval.Bytes{"w": make([]byte, 54)}, ir.Sizes{T: 2, S: 2}, "graph mistakes: input tokens: u32[T] needs 2 elements, got 1"},
		"token":   {plain, values{"tokens": {U32: []uint32{3}}}, eval.Bytes{"w": make([]byte, 54)}, ir.Sizes{T: 1, S: 1}, "token 3: the vocabulary has 3"},
		"sizes":   {plain, nil, nil, ir.Sizes{T: 2, S: 1}, "graph mistakes: T = 2 and S = 1 are no sizes of a call"},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := ir.Parse(name, c.graph)
			if err != nil {
				t.Fatal(err)
			}
			_, err = eval.Evaluate(g, c.inputs, c.weights, c.sizes)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
