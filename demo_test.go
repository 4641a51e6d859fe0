package kgen_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
)

// demoQuestion is what `make demo` asks.
const demoQuestion = "What is the capital of France?"

// answer returns the greedy answer to the demo's question.
func answer(t *testing.T, device string, prompt *[]uint32) (ids []uint32, text string) {
	t.Helper()
	m, err := kgen.Load(t.Context(), oracle.Find(t, oracle.SmolLM2), kgen.Options{Device: device, Context: 256, Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s, err := m.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if *prompt, err = s.EncodeChat([]kgen.Message{{Role: "user", Content: demoQuestion}}); err != nil {
		t.Fatal(err)
	}
	for piece, err := range s.GenerateIDs(t.Context(), *prompt, kgen.Generation{MaxTokens: 32}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, piece.IDs...)
		text += piece.Text
	}
	return ids, text
}

// The demo's text is the evaluator's, up to the first near tie of the evaluator's logits.
func TestDemoText(t *testing.T) {
	gpu.Adapter(t)
	var prompt []uint32
	got, text := answer(t, "native", &prompt)
	want, reference := answer(t, "cpu", &prompt)
	step, _ := oracle.FirstDifference(got, want, nil)
	switch {
	case step < 0 && len(got) == len(want):
		if text != reference || !strings.Contains(text, "Paris") {
			t.Errorf("equal ids, but %q and %q", text, reference)
		}
	case step < 0:
		t.Errorf("%q has %d tokens, %q has %d", text, len(got), reference, len(want))
	default:
		if margin := marginAfter(t, slices.Concat(prompt, want[:step])); margin >= 0.05 {
			t.Errorf("%q differs from %q at step %d, where the margin is %.3f", text, reference, step, margin)
		}
	}
}

// marginAfter returns how far the evaluator's best logit is ahead of the second.
func marginAfter(t *testing.T, tokens []uint32) float32 {
	t.Helper()
	m, err := kgen.Load(t.Context(), oracle.Find(t, oracle.SmolLM2), kgen.Options{Device: "cpu", Context: 256, Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e, last := m.Executor(), len(tokens)-1
	logits := make([]float32, e.Vocab())
	if err := e.Prefill(t.Context(), 0, tokens[:last]); err != nil {
		t.Fatal(err)
	}
	if err := e.Logits(t.Context(), last, tokens[last], logits); err != nil {
		t.Fatal(err)
	}
	slices.Sort(logits)
	return logits[len(logits)-1] - logits[len(logits)-2]
}

// The program that the README shows runs.
func TestExample(t *testing.T) {
	model := oracle.Find(t, oracle.SmolLM2)
	gpu.Adapter(t)
	out, err := exec.CommandContext(t.Context(), "go", "run", "./examples/chat", model, demoQuestion).CombinedOutput()
	if err != nil || len(strings.TrimSpace(string(out))) == 0 {
		t.Errorf("%v: %s", err, out)
	}
	fmt.Fprintln(t.Output(), string(out))
}
