package kgen_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/gen/smollm2_135m"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// A model loads on the simulator as on any device, and gives the oracle's ids.
func TestSimulator(t *testing.T) {
	m := oracle.Load(t, "llama-q4_1").Only("mid")
	var log []string
	model, err := kgen.Load(t.Context(), write(t, "tiny.gguf", oracle.Bytes(t, "llama-q4_1.gguf")), kgen.Options{
		Device: "sim", Exact: true, Context: 64, Log: func(line string) { log = append(log, line) },
	})
	ok(t, err)
	defer model.Close()
	if d := model.Device(); d.Kind != "sim" || d.Name != "simulator" || d.SubgroupSize != 32 || model.Path() != "exact" {
		t.Errorf("device %+v, path %s", d, model.Path())
	}
	if !strings.Contains(strings.Join(log, "\n"), "device: the simulator, as asked, with subgroups of 32; profile subgroups") {
		t.Errorf("log %q", log)
	}
	s, err := model.NewSession()
	ok(t, err)
	var ids []uint32
	for piece, err := range s.GenerateIDs(t.Context(), m.Prompts[0].Tokens, kgen.Generation{MaxTokens: 2, IgnoreEnd: true}) {
		ok(t, err)
		ids = append(ids, piece.IDs...)
	}
	if !slices.Equal(ids, m.Prompts[0].Greedy[:2]) {
		t.Errorf("ids %v, want %v", ids, m.Prompts[0].Greedy[:2])
	}
	for _, f := range model.Findings() {
		t.Errorf("%s: %v", f.Kernel, f)
	}
	if model.Stats().Dispatches == 0 {
		t.Error("no dispatches were counted")
	}
}

// What the simulator doesn't have is refused, and no other device takes a size of subgroups.
func TestSimulatorRefuses(t *testing.T) {
	path := write(t, "tiny.gguf", oracle.Bytes(t, "llama-q4_1.gguf"))
	for _, c := range []struct {
		opts kgen.Options
		code kgenrt.Code
		want string
	}{
		{kgen.Options{Device: "simulator"}, kgenrt.BadRequest, "use auto, native, cpu or sim"},
		{kgen.Options{Device: "sim", SubgroupSize: 12}, kgenrt.BadRequest, "it has those of [4 8 16 32 64 128]"},
		{kgen.Options{Device: "cpu", SubgroupSize: 32}, kgenrt.BadRequest, "only the simulator"},
		{kgen.Options{SubgroupSize: 32}, kgenrt.BadRequest, "only the simulator"},
		{kgen.Options{Device: "sim", Adapter: "0"}, kgenrt.BadRequest, "needs none"},
		{kgen.Options{Device: "sim", Library: "libdawn.so"}, kgenrt.BadRequest, "needs none"},
		{kgen.Options{Device: "sim", Profile: "nothing"}, kgenrt.BadRequest, "nothing"},
		{kgen.Options{Device: "sim", Profile: "nvidia-h200", SubgroupSize: 64}, kgenrt.LimitExceeded, "subgroup size"},
	} {
		m, err := kgen.Load(t.Context(), path, c.opts)
		if err == nil {
			m.Close()
		}
		var coded *kgenrt.Error
		if !errors.As(err, &coded) || coded.Code != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s with %q", c.opts, err, c.code, c.want)
		}
	}
}

// A variant as generated packages have them runs on the simulator too, which is not told of its operands. With subgroups goes first.
func TestSimulatorRunsVariants(t *testing.T) {
	f, err := kgen.OpenFile(write(t, "tiny.gguf", oracle.Bytes(t, "llama-q4_1.gguf")))
	ok(t, err)
	defer f.Close()
	g, err := f.Graph(ir.F32, false)
	ok(t, err)
	var variants []kgenrt.Variant
	for _, name := range []string{"portable", "subgroups"} {
		profile, err := schedules.Lookup(name)
		ok(t, err)
		if profile.Subgroups {
			profile.SubgroupSize = 16
		}
		r, err := f.Compile(kgen.CompileOptions{Profile: profile, Context: 64, KV: ir.F32})
		ok(t, err)
		variants = append(variants, kgenrt.Variant{
			Name: name, Graph: ir.Hash(g), Profile: name, Activations: kgenrt.Exact, KV: "f32", Context: 64,
			Requires: r.Plan.Requires, Build: func(b *plan.Builder) { rebuild(b, r.Plan) },
		})
	}
	var log []string
	m, err := f.Load(t.Context(), kgen.Options{
		Device: "sim", SubgroupSize: 16, Exact: true, Variants: variants, Log: func(line string) { log = append(log, line) },
	})
	ok(t, err)
	defer m.Close()
	if !slices.Contains(log, "variant subgroups for simulator") || m.Device().SubgroupSize != 16 {
		t.Errorf("device %+v, log %q", m.Device(), log)
	}
	p := oracle.Load(t, "llama-q4_1").Only("short").Prompts[0]
	logits := make([]float32, m.Executor().Vocab())
	ok(t, m.Executor().Logits(t.Context(), 0, p.Tokens[0], logits))
	if nmse := oracle.NMSE(logits, p.Logits); !(nmse <= oracle.GPU.NMSE) {
		t.Errorf("logits have an NMSE of %.1e", nmse)
	}
	for _, f := range m.Findings() {
		t.Errorf("%s: %v", f.Kernel, f)
	}
}

// A context that ends stops the simulator within a submit; afterwards it goes on. What is written meanwhile waits for nobody.
func TestSimulatorStops(t *testing.T) {
	m := oracle.Load(t, "llama-q4_1").Only("short")
	s, err := simulate(t, graphOf(t, m, ir.F32), m.File, "subgroups", 32, codegen.Options{Context: 64})
	ok(t, err)
	list, _ := s.result.Plan.List(plan.Forward, 1)
	work := plan.Work{Replays: slices.Repeat([][]uint32{list.Records}, 2e4)} // a quarter of an hour
	ticket, err := s.device.Submit(work)
	ok(t, err)
	ring := s.result.Plan.Params.Range
	ring.Offset, ring.Bytes = ring.Offset+4*uint64(s.result.Plan.Params.RingAt), 4
	ok(t, s.device.Write(plan.Handle(ring.Buffer), ring.Offset, []byte{1, 2, 3, 4}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.device.Wait(ctx, ticket); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait whose context has ended: %v", err)
	}
	if _, err := s.device.Wait(t.Context(), ticket); err == nil { // what an engine does, so that nothing stays in flight
		t.Error("the work was done to its end")
	}
	if words := s.submit(t, plan.Work{Reads: []plan.Range{ring}}); words[0] != 0x04030201 {
		t.Errorf("%#x was written", words[0])
	}
	p := m.Prompts[0]
	logits := make([]float32, s.Vocab())
	ok(t, s.Logits(t.Context(), 0, p.Tokens[0], logits))
	if nmse := oracle.NMSE(logits, p.Logits); !(nmse <= oracle.GPU.NMSE) {
		t.Errorf("logits have an NMSE of %.1e", nmse)
	}
	s.clean(t)
}

// A generated package of a real model gives the oracle's id: its kernels are judged as they lie on disk.
func TestSimulatorRunsPackages(t *testing.T) {
	path := oracle.Find(t, oracle.SmolLM2)
	prompt, profiles := "one_token", []string{"subgroups"}
	if whole() {
		prompt, profiles = "capital", append(profiles, "portable")
	}
	p := oracle.LoadSmolLM2(t).Only(prompt).Prompts[0]
	for _, profile := range profiles {
		m, err := kgen.Load(t.Context(), path, kgen.Options{Device: "sim", Profile: profile, Exact: true, Context: 64, Variants: smollm2_135m.Variants()})
		ok(t, err)
		last := len(p.Tokens) - 1
		ok(t, m.Executor().Prefill(t.Context(), 0, p.Tokens[:last]))
		ids, err := m.Executor().Step(t.Context(), last, p.Tokens[last], 1)
		ok(t, err)
		if !slices.Equal(ids, p.Greedy[:1]) {
			t.Errorf("%s: ids %v, want %v", profile, ids, p.Greedy[:1])
		}
		for _, f := range m.Findings() {
			t.Errorf("%s: %s: %v", profile, f.Kernel, f)
		}
		ok(t, m.Close())
	}
}

// rebuild makes the calls that a plan can be made with.
func rebuild(b *plan.Builder, p *plan.Plan) {
	for _, u := range p.Buffers {
		b.Buffer(u)
	}
	for _, k := range p.Kernels {
		b.Kernel(k)
	}
	for _, w := range p.Weights {
		b.Weight(w)
	}
	for _, t := range p.Tables {
		b.Table(t)
	}
	b.Params(p.Params)
	b.KV(p.KV)
	for _, o := range p.Outputs {
		b.Output(o.Name, o.Range)
	}
	b.Model(p.Vocab, p.Context)
	for _, l := range p.Lists {
		list := b.List(l.Phase, l.Columns)
		for r := range slices.Chunk(l.Records, plan.RecordWords) {
			list.Dispatch(int(r[0]), int(r[2]), int(r[3]), int(r[4]), p.Groups[r[1]].Ranges...)
		}
	}
}
