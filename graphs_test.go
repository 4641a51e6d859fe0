package kgen_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// graphTest compares a graph on the device with the evaluator.
type graphTest struct {
	profile   string // portable unless it says otherwise
	context   int    // 80 unless it says otherwise
	ring      int
	burst     int   // 16 unless it says otherwise
	positions []int // where logits are compared; going back forgets what was fed
	keep      []string
	limits    oracle.Limits // those of a GPU unless it says otherwise
}

// everywhere are positions about the ends of pages and attention tiles, then two that go back.
var everywhere = []int{0, 1, 31, 32, 33, 64, 79, 33, 5}

func (g graphTest) withDefaults() graphTest {
	if g.profile == "" {
		g.profile = "portable"
	}
	if g.context == 0 {
		g.context = 80
	}
	if g.burst == 0 {
		g.burst = 16
	}
	if g.positions == nil {
		g.positions = everywhere
	}
	if g.limits == (oracle.Limits{}) {
		g.limits = oracle.GPU
	}
	return g
}

// run compiles and runs a graph; err is why the compiler refused it.
func (g graphTest) run(t *testing.T, text string) error {
	t.Helper()
	g = g.withDefaults()
	graph, err := ir.Parse(t.Name(), text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	d := newDevice(t, g.profile)
	r, err := codegen.Compile(graph, codegen.Options{Profile: d.profile, Context: g.context, Ring: g.ring, Keep: g.keep})
	if err != nil {
		return err
	}
	for _, name := range g.keep {
		if _, ok := r.Plan.Output(name); !ok {
			t.Errorf("%s is to be kept, and is no output of the plan", name)
		}
	}
	weights := testgraph.NewWeights(graph, 7)
	machine, err := eval.New(graph, weights, g.context)
	if err != nil {
		t.Fatal(err)
	}
	e, err := kgenrt.NewEngine(t.Context(), r.Plan, gpu.Open(t, d.adapter, r.Plan.Requires), weights, kgenrt.EngineOptions{Burst: g.burst})
	if err != nil {
		t.Fatal(err)
	}
	g.compare(t, e, machine)
	return nil
}

// compare walks over the positions. Each time it feeds what is missing before one, in bursts that a page need not divide.
func (g graphTest) compare(t *testing.T, e *kgenrt.Engine, machine *eval.Machine) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 3))
	draw := func() uint32 { return uint32(random.IntN(e.Vocab())) }
	got, want := make([]float32, e.Vocab()), make([]float32, e.Vocab())
	var fed []uint32
	for _, pos := range g.positions {
		if pos >= g.context {
			continue
		}
		start := min(len(fed), pos)
		for fed = fed[:start]; len(fed) < pos; {
			fed = append(fed, draw())
		}
		if pos > start {
			ok(t, e.Prefill(t.Context(), start, fed[start:]))
			ok(t, machine.Prefill(t.Context(), start, fed[start:]))
		}
		token := draw()
		ok(t, e.Logits(t.Context(), pos, token, got))
		ok(t, machine.Logits(t.Context(), pos, token, want))
		if nmse := oracle.NMSE(got, want); !(nmse <= g.limits.NMSE) {
			t.Fatalf("position %d: NMSE %g, the limit is %g", pos, nmse, g.limits.NMSE)
		}
		fed = append(fed, token)
		burstIsSteps(t, e, pos, token, min(5, g.context-pos), want)
	}
}

// burstIsSteps compares ids of one call with those of single steps, and the first with the best of the logits. What was fed
// before the position stays.
func burstIsSteps(t *testing.T, e *kgenrt.Engine, pos int, token uint32, n int, logits []float32) {
	t.Helper()
	ids, err := e.Step(t.Context(), pos, token, n)
	ok(t, err)
	if behind := slices.Max(logits) - logits[ids[0]]; behind > 1e-3 {
		t.Errorf("position %d: the first id is %d, which is %g behind the best", pos, ids[0], behind)
	}
	var singles []uint32
	for i := range n {
		one, err := e.Step(t.Context(), pos+i, token, 1)
		ok(t, err)
		token = one[0]
		singles = append(singles, token)
	}
	if !slices.Equal(ids, singles) {
		t.Errorf("position %d: %d tokens in one call are %v, one by one %v", pos, n, ids, singles)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A graph gives what the evaluator gives, or is refused by an error that has a code and says where and why.
func TestGraphs(t *testing.T) {
	for _, c := range testgraph.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			err := graphTest{keep: c.Keep}.run(t, c.Text())
			if c.Refused == "" {
				ok(t, err)
				return
			}
			var coded *kgenrt.Error
			switch {
			case err == nil:
				t.Errorf("it was compiled; want %q", c.Refused)
			case !strings.Contains(err.Error(), c.Refused):
				t.Errorf("refused by %q, want %q", err, c.Refused)
			case c.Refused != testgraph.NoSuchValue && (!errors.As(kgen.AsError("compile", err), &coded) || coded.Code != kgenrt.UnsupportedModel):
				t.Errorf("%T has code %v, want %s", err, coded, kgenrt.UnsupportedModel)
			}
		})
	}
}

// Graphs that nobody wrote give what the evaluator gives.
func TestRandomGraphs(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			profile := []string{"portable", "compat"}[seed%2]
			ok(t, graphTest{profile: profile, context: 40, positions: []int{0, 1, 31, 33, 2}}.run(t, testgraph.Random(seed)))
		})
	}
}

// Sizes that divide nothing, one of everything, more heads than threads, both ways to store and to rotate, windows, and rings
// and contexts that bursts fill.
func TestShapes(t *testing.T) {
	type shape = testgraph.Shape
	base := shape{Width: 64, Heads: 4, KVHeads: 2, Size: 16, FFN: 96, Vocab: 100}
	windowed := func(n int, cache string) shape { s := base; s.Window, s.Cache = n, cache; return s }
	f16Cache := graphTest{limits: oracle.KVF16}
	for _, c := range []struct {
		name    string
		shape   shape
		test    graphTest
		refused string
	}{
		{"heads of 4", shape{Width: 64, Heads: 3, KVHeads: 3, Size: 4, FFN: 33, Vocab: 33}, graphTest{}, ""},
		{"heads of 6", shape{Width: 36, Heads: 3, KVHeads: 1, Size: 6, FFN: 34, Vocab: 33}, graphTest{}, "Size: 6 is not a multiple of 4"},
		{"heads of 12, stored as f16", shape{Width: 36, Heads: 3, KVHeads: 1, Size: 12, FFN: 34, Vocab: 33, Cache: "f16"}, graphTest{}, "Size: 12 is not a multiple of 8"},
		{"heads of 8, 6 of which rotate", shape{Width: 36, Heads: 3, KVHeads: 1, Size: 8, Dims: 6, FFN: 34, Vocab: 33, Cache: "f16", Style: "neox"}, f16Cache, ""},
		{"heads of 48", shape{Width: 64, Heads: 2, KVHeads: 1, Size: 48, FFN: 32, Vocab: 100, Style: "neox"}, graphTest{}, ""},
		{"heads of 80, 20 of which rotate", shape{Width: 64, Heads: 2, KVHeads: 2, Size: 80, Dims: 20, FFN: 32, Vocab: 100, Weights: "f16", Cache: "f16"}, f16Cache, ""},
		{"heads of 256, 2 of which rotate", shape{Width: 64, Heads: 2, KVHeads: 1, Size: 256, Dims: 2, FFN: 32, Vocab: 33, Weights: "q8_0", Style: "neox"}, graphTest{}, ""},
		{"64 heads on one", shape{Width: 64, Heads: 64, KVHeads: 1, Size: 8, FFN: 96, Vocab: 100, Cache: "f16"}, f16Cache, ""},
		{"a width of 1", shape{Width: 1, Heads: 1, KVHeads: 1, Size: 4, FFN: 1, Vocab: 7}, graphTest{}, ""},
		{"a width of 33", shape{Width: 33, Heads: 3, KVHeads: 1, Size: 8, FFN: 35, Vocab: 33}, graphTest{}, ""},
		{"a width of 34 in f16", shape{Width: 34, Heads: 3, KVHeads: 1, Size: 8, FFN: 38, Vocab: 33, Weights: "f16"}, graphTest{}, ""},
		{"a width of 33 in f16", shape{Width: 33, Heads: 3, KVHeads: 1, Size: 8, FFN: 38, Vocab: 33, Weights: "f16"}, graphTest{}, "embedding of 33 rows of 33 F16 values: rows start at whole words"},
		{"three blocks of q4_0", shape{Width: 96, Heads: 3, KVHeads: 1, Size: 32, FFN: 160, Vocab: 33, Weights: "q4_0"}, graphTest{}, ""},
		{"three blocks of q4_1", shape{Width: 96, Heads: 3, KVHeads: 1, Size: 32, FFN: 160, Vocab: 33, Weights: "q4_1", Untied: true}, graphTest{}, ""},
		{"three blocks of q8_0, one token to choose from", shape{Width: 96, Heads: 1, KVHeads: 1, Size: 96, FFN: 32, Vocab: 1, Weights: "q8_0"}, graphTest{}, ""},
		{"a window of 1", windowed(1, "f32"), graphTest{}, ""},
		{"a window of 33", windowed(33, "f32"), graphTest{}, ""},
		{"a window of 70, stored as f16", windowed(70, "f16"), graphTest{context: 100, positions: []int{0, 64, 69, 70, 71, 99, 98}, limits: oracle.KVF16}, ""},
		{"a context of 1", base, graphTest{context: 1}, ""},
		{"a ring of 1", base, graphTest{context: 33, ring: 1}, ""},
		{"a ring of 3 in bursts of 2", base, graphTest{context: 70, ring: 3, burst: 2}, ""},
		{"embeddings of millions", shape{Width: 64, Heads: 4, KVHeads: 2, Size: 16, FFN: 96, Vocab: 100, Scale: 1e6, Cap: 30}, graphTest{}, ""},
		{"embeddings of nothing", shape{Width: 64, Heads: 4, KVHeads: 2, Size: 16, FFN: 96, Vocab: 100, Scale: 1e-10}, graphTest{}, ""},
		{"compat", shape{Width: 96, Heads: 3, KVHeads: 1, Size: 32, FFN: 160, Vocab: 33, Weights: "q4_1", Untied: true, Scale: 3, Cap: 5}, graphTest{profile: "compat"}, ""},
		{"subgroups", shape{Width: 96, Heads: 3, KVHeads: 1, Size: 32, FFN: 160, Vocab: 33, Weights: "q4_0", Untied: true, Scale: 3, Cap: 5}, graphTest{profile: "subgroups"}, ""},
		{"subgroups, odd sizes", shape{Width: 36, Heads: 3, KVHeads: 1, Size: 24, FFN: 35, Vocab: 1, Untied: true, Cap: 5}, graphTest{profile: "subgroups"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.test.run(t, c.shape.Text())
			if c.refused == "" {
				ok(t, err)
			} else if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("refused by %v, want %q", err, c.refused)
			}
		})
	}
}

// Weights that are loaded in several pieces arrive whole: many short rows, few long ones, pieces that end within a word of f16.
func TestWeightsInPieces(t *testing.T) {
	type shape = testgraph.Shape
	for _, c := range []struct {
		name  string
		shape shape
	}{
		{"20 MB of f32", shape{Width: 1000, Heads: 1, KVHeads: 1, Size: 8, FFN: 7, Vocab: 5003}},
		{"14 MB of f16, 17 words a row", shape{Width: 34, Heads: 3, KVHeads: 1, Size: 8, FFN: 38, Vocab: 200001, Weights: "f16"}},
		{"7 MB of q4_0, 3 blocks a row", shape{Width: 96, Heads: 3, KVHeads: 1, Size: 32, FFN: 160, Vocab: 120001, Weights: "q4_0"}},
		{"5 MB of q8_0, 1 block a row", shape{Width: 32, Heads: 1, KVHeads: 1, Size: 32, FFN: 32, Vocab: 150001, Weights: "q8_0"}},
		{"rows of 800 kB", shape{Width: 8, Heads: 1, KVHeads: 1, Size: 8, FFN: 200000, Vocab: 33}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.shape.Layers, c.shape.Untied = 1, true
			ok(t, graphTest{context: 34, positions: []int{0, 33}}.run(t, c.shape.Text()))
		})
	}
}
