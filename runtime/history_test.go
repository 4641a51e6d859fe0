package kgenrt

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// history is an Executor whose next token depends on every token and position fed: what a session forgets or leaves in the
// cache changes its answers.
type history struct{ fed []uint32 }

const historyVocab = 100

func (h *history) Vocab() int   { return historyVocab }
func (h *history) Context() int { return 70 }

func (h *history) feed(start int, tokens ...uint32) error {
	if start > len(h.fed) || start+len(tokens) > h.Context() {
		return errors.New("position out of reach")
	}
	h.fed = append(h.fed[:start], tokens...)
	return nil
}

func (h *history) next() uint32 {
	sum := uint64(7)
	for i, t := range h.fed {
		sum = (sum^uint64(t)<<8^uint64(i))*0x9e3779b97f4a7c15 + 1
	}
	return uint32(sum>>40) % historyVocab
}

func (h *history) Prefill(ctx context.Context, start int, tokens []uint32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return h.feed(start, tokens...)
}

func (h *history) Step(ctx context.Context, start int, token uint32, k int) ([]uint32, error) {
	var ids []uint32
	for i := range k {
		if err := ctx.Err(); err != nil {
			return ids, err
		}
		if err := h.feed(start+i, token); err != nil {
			return ids, err
		}
		token = h.next()
		ids = append(ids, token)
	}
	return ids, nil
}

func (h *history) Logits(ctx context.Context, start int, token uint32, dst []float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	clear(dst)
	if err := h.feed(start, token); err != nil {
		return err
	}
	dst[h.next()] = 50
	return nil
}

// A session that goes on from what it has answers like one that starts anew, whatever ended the rounds before: an end token, a
// length, a full context, a caller that stopped or cancelled.
func TestSessionLikeAFreshOne(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := NewSession(&history{})
	var before []uint32
	for round := range 300 {
		prompt := slices.Clone(before[:random.IntN(len(before)+1)])
		for n := 1 + random.IntN(70); len(prompt) < n; {
			prompt = append(prompt, uint32(random.IntN(historyVocab)))
		}
		opts := Options{MaxTokens: random.IntN(20), Burst: random.IntN(12)}
		if below := uint32(random.IntN(60)); random.IntN(3) == 0 {
			opts.End = func(id uint32) bool { return id < below }
		}
		if random.IntN(3) == 0 {
			opts.Sampling = Sampling{Temperature: 1, Seed: uint64(round), TopK: 5}
		}
		if random.IntN(3) == 0 {
			opts.Sampling.PresencePenalty, opts.Sampling.RepeatLastN = 60, 30
		}
		stop := 1 + random.IntN(80) // tokens after which the caller stops
		cancelled := random.IntN(3) == 0
		got, err := listen(t, s, prompt, opts, stop, cancelled)
		want, fresh := listen(t, NewSession(&history{}), prompt, opts, stop, cancelled)
		if !slices.Equal(got, want) || (err == nil) != (fresh == nil) {
			t.Fatalf("round %d, %d tokens, %+v, stop after %d (cancelled %v): %v %v, a fresh session gives %v %v",
				round, len(prompt), opts, stop, cancelled, got, err, want, fresh)
		}
		before = append(prompt, got...)
		before = before[:min(len(before), 70)]
	}
}

func listen(t *testing.T, s *Session, prompt []uint32, opts Options, stop int, cancelled bool) (ids []uint32, err error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for id, err := range s.Generate(ctx, prompt, opts) {
		if err != nil {
			return ids, err
		}
		if ids = append(ids, id); len(ids) < stop {
			continue
		}
		if !cancelled {
			return ids, nil
		}
		cancel()
	}
	return ids, nil
}

// A sequence that begins inside another is refused, and does the other one no harm.
func TestSessionRunsOneSequence(t *testing.T) {
	s := NewSession(&counter{context: 16})
	var ids []uint32
	for id, err := range s.Generate(t.Context(), []uint32{1}, Options{MaxTokens: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		var typed *Error
		if _, err := collect(t, s, []uint32{5}, Options{}); !errors.As(err, &typed) || typed.Code != BadRequest {
			t.Errorf("a second sequence: %v", err)
		}
	}
	if !slices.Equal(ids, []uint32{2, 3, 4}) || s.Last().Finish != Length {
		t.Errorf("%v, %s", ids, s.Last().Finish)
	}
	if again, err := collect(t, s, []uint32{5}, Options{MaxTokens: 1}); err != nil || !slices.Equal(again, []uint32{6}) {
		t.Errorf("afterwards: %v, %v", again, err)
	}
}
