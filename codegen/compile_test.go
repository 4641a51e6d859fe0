package codegen_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// graph reads the graph of a golden case after edits to its text, each an old and a new part.
func graph(t *testing.T, name string, edits ...string) *ir.Graph {
	t.Helper()
	text, err := os.ReadFile("../golden/cases/" + name + "/graph.ir")
	if err != nil {
		t.Fatal(err)
	}
	edited := string(text)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(edited, edits[i]) {
			t.Fatalf("the case does not hold %q", edits[i])
		}
		edited = strings.ReplaceAll(edited, edits[i], edits[i+1])
	}
	g, err := ir.Parse(name, edited)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func profile(t *testing.T, name string) schedules.Profile {
	t.Helper()
	p, err := schedules.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	if p.Subgroups && p.SubgroupSize == 0 {
		p.SubgroupSize = 32
	}
	return p
}

// shape is a model of a real one's sizes whose weights are all of one type. No bytes are needed to compile it.
func shape(t *testing.T, layers int, weights quant.Type, kv ir.Elem) *ir.Graph {
	t.Helper()
	h := models.Hyperparameters{
		Name: "smollm2", Architecture: "llama", Layers: layers, Width: 576, FFN: 1536, Heads: 9, KVHeads: 3, HeadDim: 64, Vocab: 49152, Context: 8192,
		Eps: 1e-5, AttentionScale: 0.125, Activation: ir.SiLU, RoPEStyle: ir.Norm, RoPEDims: 64, RoPEBase: 1e5, Tied: true,
	}
	if block, _ := weights.Block(); 576%block.Elems != 0 { // rows of whole blocks
		h.Width, h.Heads, h.KVHeads = 768, 12, 4
	}
	h.FillTensors(ir.Elem(weights))
	g, err := models.Build(h, models.Options{KV: kv})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Every kernel of every format fits the strictest profile, layers share kernels, and no profile changes that.
func TestBindingsFit(t *testing.T) {
	for i, format := range kernels.Formats() {
		g := shape(t, 3, format, ir.F16)
		for j, p := range schedules.Profiles() {
			if p.Name != "compat" && (i+j)%3 != 0 { // a third suffices for profiles with room for eight
				continue
			}
			r, err := codegen.Compile(g, codegen.Options{Profile: profile(t, p.Name), Context: 1024})
			if err != nil {
				t.Fatalf("%v for %s: %v", format, p.Name, err)
			}
			if n := len(r.Plan.Kernels); n > 20 {
				t.Errorf("%v for %s: %d pipelines, want at most 20", format, p.Name, n)
			}
			for _, k := range r.Plan.Kernels {
				if len(k.Bindings) > 4 {
					t.Errorf("%v for %s: kernel %s has %d bindings, want at most 4", format, p.Name, k.Name, len(k.Bindings))
				}
			}
		}
	}
}

func TestPhases(t *testing.T) {
	r, err := codegen.Compile(graph(t, "q4_0_portable"), codegen.Options{Profile: profile(t, "portable"), Context: 64})
	if err != nil {
		t.Fatal(err)
	}
	names := func(phase plan.Phase) string {
		l, ok := r.Plan.List(phase, 1)
		if !ok {
			t.Fatalf("there is no list for %v", phase)
		}
		var all []string
		for at := 0; at < len(l.Records); at += plan.RecordWords {
			all = append(all, r.Plan.Kernels[l.Records[at]].Name)
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct {
		phase         plan.Phase
		kernel        string
		first, absent bool
	}{
		{plan.Prefill, "advance", false, false},
		{plan.Prefill, "argmax", false, true},
		{plan.Decode, "argmax_final", false, false},
		{plan.Decode, "advance", false, true},
		{plan.Forward, "argmax", false, true},
		{plan.Forward, "advance", false, true},
	} {
		if got := strings.Contains(names(c.phase), c.kernel); got == c.absent {
			t.Errorf("%v: kernel %s in the list: %v", c.phase, c.kernel, got)
		}
	}
	if n := strings.Count(names(plan.Prefill), "attention"); n != 1 {
		t.Errorf("prefill computes attention in %d of 2 layers; the last one's result is not needed", n)
	}
}

// A cache that exceeds a buffer is cut between layers; keys of a layer that exceed a binding are refused by name.
func TestCacheIsCut(t *testing.T) {
	g := shape(t, 30, quant.Q4_1, ir.F32)
	r, err := codegen.Compile(g, codegen.Options{Profile: profile(t, "portable"), Context: 8192})
	if err != nil {
		t.Fatal(err)
	}
	buffers := 0
	for _, b := range r.Plan.Buffers {
		if b.Kind == plan.KVBuffer {
			buffers++
		}
	}
	if buffers != 2 {
		t.Errorf("360 MiB of cache lie in %d buffers of at most 256 MiB, want 2", buffers)
	}
	p := profile(t, "portable")
	p.Limits.BindingBytes = 32 << 20
	_, err = codegen.Compile(g, codegen.Options{Profile: p, Context: 50000})
	var limit *plan.LimitError
	if !errors.As(err, &limit) || limit.Limit != "maxStorageBufferBindingSize" || !strings.Contains(limit.Subject, "keys of layer 0") {
		t.Errorf("a cache layer above the binding limit: %v", err)
	}
}

func TestUnsupported(t *testing.T) {
	for _, c := range []struct {
		name  string
		edits []string
		want  string
	}{
		{"a weight type without kernels", []string{"blk.0.attn_output.weight: q4_0[64, 64]", "blk.0.attn_output.weight: bf16[64, 64]"}, "weight blk.0.attn_output.weight"},
		{"keys that are not rotated", []string{"%layer.0.kv = kv_append %layer.0.attn_k.rope", "%layer.0.kv = kv_append %layer.0.attn_k.heads"}, "node layer.0.kv (kv_append): keys without RoPE"},
		{"queries that rotate differently", []string{"%layer.1.attn_q.rope = rope %layer.1.attn_q.heads {style=norm, dims=16, base=10000}", "%layer.1.attn_q.rope = rope %layer.1.attn_q.heads {style=norm, dims=16, base=500}"}, "node layer.1.kv (kv_append): queries and keys rotate differently"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := codegen.Compile(graph(t, "q4_0_portable", c.edits...), codegen.Options{Profile: profile(t, "portable"), Context: 64})
			var unsupported *codegen.UnsupportedError
			if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an UnsupportedError about %q", err, c.want)
			}
		})
	}
}

// Every tiny model compiles, exact and fast: the families with biases and norms of heads within the four bindings of
// the strictest too.
func TestFamiliesFit(t *testing.T) {
	for _, name := range oracle.Tiny() {
		m := oracle.Load(t, name)
		h, err := models.FromGGUF(m.File)
		if err != nil {
			t.Fatal(err)
		}
		g, err := models.Build(h, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"compat", "subgroups"} {
			for _, fast := range []bool{false, true} {
				if _, err = codegen.Compile(g, codegen.Options{Profile: profile(t, p), Context: 64, Fast: fast}); err != nil {
					t.Errorf("%s for %s, fast %v: %v", name, p, fast, err)
				}
			}
		}
	}
}

// Compiling changes nothing of the graph it is given.
func TestGraphIsKept(t *testing.T) {
	g := graph(t, "q4_0_portable")
	before := ir.Print(g)
	if _, err := codegen.Compile(g, codegen.Options{Profile: profile(t, "portable"), Context: 64}); err != nil {
		t.Fatal(err)
	}
	if ir.Print(g) != before {
		t.Error("the graph was changed")
	}
}

// What a recipe makes of a weight, run backwards, is the weight: for every tensor of a real file's formats.
func TestRecipesInvert(t *testing.T) {
	for _, name := range oracle.Tiny() {
		m := oracle.Load(t, name)
		h, err := models.FromGGUF(m.File)
		if err != nil {
			t.Fatal(err)
		}
		g, err := models.Build(h, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := profile(t, "portable")
		p.Limits.BindingBytes = 64 << 10 // cuts the larger weights
		r, err := codegen.Compile(g, codegen.Options{Profile: p, Context: 64})
		if err != nil {
			t.Fatal(err)
		}
		loaded := map[string]int{}
		for _, w := range r.Plan.Weights {
			want, err := m.File.Bytes(w.Tensor)
			if err != nil {
				t.Fatal(err)
			}
			want = want[w.From*w.Recipe.RowBytes():][:w.Recipe.Rows*w.Recipe.RowBytes()]
			loaded[w.Tensor] += len(want)
			got := make([]byte, len(want))
			for i := range w.Recipe.Planes {
				_, n := w.Recipe.Span(i, 0, w.Recipe.Rows)
				plane := make([]byte, n)
				w.Recipe.Repack(i, plane, 0, w.Recipe.Rows, want)
				w.Recipe.Restore(i, got, 0, w.Recipe.Rows, plane)
			}
			if string(got) != string(want) {
				t.Errorf("%s: %s does not come back as it was", name, w.Tensor)
			}
		}
		for tensor, bytes := range loaded {
			if whole, err := m.File.Bytes(tensor); err != nil || bytes != len(whole) {
				t.Errorf("%s: %d bytes of %s are loaded, it has %d (%v)", name, bytes, tensor, len(whole), err)
			}
		}
	}
}

// At 32768 positions the caches of presets lie in several buffers, none larger than a device has to have. Where keys and values together
// exceed a binding they have one each.
func TestLongContexts(t *testing.T) {
	apart := false
	for _, p := range models.Presets() {
		if p.Context < 32768 {
			continue
		}
		for _, kv := range []ir.Elem{ir.F16, ir.F32} {
			g, err := models.Build(p.Hyperparameters, models.Options{KV: kv})
			if err != nil {
				t.Fatal(err)
			}
			r, err := codegen.Compile(g, codegen.Options{Profile: profile(t, "portable"), Context: 32768})
			if err != nil {
				t.Errorf("%s, %v cache: %v", p.Name, kv, err)
				continue
			}
			buffers := map[int]bool{}
			for _, half := range r.Plan.KV.Layers {
				buffers[half.Buffer] = true
			}
			if len(buffers) < 2 {
				t.Errorf("%s, %v cache: %d buffers", p.Name, kv, len(buffers))
			}
			for _, k := range r.Plan.Kernels {
				for _, b := range k.Bindings {
					apart = apart || b.Name == kernels.ValueCache
				}
			}
		}
	}
	if !apart {
		t.Error("no cache is so large that keys and values are bound apart")
	}
}
