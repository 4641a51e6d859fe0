package oracle

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// KLD returns Σ p·ln(p/q), the Kullback-Leibler divergence of the distribution q of the next token that got gives from the
// distribution p that want gives, both as logits. A NaN anywhere makes it one.
func KLD(got, want []float32) float64 {
	p, q := LogSumExp(want), LogSumExp(got)
	var sum float64
	for i, w := range want {
		logP := float64(w) - p
		sum += math.Exp(logP) * (logP - (float64(got[i]) - q))
	}
	return sum
}

// Agreement compares next-token distributions position by position.
type Agreement struct {
	Positions int
	kld       float64
	largest   float64
	same      int
	nll, want float64
}

// add compares the logits of one position, after which the text has the token next, with the reference's. nll is what the
// reference gives for that token.
func (a *Agreement) add(got, want []float32, next uint32, nll float64) {
	a.Positions++
	kld := KLD(got, want)
	a.kld += kld
	a.largest = max(a.largest, kld)
	if slices.Index(got, slices.Max(got)) == slices.Index(want, slices.Max(want)) {
		a.same++
	}
	a.nll += LogSumExp(got) - float64(got[next])
	a.want += nll
}

// KLD is the mean over positions.
func (a *Agreement) KLD() float64 { return a.kld / float64(a.Positions) }

// Top1 is the share of positions where both prefer the same token.
func (a *Agreement) Top1() float64 { return float64(a.same) / float64(a.Positions) }

// NLL is how far the mean negative log-likelihood is from the reference's.
func (a *Agreement) NLL() float64 { return (a.nll - a.want) / float64(a.Positions) }

// String prints the figures for a log.
func (a *Agreement) String() string {
	return fmt.Sprintf("%d positions: mean KLD %.2e, largest %.2e; same top token %.1f %%; mean NLL off by %+.2e",
		a.Positions, a.KLD(), a.largest, 100*a.Top1(), a.NLL())
}

// Bounds are the least agreement that a path must show over a text.
type Bounds struct {
	KLD  float64 // mean, at most
	Top1 float64 // share, at least
	NLL  float64 // of the mean, at most, either way
}

// Fast bounds what rounding activations to 8 bits does.
var Fast = Bounds{KLD: 0.01, Top1: 0.94, NLL: 0.02}

// Agree feeds the first tokens of the text, all of them when n is 0, to an executor and to a reference, which holds the limits
// of an exact path: the stored answers have likelihoods, but no distributions.
func (x *Text) Agree(t *testing.T, e, reference Executor, n int, bounds Bounds) *Agreement {
	t.Helper()
	if n == 0 {
		n = len(x.NLL)
	}
	var a Agreement
	got, want := make([]float32, e.Vocab()), make([]float32, reference.Vocab())
	for pos, token := range x.Tokens[:n] {
		if err := e.Logits(t.Context(), pos, token, got); err != nil {
			t.Fatal(err)
		}
		if err := reference.Logits(t.Context(), pos, token, want); err != nil {
			t.Fatal(err)
		}
		a.add(got, want, x.Tokens[pos+1], x.NLL[pos])
	}
	t.Log(a.String())
	if !(a.KLD() <= bounds.KLD) {
		t.Errorf("mean KLD %.3g, the limit is %g", a.KLD(), bounds.KLD)
	}
	if a.Top1() < bounds.Top1 {
		t.Errorf("the same top token at %.1f %% of positions, the limit is %.1f %%", 100*a.Top1(), 100*bounds.Top1)
	}
	if !(math.Abs(a.NLL()) <= bounds.NLL) {
		t.Errorf("mean NLL off by %.3g, the limit is %g", a.NLL(), bounds.NLL)
	}
	return &a
}

// CheckLogits compares the logits after each prompt alone: a path whose ids and layers have no answers to be equal to.
func (m *Model) CheckLogits(t *testing.T, e Executor, limits Limits) Figures {
	var all Figures
	for _, p := range m.Prompts {
		t.Run(p.Name, func(t *testing.T) {
			c := comparison{T: t, e: e, limits: limits}
			c.ok(e.Prefill(t.Context(), 0, p.Tokens[:len(p.Tokens)-1]))
			c.logits(&p, "after Prefill")
			all.merge(c.Figures)
		})
	}
	t.Logf("%s: logits NMSE %.1e, max abs %.1e", m.Name, all.NMSE, all.MaxAbs)
	return all
}
