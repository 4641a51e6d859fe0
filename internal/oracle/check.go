package oracle

import (
	"context"
	"math"
	"slices"
	"testing"
)

// Executor is what the suite puts prompts to. Positions start at 0; feeding a position forgets it and all after it.
type Executor interface {
	Vocab() int
	Context() int
	Prefill(ctx context.Context, start int, tokens []uint32) error
	Step(ctx context.Context, start int, token uint32, k int) ([]uint32, error)
	Logits(ctx context.Context, start int, token uint32, dst []float32) error
	LogitsAll(ctx context.Context, start int, tokens []uint32, yield func(pos int, logits []float32) bool) error
	Trace(ctx context.Context, start int, tokens []uint32, yield func(pos, layer int, residual []float32) bool) error
}

// Check compares an executor with all the answers of the model and returns the largest differences.
func (m *Model) Check(t *testing.T, e Executor, limits Limits) Figures {
	t.Helper()
	var all Figures
	for _, p := range m.Prompts {
		t.Run(p.Name, func(t *testing.T) { all.merge(p.Check(t, e, limits)) })
	}
	if m.Text != nil {
		t.Run("text", func(t *testing.T) { all.merge(m.Text.Check(t, e, limits)) })
	}
	t.Logf("%s: %s", m.Name, all)
	return all
}

// Check compares one prompt: layers, then the last logits and greedy ids on top of the same cache, then, where the
// answers have them, the logits of all positions.
func (p *Prompt) Check(t *testing.T, e Executor, limits Limits) Figures {
	c := comparison{T: t, e: e, limits: limits}
	last := len(p.Tokens) - 1
	c.layers(p)
	c.logits(p, "after Trace")
	c.greedy(p)
	if p.ArgMaxAll != nil {
		c.all(p)
		c.ok(e.Prefill(t.Context(), 0, p.Tokens[:last]))
		c.logits(p, "after Prefill")
	}
	return c.Figures
}

type comparison struct {
	*testing.T
	Figures
	e      Executor
	limits Limits
}

func (c *comparison) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// within notes a difference and fails when it is over the limit or no number.
func (c *comparison) within(what string, got, limit float64, worst *float64) {
	c.Helper()
	*worst = max(*worst, got)
	if math.IsNaN(got) || limit != 0 && got > limit {
		c.Errorf("%s: %.3g, the limit is %g", what, got, limit)
	}
}

// layers compares the residual stream. The first layer that differs is the one to look at.
func (c *comparison) layers(p *Prompt) {
	c.Helper()
	layers, last := len(p.LayerRMSAll), len(p.Tokens)-1
	squares, values := make([]float64, layers), make([]int, layers)
	lastRMS, first := make([]float64, layers), make([][]float32, layers)
	c.ok(c.e.Trace(c.Context(), 0, p.Tokens, func(pos, layer int, residual []float32) bool {
		sum := sumSquares(residual)
		squares[layer] += sum
		values[layer] += len(residual)
		if pos == last {
			lastRMS[layer] = math.Sqrt(sum / float64(len(residual)))
			first[layer] = slices.Clone(residual[:len(p.LayerLast[layer])])
		}
		return true
	}))
	for i := range layers {
		if c.Failed() {
			c.Fatalf("what enters layer %d is the first to differ", i-1)
		}
		if values[i] == 0 {
			c.Fatalf("layer %d was not traced", i)
		}
		c.within("RMS of layer input, all positions", relative(math.Sqrt(squares[i]/float64(values[i])), p.LayerRMSAll[i]), c.limits.RMS, &c.RMS)
		c.within("RMS of layer input, last position", relative(lastRMS[i], p.LayerRMSLast[i]), c.limits.RMS, &c.RMS)
		var unused float64
		c.within("NMSE of the layer input's first values", NMSE(first[i], p.LayerLast[i]), firstValues*c.limits.NMSE, &unused)
	}
}

// firstValues is how much more the first few values of a layer may differ than the whole of the logits: among 8 or 32
// values, small ones may happen to be together.
const firstValues = 100

func sumSquares(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

func relative(got, want float64) float64 { return math.Abs(got-want) / want }

// logits feeds the last token, with those before it in the cache.
func (c *comparison) logits(p *Prompt, when string) {
	c.Helper()
	last := len(p.Tokens) - 1
	logits := make([]float32, c.e.Vocab())
	c.ok(c.e.Logits(c.Context(), last, p.Tokens[last], logits))
	if len(p.Logits) != len(logits) {
		c.Fatalf("%d logits, want %d", len(logits), len(p.Logits))
	}
	c.within("NMSE of logits "+when, NMSE(logits, p.Logits), c.limits.NMSE, &c.NMSE)
	c.within("largest difference of logits "+when, MaxAbs(logits, p.Logits), c.limits.MaxAbs, &c.MaxAbs)
}

func (c *comparison) greedy(p *Prompt) {
	c.Helper()
	last := len(p.Tokens) - 1
	ids, err := c.e.Step(c.Context(), last, p.Tokens[last], len(p.Greedy))
	c.ok(err)
	step, excused := FirstDifference(ids, p.Greedy, p.NearTies)
	switch {
	case step < 0:
		c.Greedy += len(p.Greedy)
	case excused:
		c.Greedy += step
		c.Excused += len(p.Greedy) - step
		c.Logf("greedy ids differ from the near tie at step %d on", step)
	default:
		c.Errorf("greedy ids differ at step %d, which is no near tie:\ngot  %v\nwant %v", step, ids, p.Greedy)
	}
}

// all compares what is known of the logits of every position. The largest logit may be another token's where the two
// differ by less than rounding.
func (c *comparison) all(p *Prompt) {
	c.Helper()
	seen := 0
	var unused float64
	c.ok(c.e.LogitsAll(c.Context(), 0, p.Tokens, func(pos int, logits []float32) bool {
		seen++
		largest := float64(slices.Max(logits))
		c.within("largest logit", math.Abs(largest-p.LogitMaxAll[pos]), c.limits.MaxAbs, &unused)
		c.within("logsumexp", math.Abs(LogSumExp(logits)-p.LogSumExpAll[pos]), c.limits.MaxAbs, &unused)
		c.within("logit of the best token below the largest", largest-float64(logits[p.ArgMaxAll[pos]]), 2*c.limits.MaxAbs, &unused)
		return true
	}))
	if seen != len(p.Tokens) {
		c.Errorf("logits of %d positions, want %d", seen, len(p.Tokens))
	}
}

// Check compares the likelihood of a text.
func (x *Text) Check(t *testing.T, e Executor, limits Limits) Figures {
	c := comparison{T: t, e: e, limits: limits}
	var sum, worst float64
	n := len(x.NLL)
	c.ok(e.LogitsAll(t.Context(), 0, x.Tokens[:n], func(pos int, logits []float32) bool {
		nll := LogSumExp(logits) - float64(logits[x.Tokens[pos+1]])
		sum += nll
		c.within("NLL of a token", math.Abs(nll-x.NLL[pos]), 100*limits.NLL, &worst)
		return true
	}))
	c.within("mean NLL", math.Abs(sum/float64(n)-x.Mean), limits.NLL, &c.NLL)
	t.Logf("mean NLL %.8f, reference %.8f; the largest difference of a token is %.1e", sum/float64(n), x.Mean, worst)
	return c.Figures
}
