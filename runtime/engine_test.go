package kgenrt

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Each call is refused before anything reaches the device, or taken; five positions are filled before it.
func TestEngineChecksCalls(t *testing.T) {
	prefill := func(start int, tokens ...uint32) func(*Engine) error {
		return func(e *Engine) error { return e.Prefill(context.Background(), start, tokens) }
	}
	step := func(start int, token uint32, k int) func(*Engine) error {
		return func(e *Engine) error { _, err := e.Step(context.Background(), start, token, k); return err }
	}
	logits := func(start int, token uint32, room int) func(*Engine) error {
		return func(e *Engine) error { return e.Logits(context.Background(), start, token, make([]float32, room)) }
	}
	trace := func(e *Engine) error {
		return e.Trace(context.Background(), 0, []uint32{1}, func(int, int, []float32) bool { return true })
	}
	const left = abacusContext - 5
	for _, c := range []struct {
		name string
		call func(*Engine) error
		want Code
		text string
	}{
		{"prefill where the last ended", prefill(5, 1), "", ""},
		{"prefill over what was fed", prefill(2, 1), "", ""},
		{"prefill after a gap", prefill(6, 1), BadRequest, "position 6 does not follow the 5 positions fed so far"},
		{"prefill before the beginning", prefill(-1, 1), BadRequest, "position -1"},
		{"prefill nothing", prefill(5), "", ""},
		{"prefill as much as fits", prefill(5, make([]uint32, left)...), "", ""},
		{"prefill one more", prefill(5, make([]uint32, left+1)...), ContextFull, "66 tokens from position 5 on do not fit the context of 70"},
		{"prefill the largest id", prefill(5, 0, abacusVocab-1), "", ""},
		{"prefill an id too large", prefill(5, 0, abacusVocab), BadRequest, "token id 10 is not below the vocabulary size, 10"},
		{"prefill the largest number", prefill(5, math.MaxUint32), BadRequest, "token id 4294967295"},
		{"step after a gap", step(6, 1, 1), BadRequest, "position 6"},
		{"step as far as fits", step(5, 1, left), "", ""},
		{"step one further", step(5, 1, left+1), ContextFull, "do not fit"},
		{"step without end", step(5, 1, math.MaxInt), ContextFull, "do not fit"},
		{"step not at all", step(5, 1, 0), BadRequest, "below 1"},
		{"step backwards", step(5, 1, -1), BadRequest, "below 1"},
		{"step with an id too large", step(5, abacusVocab, 1), BadRequest, "token id 10"},
		{"logits after a gap", logits(6, 1, abacusVocab), BadRequest, "position 6"},
		{"logits of an id too large", logits(5, abacusVocab, abacusVocab), BadRequest, "token id 10"},
		{"too little room for logits", logits(5, 1, abacusVocab-1), BadRequest, "room for 9 logits was given, there are 10"},
		{"too much room for logits", logits(5, 1, abacusVocab+1), BadRequest, "room for 11 logits"},
		{"a trace that was not compiled in", trace, BadRequest, "compiled without its residual stream"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, a := abacusEngine(t, abacusPlan(t, nil), EngineOptions{})
			if err := e.Prefill(t.Context(), 0, make([]uint32, 5)); err != nil {
				t.Fatal(err)
			}
			a.calls = 0
			err := c.call(e)
			var typed *Error
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.As(err, &typed) || typed.Code != c.want || !strings.Contains(err.Error(), c.text)):
				t.Errorf("got %v, want %s with %q", err, c.want, c.text)
			case c.want != "" && a.calls > 0:
				t.Errorf("the device was called %d times", a.calls)
			}
		})
	}
}

// Feeding a position forgets it and all after it, in whatever way it is fed.
func TestEngineForgets(t *testing.T) {
	e, _ := abacusEngine(t, abacusPlan(t, nil), EngineOptions{})
	steps := func(n int) func(start int) error {
		return func(start int) error { _, err := e.Step(t.Context(), start, 1, n); return err }
	}
	for _, c := range []struct {
		name   string
		feed   func(start int) error
		filled int // after it began at position 2
	}{
		{"prefill", func(start int) error { return e.Prefill(t.Context(), start, []uint32{1}) }, 3},
		{"prefill of nothing", func(start int) error { return e.Prefill(t.Context(), start, nil) }, 2},
		{"a step", steps(1), 3},
		{"steps", steps(3), 5},
		{"logits", func(start int) error { return e.Logits(t.Context(), start, 1, make([]float32, abacusVocab)) }, 3},
	} {
		if err := e.Prefill(t.Context(), 0, make([]uint32, 9)); err != nil {
			t.Fatal(err)
		}
		if err := c.feed(2); err != nil {
			t.Fatal(err)
		}
		var typed *Error
		if err := e.Prefill(t.Context(), c.filled+1, []uint32{1}); !errors.As(err, &typed) || typed.Code != BadRequest {
			t.Errorf("%s: position %d can be fed: %v", c.name, c.filled+1, err)
		}
		if err := e.Prefill(t.Context(), c.filled, []uint32{1}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The last position can be filled in every way, and none after it.
func TestEngineFillsTheContext(t *testing.T) {
	e, _ := abacusEngine(t, abacusPlan(t, nil), EngineOptions{})
	if err := e.Prefill(t.Context(), 0, make([]uint32, abacusContext-1)); err != nil {
		t.Fatal(err)
	}
	room := make([]float32, abacusVocab)
	if err := e.Logits(t.Context(), abacusContext-1, 1, room); err != nil {
		t.Error(err)
	}
	if _, err := e.Step(t.Context(), abacusContext-1, 1, 1); err != nil {
		t.Error(err)
	}
	var typed *Error
	if err := e.Logits(t.Context(), abacusContext, 1, room); !errors.As(err, &typed) || typed.Code != ContextFull {
		t.Errorf("a position too many: %v", err)
	}
}

// errBoom is a failure of the device.
var errBoom = &plan.DeviceError{Fault: plan.Lost, Call: "boom"}

// work is what the failure tests ask of an engine, from an empty cache on.
var work = map[string]func(context.Context, *Engine) error{
	"prefill": func(ctx context.Context, e *Engine) error { return e.Prefill(ctx, 0, counted(0, 19)) },
	"step": func(ctx context.Context, e *Engine) error {
		ids, err := e.Step(ctx, 0, 1, 50)
		if !slices.Equal(ids, counted(1, len(ids))) || err == nil && len(ids) != 50 {
			return errors.New("wrong ids")
		}
		return err
	},
	"logits": func(ctx context.Context, e *Engine) error {
		return e.Logits(ctx, 0, 1, make([]float32, abacusVocab))
	},
}

// Whatever call fails, or is the last before the context ends, the error has a code, nothing stays in flight, and the same work
// can be done afterwards.
func TestEngineSurvivesFailures(t *testing.T) {
	for name, do := range work {
		for _, cancelled := range []bool{false, true} {
			failures := 0
			for at := 1; at == 1 || failures == at-1; at++ {
				e, a := abacusEngine(t, abacusPlan(t, nil), EngineOptions{Burst: 4})
				ctx, cancel := context.WithCancel(t.Context())
				want := DeviceLost
				if cancelled {
					want = Aborted
				}
				a.before = func(call int) error {
					switch {
					case call != at:
						return nil
					case cancelled:
						cancel()
						return nil
					}
					return errBoom
				}
				err := do(ctx, e)
				cancel()
				if err == nil {
					break // there are no more calls, or the last one was not worth ending
				}
				failures++
				var typed *Error
				if !errors.As(err, &typed) || typed.Code != want || typed.Err == nil {
					t.Errorf("%s, call %d: %v, want code %s", name, at, err, want)
				}
				if len(a.flying) > 0 {
					t.Errorf("%s, call %d: %d submits stay in flight after %v", name, at, len(a.flying), err)
				}
				a.before = nil
				if err := do(t.Context(), e); err != nil {
					t.Errorf("%s, call %d, again: %v", name, at, err)
				}
			}
			if failures < 2 {
				t.Errorf("%s, cancelled %v: %d calls failed", name, cancelled, failures)
			}
		}
	}
}

// After a failure the positions that were surely fed stay, and no more.
func TestEngineAfterAFailure(t *testing.T) {
	e, a := abacusEngine(t, abacusPlan(t, nil), EngineOptions{Burst: 4})
	waits := 0
	a.before = func(int) error {
		if len(a.flying) == 2 {
			waits++
		}
		if waits == 3 {
			return errBoom
		}
		return nil
	}
	if err := e.Prefill(t.Context(), 0, counted(0, 30)); err == nil {
		t.Fatal("the device did not fail")
	}
	a.before = nil
	fed := e.filled
	if fed == 0 || fed%4 != 0 || fed >= 30 {
		t.Errorf("%d positions are said to be fed", fed)
	}
	if !slices.Equal(a.fed(e.plan, fed), counted(0, fed)) {
		t.Errorf("of %d positions, those fed are %v", fed, a.fed(e.plan, fed))
	}
	if err := e.Prefill(t.Context(), fed+1, []uint32{1}); err == nil {
		t.Error("a gap was left")
	}
	if err := e.Prefill(t.Context(), fed, []uint32{1}); err != nil {
		t.Error(err)
	}
}

func TestNewEngineFailures(t *testing.T) {
	p := abacusPlan(t, loaded)
	calls := 0
	for at := 0; at <= calls; at++ {
		a := newAbacus()
		a.before = func(call int) error {
			if call == at {
				return errBoom
			}
			return nil
		}
		_, err := NewEngine(t.Context(), p, a, loadedTensors(), EngineOptions{})
		var typed *Error
		switch {
		case at == 0 && err != nil:
			t.Fatal(err)
		case at == 0:
			calls = a.calls
		case !errors.As(err, &typed) || typed.Code != DeviceLost || typed.Message == "":
			t.Errorf("call %d of %d: %v", at, calls, err)
		}
	}
	for _, missing := range []string{"matrix", "long", "factors"} {
		source := loadedTensors()
		delete(source, missing)
		_, err := NewEngine(t.Context(), p, newAbacus(), source, EngineOptions{})
		var typed *Error
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), "load "+missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var typed *Error
	if _, err := NewEngine(ctx, p, newAbacus(), loadedTensors(), EngineOptions{}); !errors.As(err, &typed) || typed.Code != Aborted {
		t.Errorf("cancelled: %v", err)
	}
	other := *p
	other.Format++
	if _, err := NewEngine(t.Context(), &other, newAbacus(), loadedTensors(), EngineOptions{}); !errors.As(err, &typed) || typed.Code != BadRequest {
		t.Errorf("another format: %v", err)
	}
}

func TestEngineOptions(t *testing.T) {
	p := abacusPlan(t, loaded)
	for _, trusted := range []bool{false, true} {
		a := newAbacus()
		stages := map[string]Progress{}
		opts := EngineOptions{Trusted: trusted, Progress: func(now Progress) {
			if was := stages[now.Stage]; now.Done <= was.Done || now.Done > now.Total {
				t.Errorf("%s: %d of %d done after %d", now.Stage, now.Done, now.Total, was.Done)
			}
			stages[now.Stage] = now
		}}
		if _, err := NewEngine(t.Context(), p, a, loadedTensors(), opts); err != nil {
			t.Fatal(err)
		}
		if len(a.trusted) != 4 || slices.Contains(a.trusted, !trusted) {
			t.Errorf("kernels were made with trusted %v, want %v", a.trusted, trusted)
		}
		for _, stage := range []string{"kernels", "weights"} {
			if last := stages[stage]; last.Done == 0 || last.Done != last.Total {
				t.Errorf("%s: %d of %d done at the end", stage, last.Done, last.Total)
			}
		}
	}
	for kind, want := range map[string]int{"gpu": 8, "software": 1, "": 1} {
		e, a := abacusEngine(t, abacusPlan(t, nil), EngineOptions{})
		if e.burst != 8 {
			t.Errorf("a burst of %d on a GPU", e.burst)
		}
		a.kind = kind
		e, err := NewEngine(t.Context(), e.plan, a, tensors{}, EngineOptions{})
		if err != nil || e.burst != want {
			t.Errorf("a burst of %d on %q, %v; want %d", e.burst, kind, err, want)
		}
	}
}

// A prompt that takes several submits tells how far it is, one that takes a single one doesn't.
func TestPromptProgress(t *testing.T) {
	var seen []Progress
	e, _ := abacusEngine(t, abacusPlan(t, nil), EngineOptions{Burst: 4, Progress: func(p Progress) { seen = append(seen, p) }})
	for _, c := range []struct {
		start, tokens int
		want          []int64
	}{{0, 4, nil}, {2, 10, []int64{4, 8, 10}}} {
		seen = nil
		if err := e.Prefill(t.Context(), c.start, make([]uint32, c.tokens)); err != nil {
			t.Fatal(err)
		}
		var done []int64
		for _, p := range seen {
			done = append(done, p.Done)
			if p.Stage != "prompt" || p.Total != int64(c.tokens) {
				t.Errorf("progress %+v of %d tokens", p, c.tokens)
			}
		}
		if !slices.Equal(done, c.want) {
			t.Errorf("%d tokens from %d on: %v were done, want %v", c.tokens, c.start, done, c.want)
		}
	}
}

// The sizes of what loaded places: a matrix that takes several pieces, rows longer than a piece, and a table of several
// pieces.
const (
	matrixRows, matrixColumns = 140001, 17
	longRows, longColumns     = 2, 1200000
	tableDims, tablePositions = 64, 20001
)

// loaded adds weights and a table to a plan. The matrix is of f16 in rows that start in the middle of words.
func loaded(b *plan.Builder) {
	b.Stack(plan.Recipe{Type: "F16", RowBlocks: matrixColumns, BlockBytes: 2, Planes: []plan.Plane{
		{Name: "values", BlockBits: 16, RowStride: 2 * matrixColumns, Fields: []plan.Field{{From: 0, At: 0, Bits: 16}}},
	}}, plan.Rows{Tensor: "matrix", Rows: matrixRows})
	b.Stack(plan.Recipe{Type: "F32", RowBlocks: longColumns, BlockBytes: 4, Planes: []plan.Plane{
		{Name: "values", BlockBits: 32, RowStride: 4 * longColumns, Fields: []plan.Field{{From: 0, At: 0, Bits: 32}}},
	}}, plan.Rows{Tensor: "long", Rows: longRows})
	b.Table(plan.Table{
		To:   b.Place(plan.TableBuffer, "table", tablePositions*tableDims*4),
		Base: 500000, Dims: tableDims, Factor: 0.5, Positions: tablePositions, Factors: "factors",
	})
}

func loadedTensors() tensors {
	random := rand.New(rand.NewPCG(5, 6))
	fill := func(n int) []byte {
		data := make([]byte, n)
		for at := 0; at+8 <= n; at += 8 {
			v := random.Uint64()
			putU32(data[at:], uint32(v))
			putU32(data[at+4:], uint32(v>>32))
		}
		return data
	}
	factors := make([]byte, tableDims/2*4)
	for i := range tableDims / 2 {
		putF32(factors[i*4:], 1+float32(i)/8)
	}
	return tensors{"matrix": fill(2 * matrixRows * matrixColumns), "long": fill(4 * longRows * longColumns), "factors": factors}
}

// What is loaded in pieces arrives whole and in its place.
func TestEngineLoads(t *testing.T) {
	p, a, source := abacusPlan(t, loaded), newAbacus(), loadedTensors()
	if _, err := NewEngine(t.Context(), p, a, source, EngineOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Weights {
		want := source[w.Tensor]
		if got := a.bytes(w.Recipe.Planes[0].To); !bytes.Equal(got[:len(want)], want) {
			t.Errorf("%s is not what the source has", w.Tensor)
		}
	}
	if n := uint64(p.Tables[0].To.Bytes); n < weightChunk {
		t.Fatalf("the table has %d bytes: one piece", n)
	}
	table := a.bytes(p.Tables[0].To)
	for _, pos := range []int{0, 1, 2, 8191, 16383, 16384, 16385, tablePositions - 1} {
		for i := range tableDims / 2 {
			angle := float64(pos) / math.Exp(math.Log(500000)*float64(2*i)/tableDims) / 2 / (1 + float64(i)/8)
			at := (pos*tableDims/2 + i) * 8
			if d := math.Abs(float64(getF32(table[at:])) - math.Cos(angle)); d > 1e-6 {
				t.Errorf("cos of position %d, pair %d is off by %g", pos, i, d)
			}
			if d := math.Abs(float64(getF32(table[at+4:])) - math.Sin(angle)); d > 1e-6 {
				t.Errorf("sin of position %d, pair %d is off by %g", pos, i, d)
			}
		}
	}
	for page := range p.Params.Pages {
		if got := getU32(a.bytes(p.Params.Range)[(p.Params.PagesAt+page)*4:]); got != uint32(page) {
			t.Errorf("page %d of the sequence is %d", page, got)
		}
	}
}
