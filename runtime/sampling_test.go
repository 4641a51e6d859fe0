package kgenrt

import (
	"math"
	"slices"
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
				counts[s.pick(logits, nil)]++
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
		if got := newSampler(s).pick([]float32{1, 3, 3, 2}, nil); got != 1 {
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
			if x, y := a.pick(logits, nil), b.pick(logits, nil); x != y {
				t.Fatalf("top-k %d: %d and %d", k, x, y)
			}
		}
	}
}

// Logits that are no numbers are never drawn, infinite ones win, and no filter or temperature changes that.
func TestSamplingOddLogits(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	settings := []Sampling{
		{}, {Temperature: 1}, {Temperature: 1, TopK: 2}, {Temperature: 1e-300}, {Temperature: 1e300}, {Temperature: 1, MinP: 1},
		{Temperature: 1, TopP: 1e-300}, {Temperature: 1, TopK: 1 << 40}, {Temperature: 1, TopK: 257},
	}
	for _, c := range []struct {
		logits  []float32
		allowed []bool
	}{
		{[]float32{1, nan, 3}, []bool{true, false, true}},
		{[]float32{nan, 1, 3}, []bool{false, true, true}},
		{[]float32{nan, nan, nan}, []bool{true, false, false}},
		{[]float32{1, inf, 3}, []bool{false, true, false}},
		{[]float32{inf, inf, 1}, []bool{true, false, false}},
		{[]float32{-inf, 1, -inf}, []bool{false, true, false}},
		{[]float32{-inf, nan, -inf}, []bool{true, false, false}},
		{[]float32{nan, -inf, -inf}, []bool{false, true, false}},
		{[]float32{5, 5, 5}, []bool{true, true, true}},
	} {
		for _, s := range settings {
			drawn := make([]bool, len(c.logits))
			for s.Seed = range 60 {
				id := newSampler(s).pick(c.logits, nil)
				if drawn[id] = true; !c.allowed[id] {
					t.Fatalf("%+v of %v: %d", s, c.logits, id)
				}
			}
			if plain := (Sampling{Temperature: 1, Seed: s.Seed}); s == plain && !slices.Equal(drawn, c.allowed) {
				t.Errorf("of %v only %v are drawn", c.logits, drawn)
			}
		}
	}
	long := make([]float32, 300) // more than are inserted one by one
	for i := range long {
		long[i] = nan
	}
	long[150], long[299] = -5, -5
	for _, k := range []int{0, 40, 290} {
		drawn := map[uint32]bool{}
		for seed := range uint64(60) {
			drawn[newSampler(Sampling{Temperature: 1, TopK: k, Seed: seed}).pick(long, nil)] = true
		}
		if len(drawn) != 2 || !drawn[150] || !drawn[299] {
			t.Errorf("top-k %d: %v are drawn, want the two numbers", k, drawn)
		}
	}
}

func TestSamplingCheck(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, s := range []Sampling{{}, {Temperature: 2, TopK: 5, TopP: 1, MinP: 1}, {Temperature: -1},
		{RepeatPenalty: 1.1, FrequencyPenalty: -2, PresencePenalty: 2, RepeatLastN: -1}} {
		if err := s.Check(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	for _, s := range []Sampling{
		{Temperature: nan}, {Temperature: inf}, {Temperature: 1, TopK: -1}, {Temperature: 1, TopP: -0.1}, {Temperature: 1, TopP: 1.1},
		{Temperature: 1, TopP: nan}, {Temperature: 1, MinP: -0.1}, {Temperature: 1, MinP: 2}, {Temperature: 1, MinP: nan},
		{RepeatPenalty: -1}, {RepeatPenalty: nan}, {RepeatPenalty: inf}, {FrequencyPenalty: nan}, {PresencePenalty: -inf},
	} {
		if s.Check() == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
