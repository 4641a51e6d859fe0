package kgenrt

import "context"

// Executor runs one sequence of a model. Positions start at 0; start may be at most the number of positions fed so far,
// and whatever was fed from start on is forgotten. An Executor is not safe for concurrent use.
type Executor interface {
	// Vocab returns the number of logits of a position, Context how many positions fit.
	Vocab() int
	Context() int
	// Prefill feeds tokens at positions start, start+1, ...
	Prefill(ctx context.Context, start int, tokens []uint32) error
	// Step feeds token at position start and returns the k ids that greedy decoding chooses after it: each but the last
	// is fed in turn, so start+k positions are filled afterwards. Ties go to the lowest id. An id of NoToken says that no logit was a
	// number; what comes after it means nothing.
	Step(ctx context.Context, start int, token uint32, k int) ([]uint32, error)
	// Logits feeds token at position start and writes the logits after it to dst, which holds Vocab values.
	Logits(ctx context.Context, start int, token uint32, dst []float32) error
}

// NoToken stands for the token that greedy decoding can't choose, as all logits are NaN.
const NoToken = 0xffffffff

// BatchExecutor is an Executor that gives the logits of many positions faster than one by one.
type BatchExecutor interface {
	Executor
	// LogitsAll feeds tokens and yields the logits after each. The slice is reused; yield returns false to stop.
	LogitsAll(ctx context.Context, start int, tokens []uint32, yield func(pos int, logits []float32) bool) error
}

// TraceExecutor is an Executor that shows the residual stream.
type TraceExecutor interface {
	Executor
	// Trace feeds tokens and yields for each position the residual stream that enters each layer, and as layer L of an
	// L-layer model what leaves the last. The slice is reused; yield returns false to stop.
	Trace(ctx context.Context, start int, tokens []uint32, yield func(pos, layer int, residual []float32) bool) error
}

// LogitsAll yields the logits after every token, by the executor's own method where it has one.
func LogitsAll(ctx context.Context, e Executor, start int, tokens []uint32, yield func(pos int, logits []float32) bool) error {
	if batch, ok := e.(BatchExecutor); ok {
		return batch.LogitsAll(ctx, start, tokens, yield)
	}
	logits := make([]float32, e.Vocab())
	for i, token := range tokens {
		if err := e.Logits(ctx, start+i, token, logits); err != nil {
			return err
		}
		if !yield(start+i, logits) {
			return nil
		}
	}
	return nil
}
