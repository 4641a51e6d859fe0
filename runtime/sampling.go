package kgenrt

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Sampling says how the next token is chosen from the logits. The zero value is greedy: the largest logit, the lowest id
// among equals. The steps are llama.cpp's in its default order: penalties, TopK, TopP, MinP, Temperature, the draw. So the
// filters see probabilities at temperature 1 of the logits after penalties, each those that the one before it left.
//
// Each filter keeps a beginning of the tokens in falling order of their logits, the lower id first among equals.
type Sampling struct {
	Temperature float64 // divides the logits; 0 or less is greedy
	TopK        int     // keep the k largest; 0 keeps all, 1 is greedy
	TopP        float64 // keep the fewest whose probabilities reach p; 0 or 1 keeps all
	MinP        float64 // keep those at least p times as likely as the likeliest; 0 keeps all
	Seed        uint64  // the same seed and logits give the same tokens

	// The penalties are for tokens among the last RepeatLastN of prompt and answer. They change what is greedy, too.
	RepeatPenalty    float64 // divides positive logits and multiplies the others, once for each token; 0 or 1 is none
	FrequencyPenalty float64 // is subtracted once for each time that the token occurs; below 0 it is a reward
	PresencePenalty  float64 // is subtracted once if the token occurs; below 0 it is a reward
	RepeatLastN      int     // 0 for 64, below 0 for all tokens
}

// defaultRepeatLastN is llama.cpp's.
const defaultRepeatLastN = 64

// Greedy reports whether the choice is left to no draw: the largest logit after penalties wins, and the seed says nothing.
func (s Sampling) Greedy() bool { return s.Temperature <= 0 || s.TopK == 1 }

// penalises reports whether earlier tokens change the logits.
func (s Sampling) penalises() bool {
	return s.RepeatPenalty != 0 && s.RepeatPenalty != 1 || s.FrequencyPenalty != 0 || s.PresencePenalty != 0
}

// Check returns an error that names the field out of its range.
func (s Sampling) Check() error {
	switch {
	case !finite(s.Temperature):
		return newError(BadRequest, "temperature is not a number", nil)
	case s.TopK < 0:
		return newError(BadRequest, "top-k is below 0", nil)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return newError(BadRequest, "top-p is not between 0 and 1", nil)
	case !(s.MinP >= 0 && s.MinP <= 1):
		return newError(BadRequest, "min-p is not between 0 and 1", nil)
	case !finite(s.RepeatPenalty) || s.RepeatPenalty < 0:
		return newError(BadRequest, "the repeat penalty is not a number from 0 on", nil)
	case !finite(s.FrequencyPenalty):
		return newError(BadRequest, "the frequency penalty is not a number", nil)
	case !finite(s.PresencePenalty):
		return newError(BadRequest, "the presence penalty is not a number", nil)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// sampler draws tokens.
type sampler struct {
	Sampling
	random *rand.PCG
	counts []int32     // how often each token occurs among those that penalties see; all 0 between calls
	kept   []candidate // what the filters left
}

// candidate is a token that may be drawn. Its weight is its probability up to a factor that all share.
type candidate struct {
	id     uint32
	logit  float32
	weight float64
}

func newSampler(s Sampling) *sampler {
	if s.RepeatLastN == 0 {
		s.RepeatLastN = defaultRepeatLastN
	}
	return &sampler{Sampling: s, random: rand.NewPCG(s.Seed, 0x9e3779b97f4a7c15)}
}

// pick returns the token after history, the tokens of prompt and answer so far. It writes to logits. NaN is never chosen; an
// infinite logit is, as it would be by a softmax that could hold it.
func (s *sampler) pick(logits []float32, history []uint32) uint32 {
	s.penalise(logits, history)
	best := argMax(logits)
	if s.Greedy() || !finite(float64(logits[best])) {
		return best
	}
	s.filter(logits, logits[best])
	return s.draw(best, logits[best])
}

// penalise lowers the logits of tokens that occurred lately.
func (s *sampler) penalise(logits []float32, history []uint32) {
	if !s.penalises() {
		return
	}
	if s.counts == nil {
		s.counts = make([]int32, len(logits))
	}
	if s.RepeatLastN > 0 {
		history = history[max(0, len(history)-s.RepeatLastN):]
	}
	for _, id := range history {
		s.counts[id]++
	}
	for _, id := range history {
		if s.counts[id] > 0 {
			logits[id] = s.penalised(logits[id], s.counts[id])
			s.counts[id] = 0
		}
	}
}

// penalised returns the logit of a token that occurred count times.
func (s *sampler) penalised(logit float32, count int32) float32 {
	x := float64(logit)
	switch {
	case s.RepeatPenalty == 0:
	case x > 0:
		x /= s.RepeatPenalty
	default:
		x *= s.RepeatPenalty
	}
	return float32(x - float64(count)*s.FrequencyPenalty - s.PresencePenalty)
}

// argMax returns the index of the largest logit that is a number, the lowest of equals; 0 when none is.
func argMax(logits []float32) uint32 {
	best, top := 0, float32(math.Inf(-1))
	for i, v := range logits {
		if v > top {
			best, top = i, v
		}
	}
	if math.IsInf(float64(top), -1) { // the first of them, if there is one
		best = max(0, slices.Index(logits, top))
	}
	return uint32(best)
}

// filter fills kept with the tokens that TopK, TopP and MinP keep. Weights are relative to the largest logit, top.
func (s *sampler) filter(logits []float32, top float32) {
	s.kept = s.kept[:0]
	k := len(logits)
	if s.TopK > 0 {
		k = min(k, s.TopK)
	}
	switch cutting := s.TopP > 0 && s.TopP < 1; {
	case k < len(logits):
		s.largest(logits, k, top)
		if cutting {
			s.cut(sum(s.kept))
		}
	case cutting:
		// The probabilities are shares of all logits, but seldom do more than a few hundred tokens make up p: as many are
		// sorted as are needed.
		total := 0.0
		for _, v := range logits {
			if v == v {
				total += weight(v, top, 1)
			}
		}
		const first, more = 256, 8
		for n := first; ; n *= more {
			if s.largest(logits, n, top); s.cut(total) || n >= len(logits) {
				break
			}
		}
	default:
		s.atLeast(logits, top)
		return
	}
	if s.MinP > 0 {
		n := len(s.kept)
		for n > 1 && !s.likely(s.kept[n-1].logit, top) {
			n--
		}
		s.kept = s.kept[:n]
	}
}

// weight returns the probability of a logit at a temperature, relative to that of the largest logit.
func weight(logit, top float32, temperature float64) float64 {
	return math.Exp((float64(logit) - float64(top)) / temperature)
}

func sum(c []candidate) (total float64) {
	for i := range c {
		total += c[i].weight
	}
	return total
}

// likely reports whether a token is at least MinP times as likely as the likeliest.
func (s *sampler) likely(logit, top float32) bool {
	return s.MinP == 0 || weight(logit, top, 1) >= s.MinP
}

// atLeast fills kept with the tokens that MinP alone keeps, in the order of their ids.
func (s *sampler) atLeast(logits []float32, top float32) {
	floor := float64(top) + math.Log(s.MinP) - 1 // an exponential is taken of what may pass alone; MinP 0 gives -Inf
	for id, v := range logits {
		if float64(v) >= floor && s.likely(v, top) {
			s.kept = append(s.kept, candidate{id: uint32(id), logit: v})
		}
	}
}

// falling is the order of the filters.
func falling(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.id, b.id))
}

// largest fills kept with the k largest logits, or all, in falling order, with their weights at temperature 1. It keeps the
// largest so far in a heap whose root is the smallest, so that most logits cost one comparison.
func (s *sampler) largest(logits []float32, k int, top float32) {
	heap := s.kept[:0]
	for id, v := range logits {
		switch c := (candidate{id: uint32(id), logit: v}); {
		case v != v:
		case len(heap) < k:
			if heap = append(heap, c); len(heap) == k {
				for root := k/2 - 1; root >= 0; root-- {
					sift(heap, root)
				}
			}
		case v > heap[0].logit: // of equals the one with the lower id is there already
			heap[0] = c
			sift(heap, 0)
		}
	}
	slices.SortFunc(heap, falling)
	for i := range heap {
		heap[i].weight = weight(heap[i].logit, top, 1)
	}
	s.kept = heap
}

// sift moves a candidate down until both below it come before it in falling order.
func sift(heap []candidate, at int) {
	for {
		last := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(heap); child++ {
			if falling(heap[child], heap[last]) > 0 {
				last = child
			}
		}
		if last == at {
			return
		}
		heap[at], heap[last] = heap[last], heap[at]
		at = last
	}
}

// cut drops what TopP excludes, given the weight of all tokens that it chooses from. It reports whether kept has enough of
// them to tell.
func (s *sampler) cut(total float64) bool {
	reached := 0.0
	for i := range s.kept {
		if reached += s.kept[i].weight / total; reached >= s.TopP {
			s.kept = s.kept[:i+1]
			return true
		}
	}
	return false
}

// draw applies the temperature and takes one of the tokens kept; best is the likeliest, and top its logit.
func (s *sampler) draw(best uint32, top float32) uint32 {
	total := 0.0
	for i := range s.kept {
		c := &s.kept[i]
		c.weight = weight(c.logit, top, s.Temperature)
		total += c.weight
	}
	u := float64(s.random.Uint64()>>11) / (1 << 53) * total
	for i := range s.kept {
		if u -= s.kept[i].weight; u < 0 {
			return s.kept[i].id
		}
	}
	return best // the weights add up to a little less than their sum
}
