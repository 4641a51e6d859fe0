package ir_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
)

const q4_1 = ir.Elem(quant.Q4_1)

// block builds one attention layer and a gated FFN: every op that a decoder needs.
func block() *ir.Builder {
	b := ir.NewBuilder("block")
	tokens := b.Input("tokens", ir.U32, ir.T)
	x := b.Node("x", ir.Embed, ir.Attrs{}, b.Weight("embd", q4_1, 96, 64), tokens)
	n := b.Node("n", ir.RMSNorm, ir.Attrs{Eps: 1e-5}, x, b.Weight("norm", ir.F32, 64))
	q := b.Linear([]string{"q"}, false, n, b.Weight("wq", q4_1, 64, 64))[0]
	k := b.Linear([]string{"k"}, false, n, b.Weight("wk", q4_1, 32, 64))[0]
	v := b.Linear([]string{"v"}, false, n, b.Weight("wv", q4_1, 32, 64))[0]
	rope := ir.Attrs{Style: ir.Norm, Dims: 16, Base: 10000}
	qr := b.Node("q.rope", ir.RoPE, rope, b.Reshape("q.heads", q, ir.T, 4, 16))
	kr := b.Node("k.rope", ir.RoPE, rope, b.Reshape("k.heads", k, ir.T, 2, 16), b.Weight("factors", ir.F32, 8))
	kv := b.KVAppend("kv", ir.F16, 0, kr, b.Reshape("v.heads", v, ir.T, 2, 16))
	a := b.Node("a", ir.Attention, ir.Attrs{Scale: 0.25}, qr, kv)
	o := b.Linear([]string{"o"}, true, b.Reshape("a.rows", a, ir.T, 64), b.Weight("wo", q4_1, 64, 64), b.Weight("wo.bias", ir.F32, 64))[0]
	h := b.Node("h", ir.Add, ir.Attrs{}, x, o)
	gate := b.Linear([]string{"gate"}, false, h, b.Weight("wgate", q4_1, 128, 64))[0]
	up := b.Linear([]string{"up"}, false, h, b.Weight("wup", q4_1, 128, 64))[0]
	f := b.Linear([]string{"f"}, false, b.Node("act", ir.GLU, ir.Attrs{Act: ir.SiLU}, gate, up), b.Weight("wdown", q4_1, 64, 128))[0]
	y := b.Node("last", ir.Last, ir.Attrs{}, b.Node("y", ir.Add, ir.Attrs{}, h, f))
	logits := b.Node("logits", ir.Softcap, ir.Attrs{Cap: 30}, b.Linear([]string{"head"}, false, y, b.Weight("embd", q4_1, 96, 64))[0])
	b.Output(logits, b.Node("next", ir.ArgMax, ir.Attrs{}, logits))
	return b
}

func TestBuild(t *testing.T) {
	g, err := block().Graph()
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]string{"kv": "f16[2, S, 2, 16]", "a": "f32[T, 4, 16]", "logits": "f32[1, 96]", "next": "u32[1]"}
	for _, n := range g.Nodes {
		for _, out := range n.Out {
			if want, ok := types[out.Name]; ok && out.Type().String() != want {
				t.Errorf("%s is %s, want %s", out.Name, out.Type(), want)
			}
		}
	}
	if n := len(g.Weights); n != 11 {
		t.Errorf("%d weights, want 11: the tied head is the embedding's tensor", n)
	}
}

func TestBuildMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		build func(b *ir.Builder, x *ir.Tensor)
		want  string
	}{
		"columns": {func(b *ir.Builder, x *ir.Tensor) { b.Linear([]string{"y"}, false, x, b.Weight("w", ir.F32, 8, 32)) },
			"y: operand w of linear: w is f32[8, 32], not [m, n] with n = 64"},
		"norm": {func(b *ir.Builder, x *ir.Tensor) {
			b.Node("y", ir.RMSNorm, ir.Attrs{}, x, b.Weight("w", ir.F32, 64))
		}, "y: attribute eps cannot be 0"},
		"foreign attribute": {func(b *ir.Builder, x *ir.Tensor) { b.Node("y", ir.Add, ir.Attrs{Layer: 3}, x, x) },
			"y: add has no attribute layer"},
		"operands": {func(b *ir.Builder, x *ir.Tensor) { b.Node("y", ir.Add, ir.Attrs{}, x) },
			"y: add takes a [...], b [...]; got 1 operands"},
		"biases": {func(b *ir.Builder, x *ir.Tensor) { b.Linear([]string{"y"}, true, x, b.Weight("w", ir.F32, 8, 64)) },
			"y: linear takes x [t, n], w [m, n]..., bias [m]... when bias is true; got 2 operands"},
		"name":    {func(b *ir.Builder, x *ir.Tensor) { b.Node("x", ir.Add, ir.Attrs{}, x, x) }, "x: the name is taken"},
		"reshape": {func(b *ir.Builder, x *ir.Tensor) { b.Reshape("y", x, ir.T, 3, 16) }, "y: cannot reshape f32[T, 64] to f32[T, 3, 16]: the elements differ"},
		"rope": {func(b *ir.Builder, x *ir.Tensor) {
			b.Node("y", ir.RoPE, ir.Attrs{Style: ir.Norm, Dims: 18, Base: 1e4}, b.Reshape("h", x, ir.T, 4, 16))
		}, "y: attribute dims is 18, not an even number from 2 to the head's 16"},
		"op": {func(b *ir.Builder, x *ir.Tensor) { b.Node("y", 0, ir.Attrs{}, x) }, "y: op(0) is not an op"},
		"blocks": {func(b *ir.Builder, x *ir.Tensor) { b.Weight("w", q4_1, 4, 40) },
			"w: w is q4_1[4, 40]: rows are not whole blocks"},
	} {
		t.Run(name, func(t *testing.T) {
			b := ir.NewBuilder("broken")
			x := b.Input("x", ir.F32, ir.T, 64)
			c.build(b, x)
			b.Output(x)
			_, err := b.Graph()
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
