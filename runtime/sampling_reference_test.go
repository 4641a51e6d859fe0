package kgenrt

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// definition returns the probabilities of the tokens that may follow, step by step as llama.cpp's chain is defined: every step
// takes what the one before it left, sorted by falling logit and then by id, and computes its own softmax in float64.
func definition(s Sampling, logits []float32, history []uint32) map[uint32]float64 {
	type token struct {
		id       uint32
		logit, p float64
	}
	var tokens []token
	lastN := s.RepeatLastN
	if lastN == 0 {
		lastN = 64
	}
	if lastN < 0 {
		lastN = len(history)
	}
	seen := history[len(history)-min(lastN, len(history)):]
	for id, logit := range logits {
		x, count := float64(logit), 0.0
		for _, t := range seen {
			if t == uint32(id) {
				count++
			}
		}
		if count > 0 {
			if s.RepeatPenalty != 0 && x <= 0 {
				x *= s.RepeatPenalty
			} else if s.RepeatPenalty != 0 {
				x /= s.RepeatPenalty
			}
			x -= count*s.FrequencyPenalty + s.PresencePenalty
		}
		tokens = append(tokens, token{id: uint32(id), logit: float64(float32(x))}) // logits are float32
	}
	slices.SortStableFunc(tokens, func(a, b token) int {
		switch {
		case a.logit > b.logit:
			return -1
		case a.logit < b.logit:
			return 1
		}
		return 0
	})
	softmax := func(temperature float64) {
		total := 0.0
		for i := range tokens {
			tokens[i].p = math.Exp((tokens[i].logit - tokens[0].logit) / temperature)
			total += tokens[i].p
		}
		for i := range tokens {
			tokens[i].p /= total
		}
	}
	if s.TopK > 0 && s.TopK < len(tokens) {
		tokens = tokens[:s.TopK]
	}
	if softmax(1); s.TopP > 0 && s.TopP < 1 {
		reached := 0.0
		for i := range tokens {
			if reached += tokens[i].p; reached >= s.TopP {
				tokens = tokens[:i+1]
				break
			}
		}
	}
	if softmax(1); s.MinP > 0 {
		floor := tokens[0].p * s.MinP
		tokens = slices.DeleteFunc(tokens, func(t token) bool { return t.p < floor })
	}
	if s.Temperature <= 0 {
		return map[uint32]float64{tokens[0].id: 1}
	}
	softmax(s.Temperature)
	left := map[uint32]float64{}
	for _, t := range tokens {
		left[t.id] = t.p
	}
	return left
}

// probabilities returns what a sampler draws from.
func probabilities(s *sampler, logits []float32, history []uint32) map[uint32]float64 {
	id := s.pick(slices.Clone(logits), history)
	if s.Greedy() {
		return map[uint32]float64{id: 1}
	}
	p := map[uint32]float64{}
	for _, c := range s.kept {
		p[c.id] = c.weight / sum(s.kept)
	}
	return p
}

// problem is a random row of logits, with a history and settings that suit it.
func problem(random *rand.Rand, vocab int) (Sampling, []float32, []uint32) {
	spread := 0.3 + 7*random.Float64()
	logits := make([]float32, vocab)
	for i := range logits {
		logits[i] = float32(random.NormFloat64() * spread)
	}
	if random.IntN(3) == 0 { // with many equals
		for i := range logits {
			logits[i] = float32(math.Round(float64(logits[i])))
		}
	}
	history := make([]uint32, random.IntN(200))
	for i := range history {
		history[i] = uint32(random.IntN(min(vocab, 50)))
	}
	often := func() bool { return random.IntN(3) > 0 }
	s := Sampling{Temperature: 0.05 + 2*random.Float64(), Seed: random.Uint64()}
	if often() {
		s.TopK = 1 + random.IntN(min(vocab, 100))
	}
	if random.IntN(6) == 0 {
		s.TopK = 1 + random.IntN(vocab+10)
	}
	if often() {
		s.TopP = random.Float64()
	}
	if often() {
		s.MinP = math.Pow(random.Float64(), 3)
	}
	if often() {
		s.RepeatPenalty = 0.7 + random.Float64()
	}
	if often() {
		s.FrequencyPenalty, s.PresencePenalty = random.NormFloat64(), random.NormFloat64()
	}
	if often() {
		s.RepeatLastN = random.IntN(100) - 1
	}
	if random.IntN(10) == 0 {
		s.Temperature = 0
	}
	return s, logits, history
}

// A sampler keeps the tokens that the definition keeps, with their probabilities. One sampler serves several rows, as it does
// for an answer.
func TestSamplingIsTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 3000 {
		vocab := 1 + random.IntN(40)
		if round%10 == 0 {
			vocab = 1 + random.IntN(6000)
		}
		settings, logits, history := problem(random, vocab)
		s := newSampler(settings)
		for range 2 {
			got, want := probabilities(s, logits, history), definition(settings, logits, history)
			for id, p := range want {
				if math.Abs(got[id]-p) > 1e-6 {
					t.Fatalf("round %d, %+v, %d logits: token %d has probability %v, want %v", round, settings, vocab, id, got[id], p)
				}
			}
			for id := range got {
				if _, ok := want[id]; !ok {
					t.Fatalf("round %d, %+v, %d logits: token %d is kept", round, settings, vocab, id)
				}
			}
			_, logits, history = problem(random, vocab)
		}
	}
}

// Draws are distributed as the definition says: Pearson's statistic of 100,000 draws stays below its 1 - 1e-6 quantile.
func TestDrawsAreDistributedAsDefined(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for tested := 0; tested < 8; {
		settings, logits, history := problem(random, 1+random.IntN(80))
		want := definition(settings, logits, history)
		often := 0
		for _, p := range want {
			if p > 0.01 {
				often++
			}
		}
		if often < 3 {
			continue
		}
		tested++
		const draws = 100_000
		s, counts, row := newSampler(settings), map[uint32]float64{}, make([]float32, len(logits))
		for range draws {
			copy(row, logits)
			counts[s.pick(row, history)]++
		}
		statistic, classes, rareWant, rareGot := 0.0, 0, 0.0, 0.0
		for _, id := range slices.Sorted(maps.Keys(want)) {
			expected := want[id] * draws
			if expected < 10 { // too few for the statistic: counted as one class
				rareWant, rareGot = rareWant+expected, rareGot+counts[id]
				continue
			}
			statistic += (counts[id] - expected) * (counts[id] - expected) / expected
			classes++
		}
		if rareWant >= 10 {
			statistic += (rareGot - rareWant) * (rareGot - rareWant) / rareWant
			classes++
		}
		for id := range counts {
			if want[id] == 0 {
				t.Errorf("%+v: token %d is drawn", settings, id)
			}
		}
		if limit := chiSquared(float64(classes-1), 4.75); statistic > limit {
			t.Errorf("%+v, %d tokens kept: chi squared %.1f of %d classes, the limit is %.1f", settings, len(want), statistic, classes, limit)
		}
	}
}

// chiSquared returns the quantile that lies z standard deviations up a normal distribution, by Wilson and Hilferty.
func chiSquared(freedom, z float64) float64 {
	return freedom * math.Pow(1-2/(9*freedom)+z*math.Sqrt(2/(9*freedom)), 3)
}

// Penalties by hand. Token 0 occurs twice, 1 once, and 2 once, but long ago.
func TestPenalties(t *testing.T) {
	logits := []float32{2, -2, 3, 0, 1}
	history := []uint32{2, 0, 1, 0}
	for _, c := range []struct {
		name string
		s    Sampling
		want []float32
	}{
		{"none", Sampling{}, logits},
		{"none, said otherwise", Sampling{RepeatPenalty: 1}, logits},
		{"repeat divides above 0 and multiplies below", Sampling{RepeatPenalty: 2}, []float32{1, -4, 1.5, 0, 1}},
		{"frequency counts", Sampling{FrequencyPenalty: 0.5}, []float32{1, -2.5, 2.5, 0, 1}},
		{"presence does not", Sampling{PresencePenalty: 0.5}, []float32{1.5, -2.5, 2.5, 0, 1}},
		{"all, repeat first", Sampling{RepeatPenalty: 2, FrequencyPenalty: 0.5, PresencePenalty: 0.25}, []float32{-0.25, -4.75, 0.75, 0, 1}},
		{"of the last three", Sampling{RepeatPenalty: 2, FrequencyPenalty: 0.5, RepeatLastN: 3}, []float32{0, -4.5, 3, 0, 1}},
		{"of the last", Sampling{FrequencyPenalty: 0.5, RepeatLastN: 1}, []float32{1.5, -2, 3, 0, 1}},
		{"of all", Sampling{FrequencyPenalty: 0.5, RepeatLastN: -1}, []float32{1, -2.5, 2.5, 0, 1}},
		{"a reward", Sampling{PresencePenalty: -1}, []float32{3, -1, 4, 0, 1}},
	} {
		s := newSampler(c.s)
		for range 2 { // nothing is left of the first time
			got := slices.Clone(logits)
			best := s.pick(got, history)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
			if want := argMax(c.want); best != want {
				t.Errorf("%s: greedy takes %d, want %d", c.name, best, want)
			}
		}
	}
	long := make([]uint32, 65)
	long[0] = 4
	if s := newSampler(Sampling{PresencePenalty: 10}); s.pick([]float32{1, 0, 0, 0, 2}, long) != 4 {
		t.Error("more than 64 tokens are looked at without being asked for")
	}
}

// What is equal is kept by id, whichever filter cuts between equals.
func TestFiltersCutEquals(t *testing.T) {
	logits := []float32{1, 2, 2, 2, 2, 1}
	for _, c := range []struct {
		s    Sampling
		want []uint32
	}{
		{Sampling{Temperature: 1, TopK: 2}, []uint32{1, 2}},
		{Sampling{Temperature: 1, TopK: 5}, []uint32{1, 2, 3, 4, 0}},
		{Sampling{Temperature: 1, TopP: 0.4}, []uint32{1, 2}},
		{Sampling{Temperature: 1, MinP: 1}, []uint32{1, 2, 3, 4}},
		{Sampling{Temperature: 1, TopK: 5, TopP: 0.99, MinP: 0.3}, []uint32{1, 2, 3, 4, 0}},
	} {
		s := newSampler(c.s)
		s.pick(logits, nil)
		var got []uint32
		for _, k := range s.kept {
			got = append(got, k.id)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v keeps %v, want %v", c.s, got, c.want)
		}
	}
}

// row is a row of logits that is the same everywhere: whole numbers of sixteenths from -16 to 16, the large ones rare.
func row(vocab int) []float32 {
	random := rand.NewPCG(7, 8)
	logits := make([]float32, vocab)
	for i := range logits {
		x := random.Uint64()
		logits[i] = float32(int(x%128)+int(x>>8%128)+int(x>>16%128)+int(x>>24%128)-256) / 16
	}
	return logits
}

// The ids of a seed are the same in every version and on every machine.
func TestSeedGivesTheseTokens(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Sampling
		want []uint32
	}{
		{"the usual", Sampling{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, Seed: 1}, []uint32{545, 939, 776, 580, 939, 682, 230, 983, 732, 682, 682, 732}},
		{"another seed", Sampling{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, Seed: 2}, []uint32{580, 715, 726, 682, 726, 682, 983, 983, 709, 545, 265, 580}},
		{"no filter", Sampling{Temperature: 1, Seed: 1}, []uint32{983, 726, 939, 939, 726, 682, 983, 726, 794, 682, 580, 899}},
		{"top-p of all", Sampling{Temperature: 1, TopP: 0.9, Seed: 1}, []uint32{404, 580, 294, 899, 732, 726, 34, 166, 486, 726, 682, 379}},
		{"penalties", Sampling{Temperature: 0.8, TopK: 40, RepeatPenalty: 1.3, FrequencyPenalty: 1, Seed: 1}, []uint32{294, 265, 379, 103, 939, 682, 46, 166, 230, 726, 715, 173}},
	} {
		s, logits := newSampler(c.s), make([]float32, 1000)
		var got []uint32
		for range 12 {
			copy(logits, row(1000))
			got = append(got, s.pick(logits, got))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// rowSettings are those that a token's time depends on.
var rowSettings = []struct {
	name string
	s    Sampling
}{
	{"greedy", Sampling{}},
	{"usual", Sampling{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05}},
	{"penalties", Sampling{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, RepeatPenalty: 1.1, FrequencyPenalty: 0.1}},
	{"greedy-penalties", Sampling{RepeatPenalty: 1.1, RepeatLastN: -1}},
	{"top-k-1000", Sampling{Temperature: 1, TopK: 1000}},
	{"min-p", Sampling{Temperature: 1, MinP: 0.05}},
	{"top-p", Sampling{Temperature: 1, TopP: 0.95}},
	{"no-filter", Sampling{Temperature: 1}},
}

// vocabulary is that of Qwen: the largest among common models.
const vocabulary = 151_936

// normal is a row as models have it: a bulk of unlikely tokens, and a few that stand out.
func normal() []float32 {
	random := rand.New(rand.NewPCG(9, 10))
	logits := make([]float32, vocabulary)
	for i := range logits {
		logits[i] = float32(random.NormFloat64() * 2.5)
	}
	for i := range 30 {
		logits[random.IntN(vocabulary)] = float32(18 - float64(i)/3)
	}
	return logits
}

func TestSamplingAllocatesNothing(t *testing.T) {
	logits, history := normal(), make([]uint32, 8000)
	for _, c := range rowSettings {
		s, scratch := newSampler(c.s), make([]float32, vocabulary)
		if n := testing.AllocsPerRun(3, func() {
			copy(scratch, logits)
			s.pick(scratch, history)
		}); n > 0 {
			t.Errorf("%s: %v allocations a token", c.name, n)
		}
	}
}

func BenchmarkSampling(b *testing.B) {
	logits, history := normal(), make([]uint32, 8000)
	for i := range history {
		history[i] = uint32(i * 19 % vocabulary)
	}
	for _, c := range rowSettings {
		b.Run(c.name, func(b *testing.B) {
			s, scratch := newSampler(c.s), make([]float32, vocabulary)
			b.ReportAllocs()
			for b.Loop() {
				copy(scratch, logits)
				s.pick(scratch, history)
			}
		})
	}
}
