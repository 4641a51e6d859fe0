package suite

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// What trials want is what the evaluator computes: its results, in place of a kernel's, pass every check.
func TestEvaluatorPasses(t *testing.T) {
	p, err := schedules.Lookup("portable")
	if err != nil {
		t.Fatal(err)
	}
	trials := map[string]int{}
	for _, c := range Cases(p) {
		k, err := c.Kernel()
		if err != nil {
			t.Fatal(err)
		}
		e := evaluated{t: t, k: k}
		if !e.knows() || c.Size > 100_000 || c.turn%3 != 0 {
			continue
		}
		all, err := c.draw(k, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, trial := range all {
			e.inputs = map[string][]byte{}
			for _, o := range k.Operands {
				e.inputs[o.Name] = sentinels(0, o.Place.Bytes).Data
				for _, p := range trial.Inputs[o.Name] {
					copy(e.inputs[o.Name][p.Offset:], p.Data)
				}
			}
			if out := e.run(); out == nil {
				continue
			} else if err := trial.Check(out); err != nil {
				t.Errorf("%s/%s, %s: %v", c.Family, c.Name, trial.Name, err)
			}
			trials[c.Family]++
		}
	}
	for _, family := range []string{"gemv", "gemv_exact", "rmsnorm", "elementwise", "rope", "attention", "softmax"} {
		if trials[family] < 4 {
			t.Errorf("the evaluator computed %d trials of %s", trials[family], family)
		}
	}
}

// evaluated computes what a kernel is for with the evaluator.
type evaluated struct {
	t      *testing.T
	k      *Kernel
	inputs map[string][]byte
}

func (e evaluated) knows() bool {
	switch p := e.k.Problem.(type) {
	case kernels.GEMV:
		return p.X != schedules.XQ8 // whose trials ask the evaluator themselves
	case kernels.RMSNorm, kernels.Add, kernels.GLU, kernels.Softcap, kernels.RoPEKV, kernels.AttentionDecode:
		return true
	}
	return false
}

// run returns the operands that the kernel writes; nil for a trial that no graph says.
func (e evaluated) run() map[string][]byte {
	one := ir.Sizes{T: 1, S: 1}
	switch p := e.k.Problem.(type) {
	case kernels.RMSNorm:
		y := e.graph(fmt.Sprintf("input x: f32[T, %d, %d]\nweight weights: f32[%[2]d]\n%%y = rms_norm x, weights {eps=%v} : f32[T, %[1]d, %[2]d]\n", p.Rows, p.Columns, p.Eps), one, nil, nil)
		return map[string][]byte{kernels.X: y, kernels.Y: y}
	case kernels.Add:
		y := e.graph(fmt.Sprintf("input a: f32[T, %d]\ninput b: f32[T, %[1]d]\n%%y = add a, b : f32[T, %[1]d]\n", p.N), one, nil, nil)
		return map[string][]byte{kernels.AddLeft: y, kernels.Y: y}
	case kernels.GLU:
		act := map[ir.Activation]string{ir.SiLU: "silu", ir.GELU: "gelu"}[p.Act]
		y := e.graph(fmt.Sprintf("input gate: f32[T, %d]\ninput up: f32[T, %[1]d]\n%%y = glu gate, up {act=%s} : f32[T, %[1]d]\n", p.N, act), one, nil, nil)
		return map[string][]byte{kernels.Y: y}
	case kernels.Softcap:
		y := e.graph(fmt.Sprintf("input x: f32[T, %d]\n%%y = softcap x {cap=%v} : f32[T, %[1]d]\n", p.N, p.Cap), one, nil, nil)
		return map[string][]byte{kernels.Y: y}
	case kernels.GEMV:
		return e.product(p)
	case kernels.RoPEKV:
		return e.rotated(p)
	case kernels.AttentionDecode:
		return e.attended(p)
	}
	return nil
}

// graph evaluates a graph of one node whose inputs and f32 weights are operands, and those given, and returns y.
func (e evaluated) graph(text string, sizes ir.Sizes, more map[string]eval.Value, weights eval.Bytes) []byte {
	e.t.Helper()
	g, err := ir.Parse("graph", "graph \"one\"\n"+text+"output %y\n")
	if err != nil {
		e.t.Fatalf("%v\n%s", err, text)
	}
	inputs := map[string]eval.Value{}
	for _, in := range g.Inputs {
		inputs[in.Name] = eval.Value{F32: Unfloats(e.inputs[in.Name])}
	}
	for name, v := range more {
		inputs[name] = v
	}
	source := eval.Bytes{}
	for _, w := range g.Weights {
		source[w.Name] = e.inputs[w.Name]
	}
	for name, data := range weights {
		source[name] = data
	}
	values, err := eval.Evaluate(g, inputs, source, sizes)
	if err != nil {
		e.t.Fatal(err)
	}
	return Floats(values["y"].F32)
}

// product multiplies with weights that are restored from their planes.
func (e evaluated) product(g kernels.GEMV) map[string][]byte {
	recipe, err := kernels.Recipe(g.Format, g.Columns)
	if err != nil {
		e.t.Fatal(err)
	}
	recipe.Rows = g.Problem().Rows
	raw := make([]byte, recipe.Rows*recipe.RowBytes())
	for j, p := range recipe.Planes {
		recipe.Restore(j, raw, 0, recipe.Rows, e.inputs[p.Name])
	}
	text := fmt.Sprintf("input x: f32[T, %d]\nweight w: %s[%d, %[1]d]\n", g.Columns, strings.ToLower(quant.Type(g.Format).String()), recipe.Rows)
	if g.Bias {
		text += fmt.Sprintf("weight bias: f32[%d]\n%%y = linear x, w, bias {bias=true} : f32[T, %[1]d]\n", recipe.Rows)
	} else {
		text += fmt.Sprintf("%%y = linear x, w : f32[T, %d]\n", recipe.Rows)
	}
	y := e.graph(text, ir.Sizes{T: 1, S: 1}, nil, eval.Bytes{"w": raw})
	out := map[string][]byte{}
	for i, rows := range g.Results {
		part := Unfloats(y[:4*rows])
		if g.Epilogue.Name != "" {
			for row, before := range Unfloats(e.inputs[kernels.Result(i)]) {
				part[row] += before
			}
		}
		out[kernels.Result(i)], y = Floats(part), y[4*rows:]
	}
	return out
}

// rotated rotates query and key, and stores key and value where the params say.
func (e evaluated) rotated(r kernels.RoPEKV) map[string][]byte {
	record := Unwords(e.inputs[kernels.Params])
	position := min(int(record[plan.ParamsPos]), r.Positions-1)
	style := map[ir.RoPEStyle]string{ir.Norm: "norm", ir.NeoX: "neox"}[r.Style]
	turn := func(name string, heads int) []byte {
		return e.graph(fmt.Sprintf("input %[1]s: f32[T, %[2]d, %[3]d]\n%%y = rope %[1]s {style=%[4]s, dims=%[5]d, base=10000} : f32[T, %[2]d, %[3]d]\n",
			name, heads, r.Size, style, r.Dims), ir.Sizes{T: 1, S: position + 1}, nil, nil)
	}
	c := cache{KV: r.KV, heads: r.KVHeads, size: r.Size, pages: record[r.Params.PagesAt:][:r.Params.Pages]}
	out := map[string][]byte{kernels.Q: turn(kernels.Q, r.Heads)}
	for name, stored := range map[string][]byte{kernels.KeyCache: turn(kernels.K, r.KVHeads), kernels.ValueCache: e.inputs[kernels.V]} {
		out[name] = bytes.Clone(e.inputs[name])
		p := c.part(position, Unfloats(stored))
		copy(out[name][p.Offset:], p.Data)
	}
	return out
}

// attended attends to the keys that the cache holds. The evaluator wants a new token, which is the last.
func (e evaluated) attended(a kernels.AttentionDecode) map[string][]byte {
	record := Unwords(e.inputs[kernels.Params])
	n := int(record[plan.ParamsLen])
	if n == 0 {
		return nil
	}
	c := cache{KV: a.KV, heads: a.KVHeads, size: a.Size, pages: record[a.Params.PagesAt:][:a.Params.Pages]}
	rows := func(half string, from, to int) (all []float32) {
		for position := from; position < to; position++ {
			at := c.element(position) * c.elementBytes()
			all = append(all, c.numbers(e.inputs[half][at:][:c.heads*c.size*c.elementBytes()])...)
		}
		return all
	}
	window := ""
	if a.Window > 0 {
		window = fmt.Sprintf(", window=%d", a.Window)
	}
	text := fmt.Sprintf("input q: f32[T, %[1]d, %[2]d]\ninput k: f32[T, %[3]d, %[2]d]\ninput v: f32[T, %[3]d, %[2]d]\n"+
		"%%c = kv_append k, v {layer=0} : %[4]s[2, S, %[3]d, %[2]d]\n%%y = attention q, %%c {scale=%[5]v%[6]s} : f32[T, %[1]d, %[2]d]\n",
		a.Heads, a.Size, a.KVHeads, cacheName(a.KV.F16), a.Scale, window)
	more := map[string]eval.Value{
		"k": {F32: rows(kernels.KeyCache, n-1, n)}, "v": {F32: rows(kernels.ValueCache, n-1, n)},
		"c": {F32: slices.Concat(rows(kernels.KeyCache, 0, n-1), rows(kernels.ValueCache, 0, n-1))},
	}
	return map[string][]byte{kernels.Y: e.graph(text, ir.Sizes{T: 1, S: n}, more, nil)}
}
