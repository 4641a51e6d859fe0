package kgen_test

import (
	"fmt"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// shardTokens lie in each shard of 700 rows cut after 256 and 512: first and last rows, and some between, in an order that goes
// from one shard to another.
var shardTokens = []uint32{0, 699, 255, 256, 100, 511, 512, 1, 300, 698, 254, 513, 600}

// Weights that exceed a binding alone or with their neighbours give what the evaluator gives, and what the same weights give whole:
// an embedding and a head in three shards of which the last is smaller, and weights of layers in two.
func TestShards(t *testing.T) {
	row := map[string]uint64{"f32": 512, "f16": 256, "q8_0": 128, "q4_0": 64, "q4_1": 64} // of 128 values, in the largest plane
	for _, c := range []struct {
		profile, weights string
		fast             bool
	}{
		{"portable", "f32", false}, {"portable", "f16", false}, {"portable", "q8_0", false}, {"portable", "q8_0", true},
		{"compat", "q4_0", false}, {"compat", "q4_0", true},
		{"subgroups", "q4_1", false}, {"subgroups", "q4_1", true}, {"subgroups", "q8_0", true},
	} {
		for _, untied := range []bool{false, true} {
			name := fmt.Sprintf("%s/%s/fast=%v/untied=%v", c.profile, c.weights, c.fast, untied)
			t.Run(name, func(t *testing.T) {
				shape := testgraph.Shape{
					Width: 128, Heads: 8, KVHeads: 1, Size: 16, FFN: 288, Vocab: 700, Weights: c.weights, Untied: untied, Scale: 3,
				}
				want := map[string]string{"embedding": "[256 256 188]", "gate.0": "[192 96]", "down.1": "[64 64]", "q.0": "[128]"}
				if untied {
					want["head"] = want["embedding"]
				}
				testShards(t, c.profile, shape, 256*row[c.weights], c.fast, want)
			})
		}
	}
}

// Blocks of 256 values, types mixed as files of K quants have them, and biases, of which each shard of the queries adds its own. A device
// with four bindings has planes of a shard in one.
func TestShardsOfMixedTypes(t *testing.T) {
	for _, c := range []struct {
		profile, weights, finer string
		fast                    bool
		rows                    uint64 // of 128 bytes, in one binding
		want                    map[string]string
	}{
		{"portable", "q4_k", "q6_k", false, 256, map[string]string{"embedding": "[256 256 188]", "q.0": "[256 256]", "v.0": "[64]", "down.1": "[128 128]"}},
		{"portable", "q4_k", "q6_k", true, 256, map[string]string{"embedding": "[256 256 188]", "q.0": "[256 256]", "v.0": "[64]", "down.1": "[128 128]"}},
		{"compat", "q4_k", "q6_k", true, 256, map[string]string{"embedding": "[128 128 128 128 128 60]", "q.0": "[192 192 128]", "v.0": "[64]", "down.1": "[64 64 64 64]"}},
		{"compat", "q3_k", "q5_k", false, 256, map[string]string{"embedding": "[128 128 128 128 128 60]", "q.0": "[256 256]", "v.0": "[64]", "down.1": "[64 64 64 64]"}},
		{"subgroups", "q2_k", "q3_k", false, 256, map[string]string{"embedding": "[384 316]", "q.0": "[512]", "v.0": "[64]", "down.1": "[256]"}},
		{"portable", "mxfp4", "iq4_nl", true, 256, map[string]string{"embedding": "[256 256 188]", "q.0": "[256 256]", "v.0": "[64]", "down.1": "[128 128]"}},
		{"compat", "q5_1", "q5_0", false, 256, map[string]string{"embedding": "[256 256 188]", "q.0": "[256 256]", "v.0": "[64]", "down.1": "[128 128]"}},
	} {
		t.Run(fmt.Sprintf("%s/%s,%s/fast=%v", c.profile, c.weights, c.finer, c.fast), func(t *testing.T) {
			shape := testgraph.Shape{
				Width: 256, Heads: 64, KVHeads: 8, Size: 8, FFN: 512, Vocab: 700, Weights: c.weights, Finer: c.finer, Biases: true, Scale: 3,
			}
			testShards(t, c.profile, shape, c.rows*128, c.fast, c.want)
		})
	}
}

// testShards compares weights cut so that none exceeds a binding with whole ones and the evaluator. Want is the rows of the shards of some.
func testShards(t *testing.T, profile string, shape testgraph.Shape, binding uint64, fast bool, want map[string]string) {
	t.Helper()
	graph, err := ir.Parse("shards", shape.Text())
	ok(t, err)
	d := newDevice(t, profile)
	weights := testgraph.NewWeights(graph, 7)
	whole, _ := d.shardEngine(t, graph, weights, fast)
	d.profile.Limits.BindingBytes = binding
	cut, r := d.shardEngine(t, graph, weights, fast)
	shards := map[string][]int{}
	for _, w := range r.Plan.Weights {
		shards[w.Tensor] = append(shards[w.Tensor], w.Recipe.Rows)
	}
	for tensor, rows := range want {
		if got := fmt.Sprint(shards[tensor]); got != rows {
			t.Errorf("%s is cut into shards of %s rows, want %s", tensor, got, rows)
		}
	}
	machine, err := eval.New(r.Graph, weights, shardContext)
	ok(t, err)
	compareShards(t, cut, whole, machine, fast)
}

// shardContext keeps the cache of a layer within the smallest of the bindings above.
const shardContext = 64

func (d device) shardEngine(t *testing.T, g *ir.Graph, weights testgraph.Weights, fast bool) (*kgenrt.Engine, *codegen.Result) {
	t.Helper()
	r, err := codegen.Compile(g, codegen.Options{Profile: d.profile, Context: shardContext, Fast: fast})
	ok(t, err)
	e, err := kgenrt.NewEngine(t.Context(), r.Plan, gpu.Open(t, d.adapter, r.Plan.Requires), weights, kgenrt.EngineOptions{Burst: 16})
	ok(t, err)
	return e, r
}

// compareShards feeds the tokens one by one. On the fast path the evaluator is the exact path's reference until a code falls the
// other way, see agree; the whole plan makes the same codes as the cut one, since each row has the same sums.
func compareShards(t *testing.T, cut, whole *kgenrt.Engine, machine *eval.Machine, fast bool) {
	t.Helper()
	got, same, want := make([]float32, cut.Vocab()), make([]float32, cut.Vocab()), make([]float32, cut.Vocab())
	worst, worstWhole, equal := 0.0, 0.0, 0
	for pos, token := range shardTokens {
		ok(t, cut.Logits(t.Context(), pos, token, got))
		ok(t, whole.Logits(t.Context(), pos, token, same))
		ok(t, machine.Logits(t.Context(), pos, token, want))
		if nmse := oracle.NMSE(got, same); !(nmse <= oracle.GPU.NMSE) {
			t.Errorf("position %d, token %d: NMSE %.2g to the plan with whole weights", pos, token, nmse)
		} else {
			worstWhole = max(worstWhole, nmse)
		}
		nmse := oracle.NMSE(got, want)
		limit := oracle.GPU.NMSE
		switch {
		case fast && equal == pos && nmse <= limit:
			equal++
		case fast:
			limit = oracle.FastTiny.NMSE
		}
		if !(nmse <= limit) {
			t.Errorf("position %d, token %d: NMSE %.2g to the evaluator, the limit is %g", pos, token, nmse, limit)
		}
		worst = max(worst, nmse)
		if !fast || equal > pos {
			burstIsSteps(t, cut, pos, token, 3, want)
		}
	}
	t.Logf("NMSE at most %.1e to the evaluator, %.1e to whole weights", worst, worstWhole)
	if fast && equal == 0 {
		t.Error("no position has the codes of the evaluator")
	}
}
