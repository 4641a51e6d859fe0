package kgenrt

import (
	"context"
	"iter"
	"strconv"
	"time"
)

// Session generates tokens with an Executor and remembers which tokens its KV cache holds, so that a prompt which
// continues the last one is fed only from where they part.
type Session struct {
	exec   Executor
	cached []uint32
	last   Result
	busy   bool // a sequence is being generated
}

// NewSession returns a session with nothing cached. The executor must not be used by anyone else.
func NewSession(e Executor) *Session { return &Session{exec: e} }

// Finish says why generation ended.
type Finish string

// The reasons.
const (
	Stop   Finish = "stop"   // an end token
	Length Finish = "length" // MaxTokens, or the context is full
	Abort  Finish = "abort"  // the caller stopped it, or an error
)

// Options controls one generation.
type Options struct {
	MaxTokens int // 0 for as many as the context holds
	Sampling  Sampling
	// End reports the tokens that end the text; they are not yielded. Nil for none.
	End func(id uint32) bool
	// Burst is how many greedy tokens without penalties are asked for at a time, 0 for 1. Cancellation takes effect between
	// bursts.
	Burst int
}

// Result describes a finished generation.
type Result struct {
	Finish         Finish
	ReusedTokens   int // positions of the prompt that were in the cache
	PrefillTokens  int // positions fed before the last token of the prompt
	DecodeTokens   int // tokens generated, an end token included
	PrefillSeconds float64
	DecodeSeconds  float64
}

// Last describes the generation that ended last.
func (s *Session) Last() Result { return s.last }

// Generate yields the tokens that follow the prompt. An error is yielded once, with token 0, and ends the sequence.
// Stopping early is allowed. The tokens of the prompt and the answer stay cached. One sequence is generated at a time: a
// second one that begins before the first has ended is an error.
func (s *Session) Generate(ctx context.Context, prompt []uint32, opts Options) iter.Seq2[uint32, error] {
	return func(yield func(uint32, error) bool) {
		if s.busy {
			yield(0, newError(BadRequest, "the session is generating already", nil))
			return
		}
		s.busy = true
		defer func() { s.busy = false }()
		s.last = Result{Finish: Abort}
		err := s.checkRequest(prompt, opts)
		if err == nil {
			err = s.prefill(ctx, prompt)
		}
		if err == nil {
			err = s.decode(ctx, prompt, opts, yield)
		}
		if err != nil {
			yield(0, err)
		}
	}
}

func (s *Session) checkRequest(prompt []uint32, opts Options) error {
	switch context := s.exec.Context(); {
	case len(prompt) == 0:
		return newError(BadRequest, "the prompt is empty", nil)
	case len(prompt) > context:
		return newError(ContextFull, "the prompt has "+strconv.Itoa(len(prompt))+" tokens, the context holds "+strconv.Itoa(context), nil)
	case opts.MaxTokens < 0:
		return newError(BadRequest, "the number of tokens to generate is below 0", nil)
	}
	for _, id := range prompt {
		if int64(id) >= int64(s.exec.Vocab()) {
			return newError(BadRequest, "token id "+strconv.FormatUint(uint64(id), 10)+" is not below the vocabulary size, "+strconv.Itoa(s.exec.Vocab()), nil)
		}
	}
	return opts.Sampling.Check()
}

// prefill feeds all of the prompt but its last token, from where it parts from what is cached.
func (s *Session) prefill(ctx context.Context, prompt []uint32) error {
	begin := time.Now()
	reused := commonPrefix(s.cached, prompt[:len(prompt)-1])
	rest := prompt[reused : len(prompt)-1]
	s.cached = s.cached[:reused]
	s.last.ReusedTokens = reused
	defer func() { s.last.PrefillSeconds = time.Since(begin).Seconds() }()
	if len(rest) > 0 {
		if err := s.exec.Prefill(ctx, reused, rest); err != nil {
			return Wrap("feed the prompt", err)
		}
	}
	s.cached = append(s.cached, rest...)
	s.last.PrefillTokens = len(rest)
	return nil
}

func commonPrefix(a, b []uint32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// decode feeds the last token of the prompt and then each token chosen. A context of n positions gives n tokens after a
// prompt of one: the last token chosen need not be fed.
func (s *Session) decode(ctx context.Context, prompt []uint32, opts Options, yield func(uint32, error) bool) error {
	left := s.exec.Context() - len(prompt) + 1
	if opts.MaxTokens > 0 {
		left = min(left, opts.MaxTokens)
	}
	next := s.chooser(opts)
	token := prompt[len(prompt)-1]
	for left > 0 {
		if err := ctx.Err(); err != nil {
			return Wrap("decode", err)
		}
		begin := time.Now()
		ids, err := next(ctx, len(s.cached), token, left)
		s.last.DecodeSeconds += time.Since(begin).Seconds()
		if err != nil {
			return Wrap("decode", err)
		}
		for _, id := range ids {
			s.cached = append(s.cached, token)
			if id == NoToken {
				return noNumber(len(s.cached))
			}
			token = id
			s.last.DecodeTokens++
			left--
			if opts.End != nil && opts.End(id) {
				s.last.Finish = Stop
				return nil
			}
			if !yield(id, nil) {
				return nil
			}
		}
	}
	s.last.Finish = Length
	return nil
}

// chooser returns the function that feeds a token and chooses up to left tokens after it.
func (s *Session) chooser(opts Options) func(ctx context.Context, pos int, token uint32, left int) ([]uint32, error) {
	if opts.Sampling.Greedy() && !opts.Sampling.penalises() {
		burst := max(1, opts.Burst)
		return func(ctx context.Context, pos int, token uint32, left int) ([]uint32, error) {
			return s.exec.Step(ctx, pos, token, min(burst, left))
		}
	}
	draw := newSampler(opts.Sampling)
	logits, chosen := make([]float32, s.exec.Vocab()), make([]uint32, 1)
	return func(ctx context.Context, pos int, token uint32, left int) ([]uint32, error) {
		if err := s.exec.Logits(ctx, pos, token, logits); err != nil {
			return nil, err
		}
		if chosen[0] = NoToken; someNumber(logits) {
			chosen[0] = draw.pick(logits, append(s.cached, token)) // all that was fed, and this token
		}
		return chosen, nil
	}
}

// someNumber reports whether a logit is a number: NaN in the weights makes NaN of all of them.
func someNumber(logits []float32) bool {
	for _, v := range logits {
		if v == v {
			return true
		}
	}
	return false
}

// noNumber is the error after so many tokens when no logit is a number.
func noNumber(fed int) error {
	return newError(InvalidModel, "no logit after "+strconv.Itoa(fed)+" tokens is a number: some weight of the model is not finite, or the device computes nonsense (kgen doctor tells)", nil)
}
