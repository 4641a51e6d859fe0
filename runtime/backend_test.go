package kgenrt

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// abacus is a plan.Backend without a device. Its kernels do in Go what those of a model do, for a model that says: the next
// token is the last one plus one, modulo the vocabulary. feed writes each token to the cache at its position, so that tests
// see what was fed. Work is done when it is submitted, and counts as in flight until it was waited for.
type abacus struct {
	kind      string
	ring      int
	buffers   [][]byte
	pipelines []string
	groups    [][]plan.Range
	trusted   []bool
	flying    map[plan.Ticket][]byte
	most      int   // submits that were in flight at a time
	replays   []int // lists in each submit
	calls     int
	before    func(call int) error // called before each call is done, with its number
}

func newAbacus() *abacus { return &abacus{kind: "gpu", flying: map[plan.Ticket][]byte{}} }

func (a *abacus) call() error {
	a.calls++
	if a.before != nil {
		return a.before(a.calls)
	}
	return nil
}

func (a *abacus) Device() plan.Device { return plan.Device{Kind: a.kind} }
func (a *abacus) Stats() plan.Stats   { return plan.Stats{} }
func (a *abacus) Close() error        { return nil }

func (a *abacus) NewBuffer(b plan.Buffer) (plan.Handle, error) {
	a.buffers = append(a.buffers, make([]byte, b.Bytes))
	return plan.Handle(len(a.buffers) - 1), a.call()
}

func (a *abacus) Write(buffer plan.Handle, offset uint64, data []byte) error {
	if err := a.call(); err != nil {
		return err
	}
	if offset%4 != 0 || len(data)%4 != 0 || offset+uint64(len(data)) > uint64(len(a.buffers[buffer])) {
		return errors.New("a write that WebGPU refuses")
	}
	copy(a.buffers[buffer][offset:], data)
	return nil
}

func (a *abacus) NewPipeline(k *plan.Kernel, trusted bool) (plan.Handle, error) {
	a.pipelines, a.trusted = append(a.pipelines, k.Name), append(a.trusted, trusted)
	return plan.Handle(len(a.pipelines) - 1), a.call()
}

func (a *abacus) NewGroup(_ []plan.Access, ranges []plan.Range) (plan.Handle, error) {
	a.groups = append(a.groups, ranges)
	return plan.Handle(len(a.groups) - 1), a.call()
}

func (a *abacus) Submit(w plan.Work) (plan.Ticket, error) {
	if err := a.call(); err != nil {
		return 0, err
	}
	for _, records := range w.Replays {
		for at := 0; at < len(records); at += plan.RecordWords {
			a.dispatch(a.pipelines[records[at]], a.groups[records[at+1]])
		}
	}
	var read []byte
	for _, r := range w.Reads {
		read = append(read, a.bytes(r)...)
	}
	a.replays = append(a.replays, len(w.Replays))
	t := plan.Ticket(len(a.replays))
	a.flying[t] = read
	a.most = max(a.most, len(a.flying))
	return t, nil
}

// Wait leaves a submit in flight when its context ends, and takes it out after any other end.
func (a *abacus) Wait(ctx context.Context, t plan.Ticket) ([]byte, error) {
	err := a.call()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	data, ok := a.flying[t]
	if !ok {
		return nil, errors.New("nothing is in flight under this ticket")
	}
	delete(a.flying, t)
	return data, err
}

func (a *abacus) bytes(r plan.Range) []byte { return a.buffers[r.Buffer][r.Offset:][:r.Bytes] }

// dispatch runs a kernel; its bindings are params and, for feed and show, what it writes.
func (a *abacus) dispatch(kernel string, ranges []plan.Range) {
	params := a.bytes(ranges[0])
	word := func(i uint32) []byte { return params[i*4:] }
	token, pos, written := getU32(word(plan.ParamsToken)), getU32(word(plan.ParamsPos)), getU32(word(plan.ParamsOutLen))
	entry := word(getU32(word(plan.ParamsOut)) + min(written, uint32(a.ring-1)))
	switch kernel {
	case "feed":
		putU32(a.bytes(ranges[1])[pos*4:], token)
		return
	case "show":
		logits := a.bytes(ranges[1])
		clear(logits)
		putF32(logits[(token+1)%uint32(len(logits)/4)*4:], float32(pos+1))
		return
	case "choose":
		token = (token + 1) % abacusVocab
		putU32(entry, token)
	case "advance":
		token = getU32(entry)
	}
	putU32(word(plan.ParamsToken), token)
	putU32(word(plan.ParamsPos), pos+1)
	putU32(word(plan.ParamsLen), getU32(word(plan.ParamsLen))+1)
	putU32(word(plan.ParamsOutLen), written+1)
}

const (
	abacusVocab   = 10
	abacusContext = 70
	abacusRing    = 20
)

// abacusPlan is a plan of the abacus' kernels; more adds weights, tables and outputs.
func abacusPlan(t *testing.T, more func(b *plan.Builder)) *plan.Plan {
	t.Helper()
	b := plan.NewBuilder("abacus", "any", plan.Requires{})
	params := plan.Params{Sequences: 1, PagesAt: plan.ParamsRecordWords, Pages: 3, RingAt: plan.ParamsRecordWords + 3, Ring: abacusRing}
	params.Range = b.Place(plan.ParamsBuffer, "params", uint64(params.Words())*4)
	b.Params(params)
	cache := b.Place(plan.KVBuffer, "cache", abacusContext*4)
	values := b.Place(plan.KVBuffer, "values that nothing reads", abacusContext*4)
	b.KV(plan.KV{PageTokens: 32, Pages: 3, Layers: []plan.Range{cache, values}})
	logits := b.Place(plan.OutputBuffer, "logits", abacusVocab*4)
	b.Output("logits", logits)
	b.Model(abacusVocab, abacusContext)
	if more != nil {
		more(b)
	}
	kernel := func(name string, paramsAccess plan.Access, more ...plan.Binding) int {
		bindings := append([]plan.Binding{{Name: "params", Access: paramsAccess, Bytes: params.Range.Bytes}}, more...)
		return b.Kernel(plan.Kernel{Name: name, Text: name, Workgroup: [3]int{1, 1, 1}, Bindings: bindings, Proved: true})
	}
	feed := kernel("feed", plan.Read, plan.Binding{Name: "cache", Access: plan.ReadWrite, Bytes: cache.Bytes})
	show := kernel("show", plan.Read, plan.Binding{Name: "logits", Access: plan.ReadWrite, Bytes: logits.Bytes})
	choose, advance := kernel("choose", plan.ReadWrite), kernel("advance", plan.ReadWrite)
	prefill, decode, forward := b.List(plan.Prefill, 1), b.List(plan.Decode, 1), b.List(plan.Forward, 1)
	plan.Lists{prefill, decode, forward}.Dispatch(feed, 1, 1, 1, params.Range, cache)
	prefill.Dispatch(advance, 1, 1, 1, params.Range)
	decode.Dispatch(choose, 1, 1, 1, params.Range)
	forward.Dispatch(show, 1, 1, 1, params.Range, logits)
	p, err := b.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fed returns the tokens of the first n positions.
func (a *abacus) fed(p *plan.Plan, n int) []uint32 {
	tokens := make([]uint32, n)
	for i := range tokens {
		tokens[i] = getU32(a.bytes(p.KV.Layers[0])[i*4:])
	}
	return tokens
}

// abacusEngine loads the plan on an abacus whose ring it shares.
func abacusEngine(t *testing.T, p *plan.Plan, opts EngineOptions) (*Engine, *abacus) {
	t.Helper()
	a := newAbacus()
	a.ring = p.Params.Ring
	e, err := NewEngine(t.Context(), p, a, tensors{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	a.calls = 0
	return e, a
}

// tensors is a WeightSource in memory.
type tensors map[string][]byte

func (m tensors) ReadTensor(name string, offset int64, p []byte) error {
	data, ok := m[name]
	if !ok || offset+int64(len(p)) > int64(len(data)) {
		return errors.New("no such bytes of " + name)
	}
	copy(p, data[offset:])
	return nil
}

// counted returns n tokens as the abacus counts them, after first.
func counted(first uint32, n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = (first + uint32(i) + 1) % abacusVocab
	}
	return ids
}

func TestEngineCounts(t *testing.T) {
	p := abacusPlan(t, nil)
	for _, burst := range []int{1, 3, 4, abacusRing, 1000} {
		e, a := abacusEngine(t, p, EngineOptions{Burst: burst})
		prompt := counted(4, 33)
		if err := e.Prefill(t.Context(), 0, prompt); err != nil {
			t.Fatal(err)
		}
		ids, err := e.Step(t.Context(), 33, 2, 37)
		if err != nil || !slices.Equal(ids, counted(2, 37)) {
			t.Errorf("bursts of %d: %v, %v", burst, ids, err)
		}
		want := slices.Concat(prompt, []uint32{2}, counted(2, 36))
		if got := a.fed(p, abacusContext); !slices.Equal(got, want) {
			t.Errorf("bursts of %d: fed %v, want %v", burst, got, want)
		}
		if most := slices.Max(a.replays); most != min(burst, abacusRing) {
			t.Errorf("bursts of %d: a submit of %d", burst, most)
		}
		if a.most > 2 || len(a.flying) > 0 {
			t.Errorf("bursts of %d: %d submits in flight at a time, %d at the end", burst, a.most, len(a.flying))
		}
		logits := make([]float32, abacusVocab)
		if err := e.Logits(t.Context(), 41, 8, logits); err != nil || logits[9] != 42 {
			t.Errorf("bursts of %d: logits %v, %v", burst, logits, err)
		}
	}
}
