package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
)

// generatedText is a part of what run --json prints.
type generatedText struct {
	IDs    []uint32 `json:"ids"`
	Text   string   `json:"text"`
	Finish string   `json:"finish"`
	Seed   *uint64  `json:"seed"`
}

func generate(t *testing.T, model string, args ...string) (g generatedText) {
	t.Helper()
	args = append([]string{"--ids", "51,7", "--max-tokens", "24", "--ignore-eos", "--json", "--quiet"}, args...)
	one(t, done(t, exactly("run", model, args...)...), &g)
	return g
}

// A text ends before a stop string, wherever that lies in it, and shows no part of it.
func TestRunStopsAtStrings(t *testing.T) {
	path, _ := tinyModel(t)
	whole := generate(t, path, "--temp", "0")
	if whole.Finish != "length" || utf8.RuneCountInString(whole.Text) < 10 {
		t.Fatalf("the model says %q, %s", whole.Text, whole.Finish)
	}
	letters := []rune(whole.Text)
	for at := range len(letters) - 3 {
		stop := string(letters[at : at+3])
		if strings.ContainsRune(stop, utf8.RuneError) || strings.HasPrefix(stop, "-") {
			continue
		}
		want, _, _ := strings.Cut(whole.Text, stop)
		got := generate(t, path, "--temp", "0", "--stop", "never, ever", "--stop="+stop)
		if got.Text != want || got.Finish != "stop" {
			t.Errorf("stop %q: %q, %s, want %q", stop, got.Text, got.Finish, want)
		}
	}
	status, _, stderr := command(t, t.Context(), exactly("run", path, "--ids", "51", "--stop", "")...)
	if status != exitUsage || !strings.Contains(stderr, "a stop string is empty") {
		t.Errorf("an empty stop string: status %d, %s", status, stderr)
	}
}

// Flags reach the sampler: the ids are those of the same settings in Go.
func TestRunSamplingFlags(t *testing.T) {
	path, _ := tinyModel(t)
	m, err := kgen.Load(t.Context(), path, kgen.Options{Device: "cpu", Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	session, err := m.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var greedy []uint32
	for _, c := range []struct {
		flags string
		s     kgen.Sampling
		same  bool // as without penalties
	}{
		{"--temp 0", kgen.Sampling{}, true},
		{"--temp 0 --repeat-penalty 1.5", kgen.Sampling{RepeatPenalty: 1.5}, false},
		{"--temp 0 --repeat-penalty 1.5 --repeat-last-n=-1", kgen.Sampling{RepeatPenalty: 1.5, RepeatLastN: -1}, false},
		{"--temp 0 --repeat-penalty 1.5 --repeat-last-n 1", kgen.Sampling{RepeatPenalty: 1.5, RepeatLastN: 1}, false},
		{"--temp 0 --frequency-penalty 0.75", kgen.Sampling{FrequencyPenalty: 0.75}, false},
		{"--temp 0 --presence-penalty 2", kgen.Sampling{PresencePenalty: 2}, false},
		{"--temp 0 --presence-penalty 2 --frequency-penalty 1 --repeat-penalty 2 --repeat-last-n 0", kgen.Sampling{}, true},
		{"--temp 0.7 --top-k 9 --top-p 0.9 --min-p 0.01 --seed 5", kgen.Sampling{Temperature: 0.7, TopK: 9, TopP: 0.9, MinP: 0.01, Seed: 5}, false},
		{"--seed 5", kgen.Sampling{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, Seed: 5}, false}, // the defaults
		{"--seed 6", kgen.Sampling{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, Seed: 6}, false},
	} {
		got := generate(t, path, strings.Fields(c.flags)...)
		var want []uint32
		for piece, err := range session.GenerateIDs(t.Context(), []uint32{51, 7}, kgen.Generation{Sampling: c.s, MaxTokens: 24, IgnoreEnd: true}) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, piece.IDs...)
		}
		if !slices.Equal(got.IDs, want) || len(want) != 24 {
			t.Errorf("%s: %v, want %v", c.flags, got.IDs, want)
		}
		if greedy == nil {
			greedy = want
		}
		if slices.Equal(got.IDs, greedy) != c.same {
			t.Errorf("%s: %v, the same as greedy ones: %v", c.flags, got.IDs, !c.same)
		}
		if drawn := c.s.Temperature > 0; (got.Seed != nil) != drawn || drawn && *got.Seed != c.s.Seed {
			t.Errorf("%s: seed %v", c.flags, got.Seed)
		}
	}
}

// On a device, too, a seed repeats its text, and penalties change what is greedy.
func TestRunSamplesOnADevice(t *testing.T) {
	gpu.Adapter(t)
	path, _ := tinyModel(t)
	say := func(args ...string) (g generatedText) {
		args = append([]string{"run", path, "--device", "native", "--profile", "portable", "--ids", "51,7", "--max-tokens", "12", "--ignore-eos", "--json"}, args...)
		one(t, done(t, args...), &g)
		return g
	}
	seeded := say("--temp", "1.2", "--seed", "9", "--repeat-penalty", "1.1")
	for range 3 {
		if again := say("--temp", "1.2", "--seed", "9", "--repeat-penalty", "1.1"); !slices.Equal(again.IDs, seeded.IDs) || len(again.IDs) != 12 {
			t.Errorf("%v, and again %v", seeded.IDs, again.IDs)
		}
	}
	if other := say("--temp", "1.2", "--seed", "10", "--repeat-penalty", "1.1"); slices.Equal(other.IDs, seeded.IDs) {
		t.Errorf("two seeds both give %v", other.IDs)
	}
	if greedy, penalised := say("--temp", "0"), say("--temp", "0", "--presence-penalty", "100"); slices.Equal(greedy.IDs, penalised.IDs) ||
		len(slices.Compact(slices.Sorted(slices.Values(penalised.IDs)))) != 12 {
		t.Errorf("greedy %v, and with a penalty that lets no token come twice %v", greedy.IDs, penalised.IDs)
	}
}

// --think reaches templates that have a switch for it. Here one that says on, off or neither takes the place of the file's.
func TestRunThinks(t *testing.T) {
	const begin, source = "{% for message in messages %}", "{{ 'on' if enable_thinking else 'off' if enable_thinking is defined else 'neither' }}"
	data := oracle.Bytes(t, "llama-q4_1.gguf")
	at := bytes.Index(data, []byte(begin))
	if at < 0 {
		t.Fatal("the model's template is another one")
	}
	template := data[at : at+int(binary.LittleEndian.Uint64(data[at-8:]))]
	copy(template, "{#"+strings.Repeat(" ", len(template)-len(source)-4)+"#}"+source)
	path := filepath.Join(t.TempDir(), "switch.gguf")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"--think=on": "on", "--think=off": "off", "--quiet": "neither"} {
		var encoded struct{ IDs []uint32 }
		one(t, done(t, "tokenize", path, "--text", want, "--json"), &encoded)
		for _, verb := range []string{"run", "chat"} {
			var got turn
			status, stdout, stderr := command(t, t.Context(), exactly(verb, path, "--prompt", "hi", "--temp", "0", "--max-tokens", "1", "--ignore-eos", "--json", flag)...)
			if status != exitDone || strings.Contains(stderr, "--think") {
				t.Errorf("%s %s: status %d, %s", verb, flag, status, stderr)
			}
			if one(t, stdout, &got); !slices.Equal(got.PromptIDs, encoded.IDs) {
				t.Errorf("%s %s: the prompt is %v, want %v", verb, flag, got.PromptIDs, encoded.IDs)
			}
		}
	}
}

// What a file without a vocabulary lacks is said, whether its chat template is asked for or not. Ids need none.
func TestTextWithoutVocabulary(t *testing.T) {
	data := oracle.Bytes(t, "llama-q4_1.gguf")
	const key = "tokenizer.ggml.model"
	at := bytes.Index(data, []byte(key)) + len(key) + 4 + 8 // a type and a length
	if string(data[at:at+4]) != "gpt2" {
		t.Fatal("the model's tokenizer is another one")
	}
	copy(data[at:], "none")
	path := filepath.Join(t.TempDir(), "wordless.gguf")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", path, "--prompt", "hi"}, {"run", path, "--prompt", "hi", "--raw"}, {"chat", path}, {"chat", path, "--raw"}} {
		status, stdout, stderr := command(t, t.Context(), args...)
		if status != exitUsage || stdout != "" || !strings.Contains(stderr, "no vocabulary") {
			t.Errorf("%v: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
	var got generatedText
	one(t, done(t, exactly("run", path, "--ids", "51,7", "--temp", "0", "--max-tokens", "3", "--json")...), &got)
	if len(got.IDs) != 3 {
		t.Errorf("ids %v", got.IDs)
	}
}

// Without --seed, runs differ, and the seed that is printed repeats one.
func TestRunSeedIsPrinted(t *testing.T) {
	path, _ := tinyModel(t)
	args := exactly("run", path, "--ids", "51,7", "--max-tokens", "24", "--ignore-eos", "--temp", "1.5", "--json")
	var first, again, other generatedText
	status, stdout, stderr := command(t, t.Context(), args...)
	if status != exitDone {
		t.Fatal(stderr)
	}
	one(t, stdout, &first)
	_, seed, ok := strings.Cut(stderr, "seed: ")
	if !ok {
		t.Fatalf("no seed in %q", stderr)
	}
	seed, _, _ = strings.Cut(seed, "\n")
	one(t, done(t, append(args, "--seed", seed)...), &again)
	one(t, done(t, args...), &other)
	if !slices.Equal(first.IDs, again.IDs) || first.Seed == nil || *first.Seed != *again.Seed {
		t.Errorf("seed %s: %v, and again %v", seed, first.IDs, again.IDs)
	}
	if slices.Equal(first.IDs, other.IDs) {
		t.Errorf("two runs without a seed both say %v", first.IDs)
	}
}
