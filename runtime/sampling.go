package kgenrt

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Sampling says how the next token is chosen from the logits. The zero value is greedy: the largest logit, the lowest id
// among equals. The filters apply in this order: TopK, TopP, MinP, then Temperature.
type Sampling struct {
	Temperature float64 // divides the logits; 0 or less is greedy
	TopK        int     // keep the k largest; 0 keeps all
	TopP        float64 // keep the fewest whose probabilities reach p; 0 or 1 keeps all
	MinP        float64 // keep those at least p times as likely as the likeliest; 0 keeps all
	Seed        uint64
}

// Greedy reports whether the largest logit always wins.
func (s Sampling) Greedy() bool { return s.Temperature <= 0 || s.TopK == 1 }

// Check returns an error that names the field out of its range.
func (s Sampling) Check() error {
	switch {
	case math.IsNaN(s.Temperature) || math.IsInf(s.Temperature, 0):
		return newError(BadRequest, "temperature is not a number", nil)
	case s.TopK < 0:
		return newError(BadRequest, "top-k is below 0", nil)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return newError(BadRequest, "top-p is not between 0 and 1", nil)
	case !(s.MinP >= 0 && s.MinP <= 1):
		return newError(BadRequest, "min-p is not between 0 and 1", nil)
	}
	return nil
}

// sampler draws tokens; the same seed and logits give the same tokens.
type sampler struct {
	Sampling
	random     *rand.Rand
	candidates []candidate
}

type candidate struct {
	id    uint32
	logit float32
	p     float64
}

func newSampler(s Sampling) *sampler {
	return &sampler{Sampling: s, random: rand.New(rand.NewPCG(s.Seed, 0x9e3779b97f4a7c15))}
}

// pick returns the next token. NaN is never chosen; an infinite logit is, as it would be by a softmax that could hold it.
func (s *sampler) pick(logits []float32) uint32 {
	if s.Greedy() {
		return argMax(logits)
	}
	s.largest(logits)
	if len(s.candidates) == 0 || math.IsInf(float64(s.candidates[0].logit), 0) {
		return argMax(logits)
	}
	s.softmax(1)
	s.cut()
	s.softmax(s.Temperature)
	u := s.random.Float64()
	for _, c := range s.candidates {
		if u -= c.p; u < 0 {
			return c.id
		}
	}
	return s.candidates[0].id // the probabilities add up to a little less than 1
}

// argMax returns the index of the largest logit that is a number, the lowest of equals; 0 when none is.
func argMax(logits []float32) uint32 {
	best := 0
	for i, v := range logits {
		if v > logits[best] || logits[best] != logits[best] && v == v {
			best = i
		}
	}
	return uint32(best)
}

// largest fills candidates with the TopK largest logits, or all, in falling order.
func (s *sampler) largest(logits []float32) {
	k := s.TopK
	if k == 0 || k > len(logits) {
		k = len(logits)
	}
	order := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.id, b.id))
	}
	s.candidates = s.candidates[:0]
	const insertionLimit = 256 // above it, sorting everything costs less than inserting
	if k > insertionLimit {
		for id, v := range logits {
			if v != v {
				continue
			}
			s.candidates = append(s.candidates, candidate{id: uint32(id), logit: v})
		}
		slices.SortFunc(s.candidates, order)
		s.candidates = s.candidates[:min(k, len(s.candidates))]
		return
	}
	for id, v := range logits {
		if v != v || len(s.candidates) == k && v <= s.candidates[k-1].logit {
			continue
		}
		c := candidate{id: uint32(id), logit: v}
		at, _ := slices.BinarySearchFunc(s.candidates, c, order)
		s.candidates = slices.Insert(s.candidates, at, c)
		s.candidates = s.candidates[:min(k, len(s.candidates))]
	}
}

// softmax gives the candidates their probabilities at a temperature.
func (s *sampler) softmax(temperature float64) {
	sum := 0.0
	for i := range s.candidates {
		c := &s.candidates[i]
		c.p = math.Exp(float64(c.logit-s.candidates[0].logit) / temperature)
		sum += c.p
	}
	for i := range s.candidates {
		s.candidates[i].p /= sum
	}
}

// cut drops what TopP and MinP exclude; the likeliest candidate always stays.
func (s *sampler) cut() {
	n := len(s.candidates)
	if s.TopP > 0 && s.TopP < 1 {
		sum := 0.0
		for i, c := range s.candidates {
			if sum += c.p; sum >= s.TopP {
				n = i + 1
				break
			}
		}
	}
	if s.MinP > 0 {
		floor := s.candidates[0].p * s.MinP
		for n > 1 && s.candidates[n-1].p < floor {
			n--
		}
	}
	s.candidates = s.candidates[:n]
}
