package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
)

// command runs the program and returns its status, what it wrote to stdout, and the same to stderr.
func command(t *testing.T, ctx context.Context, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(ctx, args, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// done runs a command that is to succeed.
func done(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := command(t, t.Context(), args...)
	if status != exitDone {
		t.Fatalf("kgen %s: status %d\n%s", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// one decodes output that is to be one JSON value and nothing else.
func one(t *testing.T, output string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(output))
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in %q", err, output)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("something follows the JSON value: %q", output)
	}
}

// tinyModel writes the oracle's smallest model to a file.
func tinyModel(t *testing.T) (path string, m *oracle.Model) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(path, oracle.Bytes(t, "llama-q4_1.gguf"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, oracle.Load(t, "llama-q4_1")
}

func commas(ids []uint32) string {
	var s []string
	for _, id := range ids {
		s = append(s, fmt.Sprint(id))
	}
	return strings.Join(s, ",")
}

// exactly are the flags of the path that the oracle's numbers are held to.
func exactly(verb, model string, args ...string) []string {
	return append([]string{verb, model, "--device", "cpu", "--exact"}, args...)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

type scoreResult struct {
	NLL  []float64 `json:"nll"`
	Mean float64   `json:"mean_nll"`
	PPL  float64   `json:"ppl"`
}

// The last token's likelihood follows from the oracle's logits after those before it: the best token's at every position, any
// token's at the last.
func TestScoreValues(t *testing.T) {
	path, m := tinyModel(t)
	p := m.Prompts[1]
	score := func(ids ...uint32) (r scoreResult) {
		one(t, done(t, exactly("score", path, "--json", "--ids", commas(ids))...), &r)
		if len(r.NLL) != len(ids)-1 {
			t.Fatalf("%d likelihoods of %d tokens", len(r.NLL), len(ids))
		}
		sum := 0.0
		for _, x := range r.NLL {
			sum += x
		}
		near(t, "the mean", r.Mean, sum/float64(len(r.NLL)), 1e-12)
		near(t, "the perplexity", r.PPL, math.Exp(r.Mean), 1e-9*r.PPL)
		return r
	}
	for at := range p.ArgMaxAll {
		r := score(append(slices.Clone(p.Tokens[:at+1]), p.ArgMaxAll[at])...)
		near(t, fmt.Sprint("the best token's NLL after ", at+1, " tokens"), r.NLL[at], p.LogSumExpAll[at]-p.LogitMaxAll[at], oracle.CPU.NLL)
	}
	for _, next := range []uint32{0, 51, 100, 383} {
		r := score(append(slices.Clone(p.Tokens), next)...)
		near(t, fmt.Sprint("the NLL of token ", next), r.NLL[len(p.Tokens)-1], oracle.LogSumExp(p.Logits)-float64(p.Logits[next]), oracle.CPU.NLL)
	}
	all := score(p.Tokens...)
	for at, x := range all.NLL {
		if best := p.LogSumExpAll[at] - p.LogitMaxAll[at]; x < best-oracle.CPU.NLL {
			t.Errorf("token %d has NLL %v, the best one %v", at+1, x, best)
		}
	}
	people := done(t, exactly("score", path, "--ids", commas(p.Tokens))...)
	for _, want := range []string{fmt.Sprintf("mean nll    %.6f\n", all.Mean), fmt.Sprintf("perplexity  %.4f\n", all.PPL)} {
		if !strings.Contains(people, want) {
			t.Errorf("%q lacks %q", people, want)
		}
	}
}

func TestLogitsValues(t *testing.T) {
	path, m := tinyModel(t)
	for _, p := range m.Prompts {
		var r struct {
			Vocab   int       `json:"n_vocab"`
			Logits  []float32 `json:"logits"`
			RMSAll  []float64 `json:"layer_rms_all"`
			RMSLast []float64 `json:"layer_rms_last"`
		}
		one(t, done(t, exactly("logits", path, "--layers", "--json", "--ids", commas(p.Tokens))...), &r)
		if r.Vocab != len(p.Logits) || len(r.Logits) != r.Vocab {
			t.Fatalf("%s: %d of %d logits", p.Name, len(r.Logits), r.Vocab)
		}
		near(t, p.Name+": NMSE", oracle.NMSE(r.Logits, p.Logits), 0, oracle.CPU.NMSE)
		if len(r.RMSAll) != len(p.LayerRMSAll) || len(r.RMSLast) != len(p.LayerRMSLast) {
			t.Fatalf("%s: RMS of %d and %d layers, want %d", p.Name, len(r.RMSAll), len(r.RMSLast), len(p.LayerRMSAll))
		}
		for i := range r.RMSAll {
			near(t, fmt.Sprint(p.Name, ": RMS of all at layer ", i), r.RMSAll[i]/p.LayerRMSAll[i], 1, oracle.CPU.RMS)
			near(t, fmt.Sprint(p.Name, ": RMS of the last at layer ", i), r.RMSLast[i]/p.LayerRMSLast[i], 1, oracle.CPU.RMS)
		}
		var all struct {
			Logits [][]float32 `json:"logits"`
		}
		one(t, done(t, exactly("logits", path, "--all", "--json", "--ids", commas(p.Tokens))...), &all)
		if len(all.Logits) != len(p.Tokens) {
			t.Fatalf("%s: logits of %d positions, want %d", p.Name, len(all.Logits), len(p.Tokens))
		}
		for pos, row := range all.Logits {
			near(t, fmt.Sprint(p.Name, ": largest logit of ", pos), float64(slices.Max(row)), p.LogitMaxAll[pos], oracle.CPU.MaxAbs)
			near(t, fmt.Sprint(p.Name, ": logsumexp of ", pos), oracle.LogSumExp(row), p.LogSumExpAll[pos], oracle.CPU.MaxAbs)
		}
	}
}

// People get the ten likeliest tokens, the best first, after the last token or after each, then the layers.
func TestLogitsForPeople(t *testing.T) {
	path, m := tinyModel(t)
	p := m.Prompts[1]
	layers := len(p.LayerRMSAll)
	lines := strings.Split(strings.TrimSpace(done(t, exactly("logits", path, "--layers", "--ids", commas(p.Tokens))...)), "\n")
	if len(lines) != 10+layers {
		t.Fatalf("%d lines, want 10 tokens and %d layers", len(lines), layers)
	}
	checkTop(t, lines[:10], p.Logits)
	lines = strings.Split(strings.TrimSpace(done(t, exactly("logits", path, "--all", "--ids", commas(p.Tokens))...)), "\n")
	if len(lines) != 11*len(p.Tokens) {
		t.Fatalf("%d lines, want 11 for each of %d tokens", len(lines), len(p.Tokens))
	}
	checkTop(t, lines[len(lines)-10:], p.Logits)
	for pos, best := range p.ArgMaxAll {
		block := lines[11*pos:]
		if got := strings.Fields(block[1])[0]; block[0] != fmt.Sprint("after token ", pos) || got != fmt.Sprint(best) {
			t.Errorf("%s: token %s is the best, want %d", block[0], got, best)
		}
	}
}

// checkTop compares lines of a token and its logit each with the largest of the logits.
func checkTop(t *testing.T, lines []string, logits []float32) {
	t.Helper()
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(logits[b], logits[a]) })
	for i, line := range lines {
		var id int
		var logit float64
		if _, err := fmt.Sscan(line, &id, &logit); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		near(t, "a logit", logit, float64(logits[id]), oracle.CPU.MaxAbs)
		if want := order[i]; id != want && logits[want]-logits[id] > float32(oracle.CPU.MaxAbs) {
			t.Errorf("token %d is in place %d, want %d", id, i+1, want)
		}
	}
}

func TestLargest(t *testing.T) {
	if got := largest([]float32{1, 3, 3, 2, 5, 3}, 4); !slices.Equal(got, []int{4, 1, 2, 5}) {
		t.Errorf("the largest are at %v", got)
	}
	if got := largest([]float32{1, 2}, 10); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("the largest of two are at %v", got)
	}
}

// ran is a part of what run --json prints.
type ran struct {
	IDs    []uint32 `json:"ids"`
	Finish string   `json:"finish"`
	Seed   *uint64  `json:"seed"`
	Stats  struct {
		Dispatches int `json:"dispatches"`
		Submits    int `json:"submits"`
		Syncs      int `json:"syncs"`
	} `json:"stats"`
}

func TestRunIsGreedy(t *testing.T) {
	path, m := tinyModel(t)
	p := m.Prompts[1]
	for _, sampling := range [][]string{{"--temp", "0"}, {"--temp", "1.5", "--top-k", "1"}, {"--temp", "0", "--top-k", "7", "--seed", "3"}} {
		var r ran
		args := append([]string{"--ids", commas(p.Tokens), "--max-tokens", fmt.Sprint(len(p.Greedy)), "--ignore-eos", "--json"}, sampling...)
		one(t, done(t, exactly("run", path, args...)...), &r)
		if step, excused := oracle.FirstDifference(r.IDs, p.Greedy, p.NearTies); step >= 0 && !excused || len(r.IDs) != len(p.Greedy) {
			t.Errorf("%v: ids %v, want %v", sampling, r.IDs, p.Greedy)
		}
		if r.Seed != nil || r.Finish != "length" {
			t.Errorf("%v: seed %v, finish %s", sampling, r.Seed, r.Finish)
		}
	}
}

// An end token ends the text unless it is to be ignored. The model's is moved to the third one that it generates.
func TestRunEnds(t *testing.T) {
	path, m := tinyModel(t)
	p := m.Prompts[1]
	end := slices.IndexFunc(p.Greedy, func(id uint32) bool { return id == p.Greedy[2] })
	data := oracle.Bytes(t, "llama-q4_1.gguf")
	key := []byte("tokenizer.ggml.eos_token_id\x04\x00\x00\x00") // and the type, u32
	at := bytes.Index(data, key)
	if at < 0 {
		t.Fatal("the model names no end token")
	}
	binary.LittleEndian.PutUint32(data[at+len(key):], p.Greedy[2])
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flags  []string
		tokens int
		finish string
	}{{nil, end, "stop"}, {[]string{"--ignore-eos"}, 8, "length"}} {
		var r ran
		args := append([]string{"--ids", commas(p.Tokens), "--max-tokens", "8", "--temp", "0", "--json"}, c.flags...)
		one(t, done(t, exactly("run", path, args...)...), &r)
		if r.Finish != c.finish || !slices.Equal(r.IDs, p.Greedy[:c.tokens]) {
			t.Errorf("%v: %s after %v, want %s after %v", c.flags, r.Finish, r.IDs, c.finish, p.Greedy[:c.tokens])
		}
	}
}

// inspected is a part of what inspect --json prints.
type inspected struct {
	Dispatches map[string]int `json:"dispatches"`
	Kernels    []struct {
		Dispatches int `json:"dispatches"`
	} `json:"kernels"`
}

// Counts of dispatches are those of the steps.
func TestInspectCounts(t *testing.T) {
	path, _ := tinyModel(t)
	var r inspected
	one(t, done(t, "inspect", path, "--json"), &r)
	sum := 0
	for _, k := range r.Kernels {
		sum += k.Dispatches
	}
	if sum != r.Dispatches["decode"] || sum == 0 {
		t.Errorf("kernels have %d dispatches, decode has %d", sum, r.Dispatches["decode"])
	}
	steps := map[string]int{}
	for _, phases := range regexp.MustCompile(`phases \[(.*?)\]`).FindAllStringSubmatch(done(t, "inspect", path, "--steps"), -1) {
		for _, phase := range strings.Fields(phases[1]) {
			steps[phase]++
		}
	}
	for _, phase := range []string{"prefill", "decode", "forward"} {
		if steps[phase] != r.Dispatches[phase] || steps[phase] == 0 {
			t.Errorf("%s: %d steps, %d dispatches", phase, steps[phase], r.Dispatches[phase])
		}
	}
	// Decode chooses a token in two steps, which forward leaves out; prefill has no head, and moves on in a step of its own.
	if d := r.Dispatches; d["decode"] != d["forward"]+2 || d["prefill"] >= d["forward"] {
		t.Errorf("dispatches %v", d)
	}
}

// On a device, the tokens of a burst take one submit and one wait, and each as many dispatches as inspect counts.
func TestBurstValues(t *testing.T) {
	gpu.Adapter(t)
	path, _ := tinyModel(t)
	var plan inspected
	one(t, done(t, "inspect", path, "--json"), &plan)
	var ids []uint32
	for burst, submits := range map[string]int{"1": 12, "4": 3, "12": 1} {
		var r ran
		one(t, done(t, "run", path, "--device", "native", "--profile", "portable", "--ids", "51", "--temp", "0", "--max-tokens", "12", "--ignore-eos", "--burst", burst, "--json"), &r)
		if r.Stats.Submits != submits || r.Stats.Syncs != submits {
			t.Errorf("bursts of %s: %d submits and %d waits, want %d", burst, r.Stats.Submits, r.Stats.Syncs, submits)
		}
		if want := 12 * plan.Dispatches["decode"]; r.Stats.Dispatches != want {
			t.Errorf("bursts of %s: %d dispatches, want %d", burst, r.Stats.Dispatches, want)
		}
		if ids == nil {
			ids = r.IDs
		} else if !slices.Equal(ids, r.IDs) {
			t.Errorf("bursts of %s: ids %v, others give %v", burst, r.IDs, ids)
		}
	}
}

// Every part of inspect that has a JSON form prints one value with all there is.
func TestInspectParts(t *testing.T) {
	path, m := tinyModel(t)
	var header struct {
		Header []struct{ Key, Type, Value string } `json:"header"`
	}
	one(t, done(t, "inspect", path, "--header", "--json"), &header)
	var keys, want []string
	for _, e := range header.Header {
		if e.Type == "" || e.Value != m.File.Text(e.Key) {
			t.Errorf("%+v, want the value %q", e, m.File.Text(e.Key))
		}
		keys = append(keys, e.Key)
	}
	for _, e := range m.File.Entries() {
		want = append(want, e.Key)
	}
	if !slices.Equal(keys, want) || len(keys) == 0 {
		t.Errorf("keys %v, want %v", keys, want)
	}
	var table struct {
		Tensors []struct {
			Name, Type string
			Dims       []uint64
			Bytes      uint64
		} `json:"tensors"`
	}
	one(t, done(t, "inspect", path, "--tensors", "--json"), &table)
	if len(table.Tensors) != len(m.File.Tensors()) {
		t.Fatalf("%d tensors, want %d", len(table.Tensors), len(m.File.Tensors()))
	}
	for i, w := range m.File.Tensors() {
		if got := table.Tensors[i]; got.Name != w.Name || got.Type != w.Type.String() || fmt.Sprint(got.Dims) != fmt.Sprint(w.Dims) || got.Bytes != uint64(w.Size) {
			t.Errorf("tensor %+v, want %+v", got, w)
		}
	}
}

// lasting is a context that ends after it was asked a number of times.
type lasting struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (l *lasting) Err() error {
	if l.left.Add(-1) < 0 {
		l.cancel()
	}
	return l.Context.Err()
}

// Wherever an interrupt comes, stdout holds one JSON value: an error while the model loads, then a result that ends with abort
// and has the ids so far. The status is 1.
func TestInterruptWithJSON(t *testing.T) {
	path, m := tinyModel(t)
	p := m.Prompts[0]
	const tokens = 6
	errors, partial := 0, 0
	for asked := int64(0); ; asked++ {
		inner, cancel := context.WithCancel(t.Context())
		ctx := &lasting{Context: inner, cancel: cancel}
		ctx.left.Store(asked)
		status, stdout, stderr := command(t, ctx, exactly("run", path, "--ids", commas(p.Tokens), "--temp", "0", "--max-tokens", fmt.Sprint(tokens), "--ignore-eos", "--json")...)
		cancel()
		var r struct {
			ran
			Error *struct{ Code string } `json:"error"`
		}
		one(t, stdout, &r)
		switch {
		case status == exitDone && r.Finish == "length" && len(r.IDs) == tokens:
			if errors == 0 || partial == 0 {
				t.Errorf("%d errors, %d parts of a result before the whole one", errors, partial)
			}
			return
		case status != exitFailure:
			t.Fatalf("asked %d times: status %d\n%s%s", asked, status, stdout, stderr)
		case r.Error != nil:
			errors++
			if r.Error.Code != "ABORTED" || partial > 0 {
				t.Fatalf("asked %d times: %s", asked, stdout)
			}
		default:
			if len(r.IDs) > 0 {
				partial++
			}
			if r.Finish != "abort" || r.IDs == nil || len(r.IDs) > tokens || !slices.Equal(r.IDs, p.Greedy[:len(r.IDs)]) {
				t.Fatalf("asked %d times: %s, ids %v, want a part of %v", asked, r.Finish, r.IDs, p.Greedy)
			}
		}
		if asked > 1000 {
			t.Fatal("it never ends")
		}
	}
}
