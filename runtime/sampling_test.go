package kgenrt

import (
	"math"
	"testing"
)

// Draws follow the distribution that the definitions give, computed here by hand: four tokens with probabilities 0.4,
// 0.3, 0.2 and 0.1 at temperature 1.
func TestSamplingDistribution(t *testing.T) {
	p := []float64{0.4, 0.3, 0.2, 0.1}
	logits := make([]float32, len(p))
	for i := range p {
		logits[i] = float32(math.Log(p[i]))
	}
	squares := 0.4*0.4 + 0.3*0.3 + 0.2*0.2 + 0.1*0.1
	for _, c := range []struct {
		name string
		s    Sampling
		want []float64
	}{
		{"plain", Sampling{Temperature: 1}, p},
		{"temperature one half squares the odds", Sampling{Temperature: 0.5}, []float64{0.16 / squares, 0.09 / squares, 0.04 / squares, 0.01 / squares}},
		{"top-k", Sampling{Temperature: 1, TopK: 2}, []float64{4. / 7, 3. / 7, 0, 0}},
		{"top-p keeps the token that reaches it", Sampling{Temperature: 1, TopP: 0.65}, []float64{4. / 7, 3. / 7, 0, 0}},
		{"min-p", Sampling{Temperature: 1, MinP: 0.45}, []float64{4. / 9, 3. / 9, 2. / 9, 0}},
		{"top-k before top-p", Sampling{Temperature: 1, TopK: 3, TopP: 0.44}, []float64{1, 0, 0, 0}},
		{"filters see temperature 1", Sampling{Temperature: 100, TopP: 0.65}, []float64{0.5007, 0.4993, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Seed = 7
			s := newSampler(c.s)
			const draws = 40000
			counts := make([]float64, len(p))
			for range draws {
				counts[s.pick(logits)]++
			}
			for i, want := range c.want {
				// Five standard deviations of a binomial count.
				if tolerance := 5 * math.Sqrt(want*(1-want)/draws); math.Abs(counts[i]/draws-want) > tolerance+1e-12 {
					t.Errorf("token %d: frequency %.4f, want %.4f ± %.4f", i, counts[i]/draws, want, tolerance)
				}
			}
		})
	}
}

func TestGreedyTakesTheLowestOfEquals(t *testing.T) {
	for _, s := range []Sampling{{}, {Temperature: 1, TopK: 1}, {Temperature: -1}} {
		if got := newSampler(s).pick([]float32{1, 3, 3, 2}); got != 1 {
			t.Errorf("%+v: got %d, want 1", s, got)
		}
	}
}

func TestSameSeedSameTokens(t *testing.T) {
	logits := make([]float32, 1000)
	for i := range logits {
		logits[i] = float32(i%17) / 4
	}
	for _, k := range []int{0, 40, 300} {
		a, b := newSampler(Sampling{Temperature: 1, TopK: k, Seed: 3}), newSampler(Sampling{Temperature: 1, TopK: k, Seed: 3})
		for range 50 {
			if x, y := a.pick(logits), b.pick(logits); x != y {
				t.Fatalf("top-k %d: %d and %d", k, x, y)
			}
		}
	}
}
