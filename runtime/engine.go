package kgenrt

import (
	"context"
	"strconv"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Engine is the Executor that replays a plan on a backend. It runs one sequence.
type Engine struct {
	plan     *plan.Plan
	backend  plan.Backend
	buffers  []plan.Handle // by the plan's numbers
	lists    map[plan.Phase][]uint32
	burst    int
	filled   int // positions in the KV cache
	progress func(Progress)
}

// EngineOptions chooses how an Engine loads and runs.
type EngineOptions struct {
	// Progress is called while kernels are compiled and weights are placed, and as the tokens of a prompt are fed that takes several
	// submits; nil for none.
	Progress func(Progress)
	// Burst is the largest number of tokens in one submit, 0 for DefaultBurst of the device. Cancellation takes effect
	// between submits.
	Burst int
	// Trusted creates kernels that are proved in bounds without bounds checks.
	Trusted bool
}

// NewEngine creates everything the plan needs on the backend and loads the weights. The backend stays the caller's: its
// Close frees what the Engine made.
func NewEngine(ctx context.Context, p *plan.Plan, b plan.Backend, weights WeightSource, opts EngineOptions) (*Engine, error) {
	if p.Format != plan.Format1 {
		return nil, newError(BadRequest, "plan format "+strconv.Itoa(p.Format)+" is not the one this runtime reads, "+strconv.Itoa(plan.Format1), nil)
	}
	if err := checkParams(p); err != nil {
		return nil, err
	}
	e := &Engine{plan: p, backend: b, burst: opts.Burst, lists: map[plan.Phase][]uint32{}}
	if e.burst <= 0 {
		e.burst = DefaultBurst(b.Device().Kind)
	}
	e.burst = min(e.burst, p.Params.Ring)
	progress := opts.Progress
	if progress == nil {
		progress = func(Progress) {}
	}
	e.progress = progress
	for _, step := range []func() error{
		e.createBuffers,
		func() error { return e.createLists(ctx, opts.Trusted, progress) },
		func() error { return e.loadWeights(ctx, weights, progress) },
		func() error { return e.loadTables(ctx, weights) },
		e.writePages,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// DefaultBurst is how many tokens go into one submit on a kind of device: on a GPU, where a token takes about a millisecond,
// as many as still flow; elsewhere each is worth showing.
func DefaultBurst(kind string) int {
	if kind == "gpu" {
		return 8
	}
	return 1
}

func (e *Engine) createBuffers() error {
	for _, buffer := range e.plan.Buffers {
		h, err := e.backend.NewBuffer(buffer)
		if err != nil {
			return Wrap("create buffer "+buffer.Name, err)
		}
		e.buffers = append(e.buffers, h)
	}
	return nil
}

// createLists compiles the kernels, makes the bind groups and turns the plan's records into records of handles.
func (e *Engine) createLists(ctx context.Context, trusted bool, progress func(Progress)) error {
	var pipelines, groups []plan.Handle
	for i := range e.plan.Kernels {
		if err := ctx.Err(); err != nil {
			return Wrap("compile kernels", err)
		}
		k := &e.plan.Kernels[i]
		h, err := e.backend.NewPipeline(k, trusted)
		if err != nil {
			return Wrap("compile kernel "+k.Name, err)
		}
		pipelines = append(pipelines, h)
		progress(Progress{"kernels", int64(i + 1), int64(len(e.plan.Kernels))})
	}
	for _, g := range e.plan.Groups {
		h, err := e.backend.NewGroup(g.Layout, e.ranges(g.Ranges))
		if err != nil {
			return Wrap("create a bind group", err)
		}
		groups = append(groups, h)
	}
	for _, list := range e.plan.Lists {
		if list.Columns != 1 {
			continue
		}
		records := make([]uint32, len(list.Records))
		copy(records, list.Records)
		for at := 0; at < len(records); at += plan.RecordWords {
			records[at] = uint32(pipelines[records[at]])
			records[at+1] = uint32(groups[records[at+1]])
		}
		e.lists[list.Phase] = records
	}
	return nil
}

// ranges returns the ranges with the backend's buffer handles in place of the plan's numbers.
func (e *Engine) ranges(in []plan.Range) []plan.Range {
	out := make([]plan.Range, len(in))
	for i, r := range in {
		r.Buffer = int(e.buffers[r.Buffer])
		out[i] = r
	}
	return out
}

// Vocab returns the number of logits of a position.
func (e *Engine) Vocab() int { return e.plan.Vocab }

// Context returns how many positions fit the KV cache.
func (e *Engine) Context() int { return e.plan.Context }

// Prefill feeds tokens in bursts.
func (e *Engine) Prefill(ctx context.Context, start int, tokens []uint32) error {
	if err := e.check(start, tokens, 0); err != nil {
		return err
	}
	e.filled = start
	return Wrap("feed the prompt", e.inBursts(ctx, len(tokens), func(at, n int) (plan.Ticket, error) {
		if err := e.writeRecord(start+at, n, tokens[at], tokens[at+1:at+n]); err != nil {
			return 0, err
		}
		return e.replay(plan.Prefill, n, nil)
	}, func(n int, _ []byte) {
		e.filled += n
		if len(tokens) > e.burst {
			e.progress(Progress{"prompt", int64(e.filled - start), int64(len(tokens))})
		}
	}))
}

// inBursts does total tokens of work: submit starts n of them from at on, done gets what they read, in order. Two bursts are
// in flight, so that one is encoded while the device works on the other. Nothing is in flight afterwards, also after an
// error; cancellation takes effect between submits.
func (e *Engine) inBursts(ctx context.Context, total int, submit func(at, n int) (plan.Ticket, error), done func(n int, data []byte)) error {
	type burst struct {
		ticket plan.Ticket
		n      int
	}
	var flying []burst
	defer func() {
		for _, b := range flying {
			e.backend.Wait(context.WithoutCancel(ctx), b.ticket) // an error has been found already
		}
	}()
	for at := 0; at < total || len(flying) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if at == total || len(flying) == 2 {
			data, err := e.backend.Wait(ctx, flying[0].ticket)
			if err != nil {
				return err
			}
			done(flying[0].n, data)
			flying = flying[1:]
			continue
		}
		n := min(e.burst, total-at)
		t, err := submit(at, n)
		if err != nil {
			return err
		}
		flying = append(flying, burst{t, n})
		at += n
	}
	return nil
}

// Step decodes k tokens in bursts; the next burst is encoded while the device works on the last.
func (e *Engine) Step(ctx context.Context, start int, token uint32, k int) ([]uint32, error) {
	if err := e.check(start, []uint32{token}, k-1); err != nil {
		return nil, err
	}
	ids := make([]uint32, 0, k)
	for len(ids) < k {
		more, err := e.decode(ctx, start+len(ids), token, min(k-len(ids), e.plan.Params.Ring))
		if ids = append(ids, more...); err != nil {
			return ids, Wrap("decode", err)
		}
		if token = ids[len(ids)-1]; token == NoToken {
			break
		}
	}
	return ids, nil
}

// decode decodes as many tokens as the ring holds. The record is written once; after that the device feeds itself. It
// returns the ids that were read before an error.
func (e *Engine) decode(ctx context.Context, start int, token uint32, k int) ([]uint32, error) {
	e.filled = start
	if err := e.writeRecord(start, k, token, nil); err != nil {
		return nil, err
	}
	var ids []uint32
	err := e.inBursts(ctx, k, func(at, n int) (plan.Ticket, error) {
		ring := e.plan.Params.Range
		ring.Offset += uint64(e.plan.Params.RingAt+at) * 4
		ring.Bytes = uint64(n) * 4
		fault := e.plan.Params.Range
		fault.Offset += plan.ParamsFault * 4
		fault.Bytes = 4
		return e.replay(plan.Decode, n, []plan.Range{ring, fault})
	}, func(n int, data []byte) {
		for ; len(data) > 4; data = data[4:] {
			ids = append(ids, getU32(data))
		}
		if fault := getU32(data); fault > 0 {
			for i := int(fault) - 1; i < len(ids); i++ {
				ids[i] = NoToken
			}
		}
		e.filled += n
	})
	return ids, err
}

// Logits feeds one token and reads the logits after it.
func (e *Engine) Logits(ctx context.Context, start int, token uint32, dst []float32) error {
	out, ok := e.plan.Output("logits")
	if !ok {
		return newError(BadRequest, "the plan has no output named logits", nil)
	}
	if len(dst) != e.plan.Vocab {
		return newError(BadRequest, "room for "+strconv.Itoa(len(dst))+" logits was given, there are "+strconv.Itoa(e.plan.Vocab), nil)
	}
	data, err := e.forward(ctx, start, token, []plan.Range{out.Range})
	if err != nil {
		return err
	}
	floats(dst, data)
	return nil
}

// Trace feeds tokens one by one and reads the residual stream after each; the plan must have been compiled to keep it.
func (e *Engine) Trace(ctx context.Context, start int, tokens []uint32, yield func(pos, layer int, residual []float32) bool) error {
	var ranges []plan.Range
	for layer := 0; ; layer++ {
		out, ok := e.plan.Output("layer." + strconv.Itoa(layer) + ".in")
		if !ok {
			break
		}
		ranges = append(ranges, out.Range)
	}
	if len(ranges) == 0 {
		return newError(BadRequest, "the plan was compiled without its residual stream as outputs", nil)
	}
	for i, token := range tokens {
		data, err := e.forward(ctx, start+i, token, ranges)
		if err != nil {
			return err
		}
		residual := make([]float32, len(data)/len(ranges)/4)
		for layer := range ranges {
			floats(residual, data[layer*len(residual)*4:])
			if !yield(start+i, layer, residual) {
				return nil
			}
		}
	}
	return nil
}

func (e *Engine) forward(ctx context.Context, start int, token uint32, reads []plan.Range) ([]byte, error) {
	if err := e.check(start, []uint32{token}, 0); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, Wrap("compute logits", err)
	}
	e.filled = start
	if err := e.writeRecord(start, 1, token, nil); err != nil {
		return nil, Wrap("compute logits", err)
	}
	t, err := e.replay(plan.Forward, 1, reads)
	if err != nil {
		return nil, Wrap("compute logits", err)
	}
	data, err := e.backend.Wait(ctx, t)
	if err != nil {
		e.backend.Wait(context.WithoutCancel(ctx), t) // so that nothing stays in flight
		return nil, Wrap("compute logits", err)
	}
	e.filled = start + 1
	return data, nil
}

// replay submits a list n times over, then the reads, in one submit.
func (e *Engine) replay(phase plan.Phase, n int, reads []plan.Range) (plan.Ticket, error) {
	records, ok := e.lists[phase]
	if !ok {
		return 0, newError(BadRequest, "the plan has no list for "+phase.String(), nil)
	}
	work := plan.Work{Reads: e.ranges(reads)}
	for range n {
		work.Replays = append(work.Replays, records)
	}
	return e.backend.Submit(work)
}
