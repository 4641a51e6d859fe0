package kgen_test

import (
	"math"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// simulated is a graph compiled for the simulator and loaded there.
type simulated struct {
	*kgenrt.Engine
	device *sim.Device
	result *codegen.Result
}

// simulate compiles a graph for a profile, with subgroups of a size where the profile has some, and loads it in the simulator.
func simulate(t testing.TB, g *ir.Graph, weights kgenrt.WeightSource, profile string, subgroup int, opts codegen.Options) (simulated, error) {
	t.Helper()
	p, err := schedules.Lookup(profile)
	if err != nil {
		t.Fatal(err)
	}
	if opts.Profile = p; p.Subgroups {
		opts.Profile.SubgroupSize = subgroup
	}
	r, err := codegen.Compile(g, opts)
	if err != nil {
		return simulated{}, err
	}
	return load(t, r, weights, subgroup), nil
}

// load loads what was compiled in a simulator of its own.
func load(t testing.TB, r *codegen.Result, weights kgenrt.WeightSource, subgroup int) simulated {
	t.Helper()
	d, err := sim.Open(r.Plan.Requires, sim.Options{SubgroupSize: subgroup})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	d.Describe(r.Plan, r.Uses)
	e, err := kgenrt.NewEngine(t.Context(), r.Plan, d, weights, kgenrt.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return simulated{e, d, r}
}

func graphOf(t testing.TB, m *oracle.Model, kv ir.Elem) *ir.Graph {
	t.Helper()
	h, err := models.FromGGUF(m.File)
	if err != nil {
		t.Fatal(err)
	}
	g, err := models.Build(h, models.Options{KV: kv})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// clean fails the test for each thing that the simulator found.
func (s simulated) clean(t *testing.T) {
	t.Helper()
	for _, f := range s.device.Findings() {
		t.Errorf("%s: %v", f.Kernel, f)
	}
}

// evaluated is what the evaluator makes of some tokens.
type evaluated struct {
	caches []eval.Value // of each cache layer [2, tokens, heads, size]
	logits []float32    // after the last token
	tokens int
}

func evaluate(t testing.TB, g *ir.Graph, m *oracle.Model, tokens []uint32) evaluated {
	t.Helper()
	values, err := eval.Evaluate(g, map[string]eval.Value{g.Inputs[0].Name: {U32: tokens}}, m.File, ir.Sizes{T: len(tokens), S: len(tokens), B: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := evaluated{tokens: len(tokens), logits: values["logits"].F32}
	for _, n := range g.Nodes {
		if n.Op == ir.KVAppend {
			e.caches = append(e.caches, values[n.Out[0].Name])
		}
	}
	return e
}

// half returns a cache layer's keys, or values, of one position.
func (e evaluated) half(layer, half, pos int) []float32 {
	all := e.caches[layer].F32
	row := len(all) / 2 / e.tokens
	return all[(half*e.tokens+pos)*row:][:row]
}

// fill writes the keys and values of all positions before pos to the device's cache, which the engine's page table gives out in order.
func (s simulated) fill(t *testing.T, e evaluated, pos int) {
	t.Helper()
	for i, to := range s.result.Plan.KV.Layers {
		for p := range pos {
			row := e.half(i/2, i%2, p)
			data := make([]byte, 4*len(row))
			for j, x := range row {
				putWord(data[4*j:], math.Float32bits(x))
			}
			if err := s.device.Write(plan.Handle(to.Buffer), to.Offset+uint64(p*len(data)), data); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func putWord(b []byte, w uint32) {
	b[0], b[1], b[2], b[3] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
}

func word(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// run feeds the token at pos with one replay of a list, and returns the words of ranges of the plan's buffers.
//
// An engine begins with an empty cache, so this goes past it. The device numbers buffers, pipelines and groups as the plan does, whose
// records it therefore takes as they are.
func (s simulated) run(t *testing.T, phase plan.Phase, pos int, token uint32, reads ...plan.Range) []uint32 {
	t.Helper()
	p := s.result.Plan.Params
	record := make([]byte, 4*plan.ParamsRecordWords)
	for at, w := range map[int]int{
		plan.ParamsToken: int(token), plan.ParamsPos: pos, plan.ParamsLen: pos + 1, plan.ParamsPages: p.PagesAt, plan.ParamsOut: p.RingAt,
	} {
		putWord(record[4*at:], uint32(w))
	}
	if err := s.device.Write(plan.Handle(p.Range.Buffer), p.Range.Offset, record); err != nil {
		t.Fatal(err)
	}
	list, ok := s.result.Plan.List(phase, 1)
	if !ok {
		t.Fatalf("the plan has no list for %v", phase)
	}
	return s.submit(t, plan.Work{Replays: [][]uint32{list.Records}, Reads: reads})
}

// submit does some work and returns the words of its reads.
func (s simulated) submit(t *testing.T, w plan.Work) []uint32 {
	t.Helper()
	ticket, err := s.device.Submit(w)
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.device.Wait(t.Context(), ticket)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint32, len(data)/4)
	for i := range words {
		words[i] = word(data[4*i:])
	}
	return words
}

// simulateStep decodes the token after a prompt of a model with the evaluator's cache of all its tokens but the last. The id has to be
// the evaluator's and the oracle's, the logits and what the step adds to the cache the evaluator's but for rounding, and nothing is
// to be found.
func simulateStep(t *testing.T, m *oracle.Model, prompt, profile string, subgroup, context int) {
	p := m.Only(prompt).Prompts[0]
	last := len(p.Tokens) - 1
	want := evaluate(t, graphOf(t, m, ir.F32), m, p.Tokens)
	s, err := simulate(t, graphOf(t, m, ir.F32), m.File, profile, subgroup, codegen.Options{Context: context})
	if err != nil {
		t.Fatal(err)
	}
	s.fill(t, want, last)

	ring := s.result.Plan.Params
	first := plan.Range{Buffer: ring.Range.Buffer, Offset: ring.Range.Offset + 4*uint64(ring.RingAt), Bytes: 4}
	start := time.Now()
	if id := s.run(t, plan.Decode, last, p.Tokens[last], first)[0]; id != p.Greedy[0] || id != argMax(want.logits) {
		t.Errorf("the id is %d, the oracle's %d, the evaluator's %d", id, p.Greedy[0], argMax(want.logits))
	}
	t.Logf("%s, position %d, subgroups of %d: a step of %d dispatches took %v", m.Name, last, subgroup, s.device.Stats().Dispatches, time.Since(start).Round(time.Millisecond))
	for i, at := range s.result.Plan.KV.Layers {
		row := want.half(i/2, i%2, last)
		bytes := 4 * uint64(len(row))
		got := floats(s.submit(t, plan.Work{Reads: []plan.Range{{Buffer: at.Buffer, Offset: at.Offset + uint64(last)*bytes, Bytes: bytes}}}))
		if nmse := oracle.NMSE(got, row); !(nmse <= oracle.GPU.NMSE) {
			t.Errorf("%s of layer %d: NMSE %.1e to the evaluator's", []string{"keys", "values"}[i%2], i/2, nmse)
		}
	}
	out, _ := s.result.Plan.Output("logits")
	logits := floats(s.run(t, plan.Forward, last, p.Tokens[last], out.Range))
	nmse := oracle.NMSE(logits, want.logits)
	if !(nmse <= oracle.GPU.NMSE) {
		t.Errorf("logits have an NMSE of %.1e to the evaluator's", nmse)
	}
	t.Logf("logits NMSE %.1e to the evaluator's", nmse)
	s.clean(t)
}

func floats(words []uint32) []float32 {
	out := make([]float32, len(words))
	for i, w := range words {
		out[i] = math.Float32frombits(w)
	}
	return out
}

func argMax(x []float32) uint32 {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return uint32(best)
}
