//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// tinyModel is a model of a few kilobytes, compiled for the adapter.
type tinyModel struct {
	adapter *webgpu.Adapter
	file    *kgen.File
	plan    *plan.Plan
}

func newTiny(t *testing.T) *tinyModel {
	t.Helper()
	m := &tinyModel{adapter: webgpu.FirstAdapter(t)}
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	err := os.WriteFile(path, oracle.Bytes(t, "llama-q4_1.gguf"), 0o644)
	if err == nil {
		m.file, err = kgen.OpenFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.file.Close() })
	profile, err := schedules.Lookup("portable")
	if err == nil {
		profile, err = profile.WithDevice(m.adapter.Info())
	}
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := m.file.Compile(kgen.CompileOptions{Profile: profile, KV: ir.F16, Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	m.plan = compiled.Plan
	return m
}

func (m *tinyModel) open(t *testing.T) *webgpu.Device {
	t.Helper()
	d, err := m.adapter.Open(t.Context(), m.plan.Requires)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// session loads the model on a backend. Bursts are of 4 tokens, so that a prompt takes several submits.
func (m *tinyModel) session(t *testing.T, b plan.Backend) *kgenrt.Session {
	t.Helper()
	e, err := kgenrt.NewEngine(t.Context(), m.plan, b, m.file.GGUF(), kgenrt.EngineOptions{Burst: 4, Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	return kgenrt.NewSession(e)
}

// generate returns the tokens up to the end or the error.
func generate(s *kgenrt.Session, prompt []uint32, o kgenrt.Options) (ids []uint32, err error) {
	for id, err := range s.Generate(context.Background(), prompt, o) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func prompt(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(3 + 7*i%50)
	}
	return ids
}

// losing is a backend that loses its device at a submit.
type losing struct {
	plan.Backend
	submits, at int
	after       bool // the submit is still taken
	lose        func()
}

func (l *losing) Submit(w plan.Work) (plan.Ticket, error) {
	l.submits++
	if l.submits == l.at && !l.after {
		l.lose()
	}
	t, err := l.Backend.Submit(w)
	if l.submits == l.at && l.after {
		l.lose()
	}
	return t, err
}

// TestLoss loses the device in the middle of a prompt, and of an answer, before a submit and after it, while bursts are in
// flight: what comes is an error with its code, what was generated before is right, no goroutine stays, and a new device
// gives what one gives that was never lost.
func TestLoss(t *testing.T) {
	if os.Getenv(webgpu.ChildCase) == "" {
		webgpu.InChildren(t, "TestLoss", "all")
		return
	}
	m := newTiny(t)
	whole := m.session(t, m.open(t))
	greedy := kgenrt.Options{MaxTokens: 12}
	for _, c := range []struct {
		name    string
		at      int // the submit
		after   bool
		options kgenrt.Options
		tokens  int // generated before the loss
	}{
		{"in a prompt, before a submit", 4, false, greedy, 0},
		{"in a prompt, after a submit", 4, true, greedy, 0},
		{"in an answer, before a submit", 13, false, greedy, 2},
		{"in an answer, after a submit", 13, true, greedy, 2},
		{"in an answer of bursts", 12, true, kgenrt.Options{MaxTokens: 12, Burst: 12}, 0},
		{"in a sampled answer", 13, false, kgenrt.Options{MaxTokens: 12, Sampling: kgenrt.Sampling{Temperature: 1, Seed: 5}}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, err := generate(whole, prompt(40), c.options)
			if err != nil || len(want) != 12 {
				t.Fatalf("without a loss: %v, %v", want, err)
			}
			goroutines := runtime.NumGoroutine()
			d, err := m.adapter.Open(t.Context(), m.plan.Requires)
			if err != nil {
				t.Fatal(err)
			}
			l := &losing{Backend: d, at: c.at, after: c.after, lose: func() { webgpu.Destroy(d) }}
			s := m.session(t, l)
			got, err := generate(s, prompt(40), c.options)
			isLost(t, err)
			t.Logf("after %d submits and %d tokens: %v", l.submits, len(got), err)
			if l.submits < c.at || len(got) != c.tokens || !slices.Equal(got, want[:len(got)]) {
				t.Errorf("%d submits; got %v, want %d tokens of %v", l.submits, got, c.tokens, want)
			}
			_, err = generate(s, prompt(3), c.options)
			isLost(t, err)
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			for n := 0; n < 1<<20 && runtime.NumGoroutine() > goroutines; n++ {
				runtime.Gosched() // the device's goroutine ends just after Close
			}
			if n := runtime.NumGoroutine(); n > goroutines {
				stacks := make([]byte, 1<<16)
				t.Errorf("%d goroutines, %d before\n%s", n, goroutines, stacks[:runtime.Stack(stacks, true)])
			}
		})
	}
	want, err := generate(whole, prompt(40), greedy)
	if err != nil {
		t.Fatal(err)
	}
	again, err := generate(m.session(t, m.open(t)), prompt(40), greedy)
	if err != nil || !slices.Equal(again, want) {
		t.Errorf("on a new device: got %v, %v, want %v", again, err, want)
	}
}

func isLost(t *testing.T, err error) {
	t.Helper()
	var coded *kgenrt.Error
	var fault *plan.DeviceError
	if !errors.As(err, &coded) || coded.Code != kgenrt.DeviceLost || !errors.As(err, &fault) || fault.Fault != plan.Lost {
		t.Fatalf("got %v, want the loss of the device", err)
	}
}

// TestBrokenKernel breaks one kernel in the chain of a model, in each way that libraries report late or not at all: loading
// fails, with the kernel's name and the compiler's words, and nothing is ever submitted.
func TestBrokenKernel(t *testing.T) {
	if os.Getenv(webgpu.ChildCase) == "" {
		webgpu.InChildren(t, "TestBrokenKernel", "all")
		return
	}
	m := newTiny(t)
	for name, c := range map[string]struct {
		change func(k *plan.Kernel)
		code   kgenrt.Code
		text   string
	}{
		"syntax error": {func(k *plan.Kernel) { k.Text += "\n}" }, kgenrt.KernelRefused, ""},
		"workgroup too large": {func(k *plan.Kernel) {
			k.Text = strings.Replace(k.Text, "@workgroup_size(", "@workgroup_size(100000 + ", 1)
		}, kgenrt.KernelRefused, ""},
		"workgroup that says that it is too large": {func(k *plan.Kernel) { k.Workgroup[0] = 100000 }, kgenrt.LimitExceeded, plan.LimitWorkgroupX},
		"binding of the wrong type": {func(k *plan.Kernel) {
			at := slices.IndexFunc(k.Bindings, func(b plan.Binding) bool { return b.Access == plan.ReadWrite })
			k.Bindings[at].Access = plan.Read
		}, kgenrt.KernelRefused, ""},
		"no entry point": {func(k *plan.Kernel) { k.Text = strings.Replace(k.Text, "fn main(", "fn other(", 1) }, kgenrt.KernelRefused, "main"},
	} {
		for _, trusted := range []bool{false, true} {
			p := *m.plan
			p.Kernels = slices.Clone(p.Kernels)
			middle := len(p.Kernels) / 2
			k := &p.Kernels[middle]
			k.Bindings = slices.Clone(k.Bindings)
			c.change(k)
			lines := strings.Count(k.Text, "\n") + 1

			d := m.open(t)
			e, err := kgenrt.NewEngine(t.Context(), &p, d, m.file.GGUF(), kgenrt.EngineOptions{Trusted: trusted})
			var coded *kgenrt.Error
			if e != nil || !errors.As(err, &coded) || coded.Code != c.code {
				t.Errorf("%s: got %v, want code %s", name, err, c.code)
				continue
			}
			if !strings.Contains(err.Error(), k.Name) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: the text lacks %q or %q: %v", name, k.Name, c.text, err)
			}
			if line := ":" + strconv.Itoa(lines) + ":"; name == "syntax error" && !strings.Contains(err.Error(), line) {
				t.Errorf("%s: the text lacks line %s %v", name, line, err)
			}
			t.Logf("%s, trusted %v: %s", name, trusted, strings.ReplaceAll(err.Error(), "\n", " "))
			if s := d.Stats(); s.Submits != 0 {
				t.Errorf("%s: %d submits", name, s.Submits)
			}
			d.Close()
		}
	}
}

// identical and varied are how many requests TestGrowth makes of each sort.
const (
	identical = 200
	varied    = 40
)

// TestGrowth makes the same request again and again, and then requests of any length: after the second nothing more is
// allocated, the largest bounds what the others take, and after Close nothing is left.
func TestGrowth(t *testing.T) {
	if os.Getenv(webgpu.ChildCase) == "" {
		webgpu.InChildren(t, "TestGrowth", "all")
		return
	}
	m := newTiny(t)
	d := m.open(t)
	s := m.session(t, d)
	request := func(tokens int) {
		t.Helper()
		// The prompt differs from the last one at its first token, so that all of it is fed.
		ids := prompt(tokens)
		ids[0] = uint32(3 + d.Stats().Submits%40)
		if _, err := generate(s, ids, kgenrt.Options{MaxTokens: 3, Burst: 3}); err != nil {
			t.Fatal(err)
		}
	}
	request(6)
	request(6)
	second := webgpu.Holds(d)
	for range identical - 2 {
		request(6)
	}
	if got := webgpu.Holds(d); got != second {
		t.Errorf("after %d requests %+v, after the second %+v", identical, got, second)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range varied {
		request(1 + random.IntN(60))
	}
	if got := webgpu.Holds(d); got != second {
		t.Errorf("after requests of all lengths %+v, before %+v", got, second)
	}
	t.Logf("%d requests alike, %d of all lengths: %+v, %+v", identical, varied, second, d.Stats())
	d.Close()
	if got := webgpu.Holds(d); got.Objects >= second.Objects {
		t.Errorf("after Close %+v", got)
	} // that all are released is for the adapter's test to see
}
