package kgen_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
)

// whole reports whether tests that have a slice and a whole run whole.
func whole() bool { return os.Getenv("KGEN_SUITE") == "all" }

// simRun is a model on the simulator: what it is compiled for and how.
type simRun struct {
	model, profile string
	subgroup       int
	kv             ir.Elem
	fast           bool
}

func (r simRun) String() string {
	path := fmt.Sprintf("exact_%v", r.kv)
	if r.fast {
		path = fmt.Sprintf("fast_%v", r.kv)
	}
	return fmt.Sprintf("%s/%s%d/%s", r.model, r.profile, r.subgroup, path)
}

func (r simRun) limits() oracle.Limits {
	switch {
	case r.fast && !plain(r.model):
		return oracle.FastTiny
	case r.kv == ir.F16:
		return oracle.KVF16
	}
	return oracle.GPU
}

// simRuns is a slice of the tiny models, with each size of subgroups, each way to store the cache and both paths, or the whole:
// every model with each size and without subgroups, both caches and paths with the usual size.
func simRuns(t *testing.T) []simRun {
	if !whole() {
		return []simRun{
			{"llama-q4_1", "subgroups", 32, ir.F32, false},
			{"qwen3-q4_k", "subgroups", 4, ir.F16, false},
			{"gemma3-q8_0", "subgroups", 128, ir.F32, false},
			{"qwen2-q8_0", "portable", 32, ir.F32, true},
		}
	}
	var all []simRun
	for _, model := range kernelModels(t) {
		for _, size := range []int{4, 32, 128} {
			all = append(all, simRun{model, "subgroups", size, ir.F32, false})
		}
		all = append(all, simRun{model, "portable", 32, ir.F32, false}, simRun{model, "subgroups", 32, ir.F16, false})
		if !plain(model) {
			all = append(all, simRun{model, "subgroups", 32, ir.F32, true}, simRun{model, "portable", 32, ir.F32, true})
		}
	}
	return all
}

// Tiny models give the oracle's logits and ids on the simulator, and it finds nothing wrong.
func TestSimulatedModels(t *testing.T) {
	for _, r := range simRuns(t) {
		t.Run(r.String(), func(t *testing.T) {
			m := oracle.Load(t, r.model)
			names := []string{"mid"}
			if whole() {
				names = append(names, "short", "long")
			}
			m = m.Only(names...)
			s, err := simulate(t, graphOf(t, m, r.kv), m.File, r.profile, r.subgroup, codegen.Options{Context: 128, Fast: r.fast})
			ok(t, err)
			m.CheckLogits(t, traced{Engine: s.Engine}, r.limits())
			if !r.fast {
				greedy(t, s, m.Prompts[len(m.Prompts)-1], 3) // whose tokens are in the cache
			}
			s.clean(t)
		})
	}
}

// greedy compares the first ids that are decoded after a prompt.
func greedy(t *testing.T, s simulated, p oracle.Prompt, n int) {
	t.Helper()
	last := len(p.Tokens) - 1
	ids, err := s.Step(t.Context(), last, p.Tokens[last], n)
	ok(t, err)
	if step, excused := oracle.FirstDifference(ids, p.Greedy[:n], p.NearTies); step >= 0 && !excused {
		t.Errorf("greedy ids %v, want %v", ids, p.Greedy[:n])
	}
}

// A step of a tiny model, with several sizes of subgroups.
func TestSimulatedStep(t *testing.T) {
	for _, subgroup := range []int{4, 32, 128} {
		simulateStep(t, oracle.Load(t, "llama-q4_1"), "mid", "subgroups", subgroup, 64)
	}
}

// A step of a real model: position 33 is in the cache's second page.
func TestSimulatedSmolLM2(t *testing.T) {
	simulateStep(t, oracle.LoadSmolLM2(t), "chat_gravity", "subgroups", 32, 1024)
}

// Graphs that are easy to get wrong give on the simulator what the evaluator gives, and nothing is found: of values in place, of heads
// that rotate in part and of values that are kept the simulator sees each word.
func TestSimulatedGraphs(t *testing.T) {
	type graph struct {
		name, text string
		keep       []string
	}
	partly := testgraph.Shape{Width: 36, Heads: 3, KVHeads: 1, Size: 8, Dims: 6, FFN: 34, Vocab: 33, Style: "neox"}
	graphs := []graph{{"heads of 8, 6 of which rotate", partly.Text(), nil}}
	for i, c := range testgraph.Cases() {
		if c.Refused == "" && (whole() || i%4 == 0) {
			graphs = append(graphs, graph{c.Name, c.Text(), c.Keep})
		}
	}
	for seed := range uint64(40) {
		if whole() || seed < 4 {
			graphs = append(graphs, graph{fmt.Sprint("random ", seed), testgraph.Random(seed), nil})
		}
	}
	sizes, profiles := sim.SubgroupSizes(), []string{"subgroups", "portable", "subgroups", "compat"}
	for i, c := range graphs {
		size, profile := sizes[i%len(sizes)], profiles[i%len(profiles)]
		t.Run(fmt.Sprintf("%s/%s%d", c.name, profile, size), func(t *testing.T) {
			g, err := ir.Parse("graph", c.text)
			ok(t, err)
			weights := testgraph.NewWeights(g, 7)
			machine, err := eval.New(g, weights, 40)
			ok(t, err)
			s, err := simulate(t, g, weights, profile, size, codegen.Options{Context: 40, Keep: c.keep})
			ok(t, err)
			graphTest{context: 40, positions: []int{0, 1, 33, 2}}.withDefaults().compare(t, s.Engine, machine)
			s.clean(t)
		})
	}
}
