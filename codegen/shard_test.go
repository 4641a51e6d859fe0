package codegen

import (
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		name            string
		rows            int
		rowBytes, limit uint64
		want            []span
	}{
		{"it fits", 300, 64, 300 * 64, []span{{0, 300}}},
		{"a row too many", 301, 64, 300 * 64, []span{{0, 192}, {192, 109}}},
		{"a byte too few", 300, 64, 300*64 - 1, []span{{0, 192}, {192, 108}}},
		{"three, the last one smaller", 700, 128, 256 * 128, []span{{0, 256}, {256, 256}, {512, 188}}},
		{"three of one size", 576, 128, 200 * 128, []span{{0, 192}, {192, 192}, {384, 192}}},
		{"a last one of one row", 129, 4, 64 * 4, []span{{0, 64}, {64, 64}, {128, 1}}},
		{"64 rows at most", 130, 100, 6400, []span{{0, 64}, {64, 64}, {128, 2}}},
		{"fewer shards than rows of whole bindings would give", 320, 1, 256, []span{{0, 192}, {192, 128}}},
		{"64 rows do not fit", 130, 100, 6399, []span{{0, 130}}},
		{"a row does not fit", 130, 100, 99, []span{{0, 130}}},
		{"no rows", 0, 100, 99, []span{{0, 0}}},
		{"the head of qwen3-8b", 151936, 4096, 128 << 20, []span{{0, 30400}, {30400, 30400}, {60800, 30400}, {91200, 30400}, {121600, 30336}}},
		{"its embedding", 151936, 2048, 128 << 20, []span{{0, 50688}, {50688, 50688}, {101376, 50560}}},
	} {
		if got := cut(c.rows, c.rowBytes, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Whatever the sizes, shards follow each other, fit, and start where results can be bound.
func TestCutCovers(t *testing.T) {
	for rows := 1; rows < 1500; rows++ {
		for _, most := range []int{64, 65, 127, 128, 191, 192, 300, 640, 1499, 1500} {
			next := 0
			for _, s := range cut(rows, 8, uint64(most)*8) {
				if s.from != next || s.from%shardRows != 0 || s.rows < 1 || s.rows > most {
					t.Fatalf("%d rows, %d at most: shard %v after row %d", rows, most, s, next)
				}
				next += s.rows
			}
			if next != rows {
				t.Fatalf("%d rows, %d at most: the shards have %d", rows, most, next)
			}
		}
	}
}

// Steps of shards find in memory what the graph has them read, and leave results whole: of the embedding, the head, and weights
// of layers, which exceed a binding alone or with their neighbours.
func TestShardsInMemory(t *testing.T) {
	for _, untied := range []bool{false, true} {
		for _, fast := range []bool{false, true} {
			s := testgraph.Shape{Width: 128, Heads: 8, KVHeads: 1, Size: 16, FFN: 288, Vocab: 700, Weights: "q8_0", Untied: untied}
			opts := Options{Fast: fast, Profile: profileWith(t, "portable", 256*128)}
			c, err := planned(t, s.Text(), "build plan", opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := check(c); err != nil {
				t.Errorf("untied %v, fast %v: %v", untied, fast, err)
			}
			steps := map[string]int{}
			for _, s := range c.steps {
				steps[s.node]++
			}
			for node, want := range map[string]int{"x.0": 3, "logits": 3, "g.0": 2, "u.1": 2, "d.1": 2, "q0.0": 1, "ao.0": 1} {
				if steps[node] != want {
					t.Errorf("untied %v, fast %v: %s is computed in %d steps, want %d", untied, fast, node, steps[node], want)
				}
			}
			rows := rowsByTensor(t, c.plan)
			for _, w := range c.graph.Weights {
				if rows[w.Name] != weightRows(w) {
					t.Errorf("untied %v, fast %v: %d rows of %s are loaded, it has %d", untied, fast, rows[w.Name], w.Name, weightRows(w))
				}
			}
		}
	}
}

// profileWith is a profile whose largest binding is smaller.
func profileWith(t *testing.T, name string, binding uint64) schedules.Profile {
	t.Helper()
	p, err := schedules.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	p.Limits.BindingBytes = binding
	return p
}

// rowsByTensor counts the rows that a plan loads, which follow each other.
func rowsByTensor(t *testing.T, p *plan.Plan) map[string]int {
	t.Helper()
	rows := map[string]int{}
	for _, w := range p.Weights {
		if w.From != rows[w.Tensor] {
			t.Errorf("%s: rows from %d on follow %d", w.Tensor, w.From, rows[w.Tensor])
		}
		rows[w.Tensor] += w.Recipe.Rows
	}
	return rows
}

// A model whose head and embedding exceed the largest binding several times fits the profiles of all devices.
func TestQwen3LargeFits(t *testing.T) {
	preset, err := models.LookupPreset("qwen3-8b")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"portable", "compat", "subgroups"} {
		for _, kv := range []ir.Elem{ir.F16, ir.F32} {
			for _, fast := range []bool{false, true} {
				g, err := models.Build(preset.Hyperparameters, models.Options{KV: kv})
				if err != nil {
					t.Fatal(err)
				}
				p := profileWith(t, name, 128<<20)
				if p.Subgroups && p.SubgroupSize == 0 {
					p.SubgroupSize = 32
				}
				r, err := Compile(g, Options{Profile: p, Context: 8192, Fast: fast})
				if err != nil {
					t.Fatalf("%s, KV %v, fast %v: %v", name, kv, fast, err)
				}
				checkQwen3Large(t, r, p.Limits)
			}
		}
	}
}

// Where one buffer ends and the next begins, what four bindings have to take together lies together: planes of all layers, and keys
// and values at a context whose layers don't divide a buffer.
func TestPresetsFitFourBindings(t *testing.T) {
	p := profileWith(t, "compat", 128<<20)
	for _, preset := range models.Presets() {
		g, err := models.Build(preset.Hyperparameters, models.Options{KV: ir.F16})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Compile(g, Options{Profile: p, Context: 6000})
		if err != nil {
			t.Error(err)
			continue
		}
		for _, k := range r.Plan.Kernels {
			if err := k.Check(p.Limits); err != nil {
				t.Errorf("%s: %v", preset.Name, err)
			}
		}
	}
}

// Queries and values of one type have one step with two results, a binding if they stay side by side. The keys between them, of another
// type, are bound with both when they are stored.
func TestKeysOfAnotherTypeFitFourBindings(t *testing.T) {
	s := testgraph.Shape{Width: 96, Heads: 3, KVHeads: 3, Size: 32, FFN: 96, Vocab: 40, Weights: "q4_0", Biases: true}
	text := strings.ReplaceAll(s.Text(), "weight k.1: q4_0", "weight k.1: q8_0")
	c, err := planned(t, text, "build plan", Options{Profile: profileWith(t, "compat", 128<<20), Context: 32})
	if err != nil {
		t.Fatal(err)
	}
	if err := check(c); err != nil {
		t.Error(err)
	}
}

func checkQwen3Large(t *testing.T, r *Result, l plan.Limits) {
	t.Helper()
	for _, b := range r.Plan.Buffers {
		if b.Bytes > l.BufferBytes {
			t.Errorf("%s: buffer %s of %d bytes", r.Plan.Profile, b.Name, b.Bytes)
		}
	}
	for _, g := range r.Plan.Groups {
		for _, at := range g.Ranges {
			if at.Bytes > l.BindingBytes || at.Offset%plan.RangeAlignment != 0 {
				t.Errorf("%s: a range of %d bytes at %d is bound", r.Plan.Profile, at.Bytes, at.Offset)
			}
		}
	}
	kernels := map[string]map[string]int{}
	for _, s := range r.Steps {
		if kernels[s.Node] == nil {
			kernels[s.Node] = map[string]int{}
		}
		kernels[s.Node][s.Kernel]++
	}
	var head []int
	for _, n := range kernels["logits"] {
		head = append(head, n)
	}
	slices.Sort(head)
	if !slices.Equal(head, []int{1, 4}) {
		t.Errorf("%s: the head takes %v dispatches of its kernels, want 4 of one and 1 of another", r.Plan.Profile, head)
	}
	if n := len(kernels["layer.0.in"]); n != 3 {
		t.Errorf("%s: the embedding takes %d kernels, want 3: %v", r.Plan.Profile, n, kernels)
	}
	rows := rowsByTensor(t, r.Plan)
	for _, w := range r.Graph.Weights {
		if rows[w.Name] != weightRows(w) {
			t.Errorf("%s: %d rows of %s are loaded, it has %d", r.Plan.Profile, rows[w.Name], w.Name, weightRows(w))
		}
	}
}
