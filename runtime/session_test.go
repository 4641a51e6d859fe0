package kgenrt

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// counter is an Executor whose model says: the next token is the last one plus one, modulo Vocab. It notes what it was
// asked to feed, and refuses positions that its cache does not reach.
type counter struct {
	context int
	fed     []uint32
	calls   []string
	cancel  func() // called at the first Step
	broken  uint32 // after this token, if it isn't 0, no logit is a number
}

func (c *counter) Vocab() int   { return 10 }
func (c *counter) Context() int { return c.context }

func (c *counter) feed(start int, tokens ...uint32) error {
	if start > len(c.fed) || start+len(tokens) > c.context {
		return errors.New("position out of reach")
	}
	c.fed = append(c.fed[:start], tokens...)
	return nil
}

func (c *counter) Prefill(_ context.Context, start int, tokens []uint32) error {
	c.calls = append(c.calls, "prefill")
	return c.feed(start, tokens...)
}

func (c *counter) Step(ctx context.Context, start int, token uint32, k int) ([]uint32, error) {
	if c.cancel != nil {
		c.cancel()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.calls = append(c.calls, "step")
	var ids []uint32
	for i := range k {
		if err := c.feed(start+i, token); err != nil {
			return nil, err
		}
		if token = (token + 1) % 10; c.broken != 0 && token == c.broken+1 {
			return append(ids, NoToken, 9, 9)[:min(len(ids)+3, k)], nil
		}
		ids = append(ids, token)
	}
	return ids, nil
}

func (c *counter) Logits(_ context.Context, start int, token uint32, dst []float32) error {
	c.calls = append(c.calls, "logits")
	clear(dst)
	dst[(token+1)%10] = 50
	for i := range dst {
		if c.broken != 0 && token == c.broken {
			dst[i] = float32(math.NaN())
		}
	}
	return c.feed(start, token)
}

func collect(t *testing.T, s *Session, prompt []uint32, opts Options) ([]uint32, error) {
	t.Helper()
	var ids []uint32
	for id, err := range s.Generate(t.Context(), prompt, opts) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Where no logit is a number, generation ends with an error, greedy or not, after the tokens before.
func TestNoLogitIsANumber(t *testing.T) {
	for name, opts := range map[string]Options{"greedy": {Burst: 4}, "sampled": {Sampling: Sampling{Temperature: 1, Seed: 1}}} {
		s := NewSession(&counter{context: 20, broken: 5})
		ids, err := collect(t, s, []uint32{2, 3}, opts)
		var coded *Error
		if !errors.As(err, &coded) || coded.Code != InvalidModel || !slices.Equal(ids, []uint32{4, 5}) {
			t.Errorf("%s: got %v, %v", name, ids, err)
		}
	}
}

func TestGenerate(t *testing.T) {
	end := func(id uint32) bool { return id == 7 }
	for _, c := range []struct {
		name   string
		prompt []uint32
		opts   Options
		want   []uint32
		finish Finish
	}{
		{"one token at a time", []uint32{1, 2, 3}, Options{MaxTokens: 3}, []uint32{4, 5, 6}, Length},
		{"in bursts that do not divide the length", []uint32{3}, Options{MaxTokens: 5, Burst: 3}, []uint32{4, 5, 6, 7, 8}, Length},
		{"an end token inside a burst", []uint32{3}, Options{Burst: 8, End: end}, []uint32{4, 5, 6}, Stop},
		{"the context is full", []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1}, Options{Burst: 4}, []uint32{2, 3, 4, 5, 6}, Length},
		{"sampled", []uint32{1}, Options{MaxTokens: 2, Sampling: Sampling{Temperature: 1}}, []uint32{2, 3}, Length},
		{"greedy with penalties on prompt and answer", []uint32{4, 5, 3}, Options{MaxTokens: 4, Burst: 4, Sampling: Sampling{PresencePenalty: 100}}, []uint32{0, 1, 2, 6}, Length},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewSession(&counter{context: 16})
			got, err := collect(t, s, c.prompt, c.opts)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
			if s.Last().Finish != c.finish {
				t.Errorf("finish %q, want %q", s.Last().Finish, c.finish)
			}
		})
	}
}

// What the session believes to be cached is what the executor was fed, also after an end token inside a burst.
func TestSessionReusesThePrefix(t *testing.T) {
	e := &counter{context: 32}
	s := NewSession(e)
	answer, err := collect(t, s, []uint32{1, 2, 3}, Options{Burst: 8, End: func(id uint32) bool { return id == 6 }})
	if err != nil {
		t.Fatal(err)
	}
	next := append([]uint32{1, 2, 3}, append(answer, 9, 9, 1)...)
	if _, err := collect(t, s, next, Options{MaxTokens: 1}); err != nil {
		t.Fatal(err)
	}
	last := s.Last()
	if last.ReusedTokens != 5 || last.PrefillTokens != 2 {
		t.Errorf("reused %d and fed %d tokens, want 5 and 2", last.ReusedTokens, last.PrefillTokens)
	}
	if diff := cmp.Diff(next, e.fed); diff != "" {
		t.Errorf("the cache (-want +got):\n%s", diff)
	}
	if _, err := collect(t, s, []uint32{4, 4}, Options{MaxTokens: 1}); err != nil || s.Last().ReusedTokens != 0 {
		t.Errorf("another prompt: %v, reused %d, want 0", err, s.Last().ReusedTokens)
	}
}

func TestGenerateRefusesBeforeWork(t *testing.T) {
	for _, c := range []struct {
		name   string
		prompt []uint32
		opts   Options
		want   Code
	}{
		{"empty prompt", nil, Options{}, BadRequest},
		{"prompt longer than the context", make([]uint32, 17), Options{}, ContextFull},
		{"token outside the vocabulary", []uint32{10}, Options{}, BadRequest},
		{"negative length", []uint32{1}, Options{MaxTokens: -1}, BadRequest},
		{"top-p above 1", []uint32{1}, Options{Sampling: Sampling{Temperature: 1, TopP: 1.5}}, BadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &counter{context: 16}
			_, err := collect(t, NewSession(e), c.prompt, c.opts)
			var typed *Error
			if !errors.As(err, &typed) || typed.Code != c.want {
				t.Errorf("got %v, want code %s", err, c.want)
			}
			if len(e.calls) > 0 {
				t.Errorf("the executor was called: %v", e.calls)
			}
		})
	}
}

func TestGenerateStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := NewSession(&counter{context: 16, cancel: cancel})
	var last error
	for _, err := range s.Generate(ctx, []uint32{1, 2}, Options{}) {
		last = err
	}
	var typed *Error
	if !errors.As(last, &typed) || typed.Code != Aborted || !errors.Is(last, context.Canceled) {
		t.Errorf("got %v, want an error with code %s that wraps context.Canceled", last, Aborted)
	}
	if s.Last().Finish != Abort {
		t.Errorf("finish %q", s.Last().Finish)
	}
}
