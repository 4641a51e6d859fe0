package eval_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models"
)

// prompt is longer than what the machine evaluates at once.
func prompt(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i*37%380 + 1)
	}
	return ids
}

// allLogits feeds tokens cut into calls of the given size and returns the logits of all positions.
func allLogits(t *testing.T, e *eval.Machine, tokens []uint32, size int) [][]float32 {
	t.Helper()
	var rows [][]float32
	for start := 0; start < len(tokens); start += size {
		part := tokens[start:min(len(tokens), start+size)]
		err := e.LogitsAll(t.Context(), start, part, func(pos int, logits []float32) bool {
			if pos != len(rows) {
				t.Fatalf("position %d, want %d", pos, len(rows))
			}
			rows = append(rows, slices.Clone(logits))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

func same(a, b [][]float32) bool {
	return slices.EqualFunc(a, b, slices.Equal[[]float32])
}

// TestSameBits: the number of goroutines, how tokens are cut into calls, passes on the graph and graphs that keep only
// the last row's logits change no bit.
func TestSameBits(t *testing.T) {
	m := oracle.Load(t, "gemma3-q8_0")
	tokens := prompt(130)
	all := models.Options{AllLogits: true, KV: ir.F16}
	want := allLogits(t, machine(t, m, all, 256), tokens, len(tokens))
	for _, size := range []int{1, 2, 7, 63, 64} {
		if !same(want, allLogits(t, machine(t, m, all, 256), tokens, size)) {
			t.Errorf("calls of %d tokens give other logits", size)
		}
	}
	if !same(want, allLogits(t, machine(t, m, models.Options{KV: ir.F16}, 256), tokens, len(tokens))) {
		t.Error("a graph with the last logits only gives others")
	}
	if !same(want, allLogits(t, passed(t, m, all), tokens, len(tokens))) {
		t.Error("the graph after the passes gives other logits")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if !same(want, allLogits(t, machine(t, m, all, 256), tokens, len(tokens))) {
		t.Error("one goroutine gives other logits")
	}
	runtime.GOMAXPROCS(8)
	if !same(want, allLogits(t, machine(t, m, all, 256), tokens, len(tokens))) {
		t.Error("eight goroutines give other logits")
	}
}

func passed(t *testing.T, m *oracle.Model, options models.Options) *eval.Machine {
	t.Helper()
	h, err := models.FromGGUF(m.File)
	if err != nil {
		t.Fatal(err)
	}
	g, err := models.Build(h, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, pass := range ir.Passes() {
		pass.Run(g)
	}
	e, err := eval.New(g, m.File, 256)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRewind(t *testing.T) {
	m := oracle.Load(t, "llama-rope3-f32")
	tokens := prompt(20)
	want := allLogits(t, machine(t, m, models.Options{AllLogits: true}, 64), tokens, 20)
	e := machine(t, m, models.Options{AllLogits: true}, 64)
	for _, wrong := range []int{0, 3, 9} {
		if err := e.Prefill(t.Context(), wrong, prompt(40)[25:]); err != nil {
			t.Fatal(err)
		}
	}
	if !same(want, allLogits(t, e, tokens, 20)) {
		t.Error("what was fed before shows after the sequence was fed again from position 0")
	}
}

// TestStep: greedy ids are those that feeding the best of the logits gives.
func TestStep(t *testing.T) {
	m := oracle.Load(t, "llama-q4_1")
	e := machine(t, m, models.Options{}, 64)
	ids, err := e.Step(t.Context(), 0, 5, 10)
	if err != nil {
		t.Fatal(err)
	}
	logits, token := make([]float32, e.Vocab()), uint32(5)
	for i, id := range ids {
		if err := e.Logits(t.Context(), i, token, logits); err != nil {
			t.Fatal(err)
		}
		token = uint32(slices.Index(logits, slices.Max(logits)))
		if token != id {
			t.Errorf("step %d gives %d, the logits %d", i, id, token)
		}
	}
}

func TestMachineMistakes(t *testing.T) {
	m := oracle.Load(t, "llama-rope3-f32")
	e := machine(t, m, models.Options{}, 8)
	var position *eval.PositionError
	var long *eval.ContextError
	var token *eval.TokenError
	if err := e.Prefill(t.Context(), 1, prompt(1)); !errors.As(err, &position) || position.Start != 1 || position.Fed != 0 {
		t.Errorf("a gap: %v", err)
	}
	if err := e.Prefill(t.Context(), 0, prompt(9)); !errors.As(err, &long) || long.Need != 9 || long.Context != 8 {
		t.Errorf("a prompt of 9 in a context of 8: %v", err)
	}
	if _, err := e.Step(t.Context(), 0, 1, 9); !errors.As(err, &long) {
		t.Errorf("9 steps in a context of 8: %v", err)
	}
	if _, err := e.Step(t.Context(), 0, 1, -1); err == nil {
		t.Error("-1 steps were taken")
	}
	if err := e.Prefill(t.Context(), 0, []uint32{1, 1 << 31}); !errors.As(err, &token) || token.Token != 1<<31 {
		t.Errorf("a token that does not exist: %v", err)
	}
	if err := e.Logits(t.Context(), 0, 1, make([]float32, 3)); err == nil {
		t.Error("logits were written to 3 values")
	}
	if err := e.Prefill(t.Context(), 0, prompt(8)); err != nil {
		t.Errorf("after mistakes: %v", err)
	}
	if err := e.Prefill(t.Context(), 8, nil); err != nil {
		t.Errorf("no tokens at the end of the context: %v", err)
	}
	if _, err := eval.New(&ir.Graph{}, m.File, 8); err == nil {
		t.Error("a graph with nothing in it was accepted")
	}
	g, err := ir.Parse("", "graph \"g\"\ninput x: f32[T, 4]\n%logits = add x, x : f32[T, 4]\noutput %logits")
	if err != nil {
		t.Fatal(err)
	}
	var form *eval.GraphError
	if _, err := eval.New(g, m.File, 8); !errors.As(err, &form) {
		t.Errorf("a graph without tokens: %v", err)
	}
}

// countdown is a context that is cancelled after it was asked a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestCancel: wherever a call is stopped, it says so, and the machine goes on as if it had not been made.
func TestCancel(t *testing.T) {
	m := oracle.Load(t, "llama-rope3-f32")
	tokens := prompt(20)
	want := allLogits(t, machine(t, m, models.Options{AllLogits: true}, 64), tokens, 20)
	e := machine(t, m, models.Options{AllLogits: true}, 64)
	if err := e.Prefill(t.Context(), 0, tokens[:5]); err != nil {
		t.Fatal(err)
	}
	for after := range 6 { // the feeding part of the graph has 25 nodes or more
		err := e.Prefill(&countdown{t.Context(), after * 4}, 5, prompt(40)[20:])
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled after %d nodes: %v", after*4, err)
		}
	}
	logits := make([]float32, e.Vocab())
	for i, token := range tokens[5:] {
		if err := e.Logits(t.Context(), 5+i, token, logits); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(logits, want[19]) {
		t.Error("a cancelled call left something behind")
	}
}

func BenchmarkDecode(b *testing.B) {
	m := oracle.LoadSmolLM2(b)
	e := machine(b, m, models.Options{}, 1024)
	token, position := uint32(504), 0
	for b.Loop() {
		ids, err := e.Step(b.Context(), position, token, 1)
		if err != nil {
			b.Fatal(err)
		}
		token, position = ids[0], (position+1)%1000
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

func BenchmarkPrefill(b *testing.B) {
	m := oracle.LoadSmolLM2(b)
	e := machine(b, m, models.Options{AllLogits: true}, 1024)
	for b.Loop() {
		if err := e.LogitsAll(b.Context(), 0, m.Text.Tokens, func(int, []float32) bool { return true }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(m.Text.Tokens))/b.Elapsed().Seconds(), "tokens/s")
}
