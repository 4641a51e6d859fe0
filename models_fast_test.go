package kgen_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// fast compiles the model for the fast path and loads it; the graph is the one that the plan computes.
func (d device) fast(t testing.TB, m *oracle.Model, context int) (*kgenrt.Engine, *ir.Graph) {
	t.Helper()
	h, err := models.FromGGUF(m.File)
	if err != nil {
		t.Fatal(err)
	}
	g, err := models.Build(h, models.Options{KV: ir.F32})
	if err != nil {
		t.Fatal(err)
	}
	r, err := codegen.Compile(g, codegen.Options{Profile: d.profile, Context: context, Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	backend := gpu.Open(t, d.adapter, r.Plan.Requires)
	e, err := kgenrt.NewEngine(t.Context(), r.Plan, backend, m.File, kgenrt.EngineOptions{Burst: 16})
	if err != nil {
		t.Fatal(err)
	}
	return e, r.Graph
}

// plain reports whether a model has no weights that kernels multiply with codes.
func plain(model string) bool {
	return strings.HasSuffix(model, "-f16") || strings.HasSuffix(model, "-f32")
}

func TestFastTinyModels(t *testing.T) {
	for _, profile := range []string{"portable", "compat", "subgroups"} {
		d := newDevice(t, profile)
		for i, name := range slices.DeleteFunc(kernelModels(t), plain) {
			if profile == "compat" && i > 0 {
				continue // the kernels are those of portable, with unpacked products
			}
			t.Run(profile+"/"+name, func(t *testing.T) {
				m := oracle.Load(t, name)
				e, g := d.fast(t, m, 128)
				figures := m.CheckLogits(t, traced{Engine: e}, oracle.FastTiny)
				if figures.NMSE < 1e-7 {
					t.Errorf("logits differ by an NMSE of %.1e: activations are not rounded", figures.NMSE)
				}
				machine, err := eval.New(g, m.File, 128)
				if err != nil {
					t.Fatal(err)
				}
				agree(t, m, e, machine)
			})
		}
	}
}

func TestFastSmolLM2(t *testing.T) {
	m := oracle.LoadSmolLM2(t)
	prompts, positions := m, 0
	if !full() {
		prompts, positions = m.Only("capital", "count"), 32
	}
	for _, profile := range []string{"portable", "subgroups"} {
		t.Run(profile, func(t *testing.T) {
			d := newDevice(t, profile)
			e, _ := d.fast(t, m, 1024)
			whole := profile == "portable" || d.adapter.Info().Kind == "gpu" // a software adapter takes minutes
			if !whole {
				prompts = m.Only("capital", "count")
			}
			prompts.CheckLogits(t, traced{Engine: e}, oracle.FastReal)
			if whole {
				exact, _ := d.engine(t, m, ir.F32, 1024, false)
				m.Text.Agree(t, traced{Engine: e}, traced{Engine: exact}, positions, oracle.Fast)
			}
		})
	}
}

// agree compares the logits of an engine after every position of all prompts with those of the evaluator on the same graph.
//
// As long as both have made the same codes they agree as on the exact path. But a device's x differs in its last bits, and
// where x/d is that close to a tie its code is another one. That moves a product by d·w, millions of times more than the last
// bits, so more codes of the layers and positions after it change too, and from then on the two are independent roundings of
// one model: they may lie as far apart as either may lie from the exact path, no closer. So positions before the first such
// code are held to the exact path's limit, those after it to the fast one's.
func agree(t *testing.T, m *oracle.Model, e *kgenrt.Engine, machine *eval.Machine) {
	t.Helper()
	got, want := make([]float32, e.Vocab()), make([]float32, e.Vocab())
	equal := 0
	for _, p := range m.Prompts {
		same, worstSame, worst := 0, 0.0, 0.0
		for pos, token := range p.Tokens {
			if err := e.Logits(t.Context(), pos, token, got); err != nil {
				t.Fatal(err)
			}
			if err := machine.Logits(t.Context(), pos, token, want); err != nil {
				t.Fatal(err)
			}
			nmse := oracle.NMSE(got, want)
			if !(nmse <= oracle.FastTiny.NMSE) {
				t.Errorf("%s, position %d: NMSE %.2g to the evaluator on the same graph", p.Name, pos, nmse)
			}
			worst = max(worst, nmse)
			if same == pos && nmse <= oracle.GPU.NMSE {
				same++
				worstSame = worst
			}
		}
		t.Logf("%s: to the evaluator on the same graph, NMSE %.1e at most over %d of %d positions, %.1e over all", p.Name, worstSame, same, len(p.Tokens), worst)
		equal += same
	}
	if equal < 5 {
		t.Errorf("codes are those of the evaluator up to %d positions in all", equal)
	}
}
