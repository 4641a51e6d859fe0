package kgen_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// paths are the two ways to store keys and values.
var paths = []struct {
	name   string
	kv     ir.Elem
	limits oracle.Limits
}{
	{"f32", ir.F32, oracle.GPU},
	{"f16", ir.F16, oracle.KVF16},
}

// device is an adapter with a profile fitted to it.
type device struct {
	adapter *webgpu.Adapter
	profile schedules.Profile
}

func newDevice(t testing.TB, profile string) device {
	t.Helper()
	a := gpu.Adapter(t)
	p, err := schedules.Lookup(profile)
	if err == nil {
		p, err = p.WithDevice(gpu.Measured(t, a))
	}
	if err != nil {
		t.Fatal(err)
	}
	return device{a, p}
}

// engine compiles the model and loads it; with keep, the residual stream stays readable.
func (d device) engine(t testing.TB, m *oracle.Model, kv ir.Elem, context int, keep bool) (*kgenrt.Engine, *webgpu.Device) {
	t.Helper()
	h, err := models.FromGGUF(m.File)
	if err != nil {
		t.Fatal(err)
	}
	g, err := models.Build(h, models.Options{KV: kv})
	if err != nil {
		t.Fatal(err)
	}
	opts := codegen.Options{Profile: d.profile, Context: context}
	if keep {
		for _, x := range models.LayerInputs(g) {
			opts.Keep = append(opts.Keep, x.Name)
		}
	}
	r, err := codegen.Compile(g, opts)
	if err != nil {
		t.Fatal(err)
	}
	backend := gpu.Open(t, d.adapter, r.Plan.Requires)
	e, err := kgenrt.NewEngine(t.Context(), r.Plan, backend, m.File, kgenrt.EngineOptions{Burst: 16})
	if err != nil {
		t.Fatal(err)
	}
	return e, backend
}

// traced answers the oracle's questions with two engines: the plan as it is used, and one that keeps the residual stream.
type traced struct {
	*kgenrt.Engine
	keeps *kgenrt.Engine
}

func (d device) traced(t testing.TB, m *oracle.Model, kv ir.Elem, context int) traced {
	used, _ := d.engine(t, m, kv, context, false)
	keeps, _ := d.engine(t, m, kv, context, true)
	return traced{used, keeps}
}

func (e traced) Trace(ctx context.Context, start int, tokens []uint32, yield func(pos, layer int, residual []float32) bool) error {
	if err := e.Prefill(ctx, start, tokens); err != nil {
		return err
	}
	return e.keeps.Trace(ctx, start, tokens, yield)
}

func (e traced) LogitsAll(ctx context.Context, start int, tokens []uint32, yield func(pos int, logits []float32) bool) error {
	return kgenrt.LogitsAll(ctx, e.Engine, start, tokens, yield)
}

// kernelModels are the tiny models whose kernels are built.
func kernelModels(t *testing.T) []string {
	want := []string{"llama-f16", "llama-rope3-f32", "gemma3-q8_0", "qwen2-f16", "qwen2-q8_0", "qwen3-q4_0", "qwen3-q4_k", "qwen3-q8_0"}
	for _, format := range []string{"q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "mxfp4"} {
		want = append(want, "llama-"+format)
	}
	for _, name := range want {
		if !slices.Contains(oracle.Tiny(), name) {
			t.Fatalf("the oracle data lack %s", name)
		}
	}
	return want
}

func TestTinyModels(t *testing.T) {
	for _, profile := range []string{"portable", "compat", "subgroups"} {
		d := newDevice(t, profile)
		for i, name := range kernelModels(t) {
			if profile == "compat" && i > 0 {
				continue // the kernels are those of portable
			}
			for _, path := range paths {
				t.Run(profile+"/"+name+"/"+path.name, func(t *testing.T) {
					m := oracle.Load(t, name)
					m.Check(t, d.traced(t, m, path.kv, 128), path.limits)
				})
			}
		}
	}
}

// full reports whether tests that take minutes run whole: where everything is required, as `make test` does.
func full() bool { return os.Getenv("KGEN_REQUIRE") == "1" }

func TestSmolLM2(t *testing.T) {
	m := oracle.LoadSmolLM2(t)
	if !full() {
		m = m.Only("capital", "count")
	}
	for _, path := range paths {
		t.Run("portable/"+path.name, func(t *testing.T) {
			d := newDevice(t, "portable")
			m.Check(t, d.traced(t, m, path.kv, 1024), path.limits)
		})
	}
	t.Run("subgroups/f32", func(t *testing.T) {
		d := newDevice(t, "subgroups")
		part := m.Only("capital", "count")
		part.Check(t, d.traced(t, part, ir.F32, 1024), oracle.GPU)
	})
}

// A burst is one submit and one wait, and gives what single steps give.
func TestBurst(t *testing.T) {
	m := oracle.Load(t, "llama-q4_1")
	e, backend := newDevice(t, "portable").engine(t, m, ir.F32, 128, false)
	prompt := m.Prompts[1].Tokens
	last := len(prompt) - 1
	if err := e.Prefill(t.Context(), 0, prompt[:last]); err != nil {
		t.Fatal(err)
	}
	var singles []uint32
	token := prompt[last]
	for i := range 8 {
		ids, err := e.Step(t.Context(), last+i, token, 1)
		if err != nil {
			t.Fatal(err)
		}
		token = ids[0]
		singles = append(singles, token)
	}
	before := backend.Stats()
	burst, err := e.Step(t.Context(), last, prompt[last], 8)
	if err != nil {
		t.Fatal(err)
	}
	after := backend.Stats()
	if !slices.Equal(burst, singles) {
		t.Errorf("a burst of 8 gives %v, single steps %v", burst, singles)
	}
	if submits, syncs := after.Submits-before.Submits, after.Syncs-before.Syncs; submits != 1 || syncs != 1 {
		t.Errorf("a burst took %d submits and %d syncs, want 1 and 1", submits, syncs)
	}
	if read := after.ReadBytes - before.ReadBytes; read != 8*4+4 {
		t.Errorf("a burst read %d bytes, want the 8 ids and the word that says whether they are some", read)
	}
}

// Bursts of any size, and steps longer than bursts and the ring, give the same logits and ids as token after token.
func TestBurstSizes(t *testing.T) {
	m := oracle.Load(t, "llama-q8_0")
	h, err := models.FromGGUF(m.File)
	if err != nil {
		t.Fatal(err)
	}
	g, err := models.Build(h, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := newDevice(t, "portable")
	r, err := codegen.Compile(g, codegen.Options{Profile: d.profile, Context: 256, Ring: 24})
	if err != nil {
		t.Fatal(err)
	}
	prompt := m.Prompts[2].Tokens
	last := len(prompt) - 1
	var want []float32
	var wantIDs []uint32
	for _, burst := range []int{1, 7, 256} {
		backend := gpu.Open(t, d.adapter, r.Plan.Requires)
		e, err := kgenrt.NewEngine(t.Context(), r.Plan, backend, m.File, kgenrt.EngineOptions{Burst: burst})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Prefill(t.Context(), 0, prompt[:last]); err != nil {
			t.Fatal(err)
		}
		logits := make([]float32, e.Vocab())
		if err := e.Logits(t.Context(), last, prompt[last], logits); err != nil {
			t.Fatal(err)
		}
		ids, err := e.Step(t.Context(), last, prompt[last], 60)
		if err != nil || len(ids) != 60 {
			t.Fatal(len(ids), err)
		}
		if want == nil {
			want, wantIDs = logits, ids
		} else if !slices.Equal(want, logits) || !slices.Equal(wantIDs, ids) {
			t.Errorf("bursts of %d give other logits or ids than bursts of 1", burst)
		}
	}
}

// plan.Backend is what the engine needs of a device.
var _ plan.Backend = (*webgpu.Device)(nil)
