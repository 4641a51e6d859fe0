package kgen

import (
	"context"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// guarded runs a model until it is closed: the evaluator reads weights where the file is mapped.
type guarded struct{ m *Model }

func (g guarded) check() error {
	if g.m.closed {
		return &Error{Code: kgenrt.DeviceLost, Message: "the model was closed"}
	}
	return nil
}

func (g guarded) Vocab() int   { return g.m.exec.Vocab() }
func (g guarded) Context() int { return g.m.exec.Context() }

func (g guarded) Prefill(ctx context.Context, start int, tokens []uint32) error {
	if err := g.check(); err != nil {
		return err
	}
	return asError("feed the prompt", g.m.exec.Prefill(ctx, start, tokens))
}

func (g guarded) Step(ctx context.Context, start int, token uint32, k int) ([]uint32, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	ids, err := g.m.exec.Step(ctx, start, token, k)
	return ids, asError("decode", err)
}

func (g guarded) Logits(ctx context.Context, start int, token uint32, dst []float32) error {
	if err := g.check(); err != nil {
		return err
	}
	return asError("compute logits", g.m.exec.Logits(ctx, start, token, dst))
}

// LogitsAll makes it a kgenrt.BatchExecutor.
func (g guarded) LogitsAll(ctx context.Context, start int, tokens []uint32, yield func(pos int, logits []float32) bool) error {
	if err := g.check(); err != nil {
		return err
	}
	return asError("compute logits", kgenrt.LogitsAll(ctx, g.m.exec, start, tokens, yield))
}

// Trace makes it a kgenrt.TraceExecutor.
func (g guarded) Trace(ctx context.Context, start int, tokens []uint32, yield func(pos, layer int, residual []float32) bool) error {
	if err := g.check(); err != nil {
		return err
	}
	tracer, ok := g.m.exec.(kgenrt.TraceExecutor)
	if !ok {
		return badRequest("this device does not show the residual stream")
	}
	return asError("trace the layers", tracer.Trace(ctx, start, tokens, yield))
}
