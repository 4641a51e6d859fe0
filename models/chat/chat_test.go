package chat_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/models/chat"
	"github.com/kgen-wgsl/kgen/models/gguf"
	"github.com/kgen-wgsl/kgen/models/tokenizer"
)

// smolLM2Answers is what the reference renders.
type smolLM2Answers struct {
	Template      string
	Conversations []struct {
		Name       string
		Messages   []struct{ Role, Content string }
		Renderings []struct {
			AddGenerationPrompt bool `json:"add_generation_prompt"`
			Text                string
			IDs                 []uint32        `json:"ids"`
			IDsSafe             json.RawMessage `json:"ids_safe"` // ids, or the words "same as ids"
		}
	}
}

func readAnswers(t *testing.T) *smolLM2Answers {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "smollm2_chat.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var a smolLM2Answers
	if err := json.NewDecoder(z).Decode(&a); err != nil {
		t.Fatal(err)
	}
	if len(a.Conversations) != 6 {
		t.Fatalf("%d conversations", len(a.Conversations))
	}
	return &a
}

// eachRendering renders every conversation of the answers and compares the text.
func eachRendering(t *testing.T, special []string, f func(name string, p chat.Prompt, ids, safe []uint32)) {
	answers := readAnswers(t)
	template, err := chat.Compile(answers.Template, chat.Options{BOS: "<|im_start|>", EOS: "<|im_end|>", Special: special})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range answers.Conversations {
		var messages []chat.Message
		for _, m := range c.Messages {
			messages = append(messages, chat.Message{Role: m.Role, Content: m.Content})
		}
		for _, want := range c.Renderings {
			p, err := template.Render(messages, chat.RenderOptions{AddGenerationPrompt: want.AddGenerationPrompt})
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			if p.Text != want.Text {
				t.Errorf("%s: text\n%q\nwant\n%q", c.Name, p.Text, want.Text)
			}
			safe := want.IDs
			if want.IDsSafe[0] == '[' {
				safe = nil
				if err := json.Unmarshal(want.IDsSafe, &safe); err != nil {
					t.Fatal(err)
				}
			}
			f(c.Name, p, want.IDs, safe)
		}
	}
}

func TestSmolLM2Text(t *testing.T) {
	eachRendering(t, nil, func(string, chat.Prompt, []uint32, []uint32) {})
}

func TestSmolLM2IDs(t *testing.T) {
	tok := smolLM2(t)
	eachRendering(t, tok.Specials(), func(name string, p chat.Prompt, ids, safe []uint32) {
		if got := tok.Encode(p.Text, true); !slices.Equal(got, ids) {
			t.Errorf("%s: ids %v, want %v", name, got, ids)
		}
		if got := tok.EncodeSpans(p.Text, p.Untrusted); !slices.Equal(got, safe) {
			t.Errorf("%s: safe ids %v, want %v", name, got, safe)
		}
	})
}

// smolLM2 builds the tokenizer of the model that set-up fetches, or skips the test.
func smolLM2(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	cache := os.Getenv("KGEN_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(user, "kgen")
	}
	path := filepath.Join(cache, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("KGEN_REQUIRE") == "1" {
			t.Fatalf("%v: run make setup", err)
		}
		t.Skipf("%v: run make setup", err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v := tokenizer.NoSpecials()
	v.Model, v.Pre, v.BOS, v.EOS = "gpt2", "smollm", 1, 2
	if v.Tokens, err = f.Strings("tokenizer.ggml.tokens"); err != nil {
		t.Fatal(err)
	}
	if v.Merges, err = f.Strings("tokenizer.ggml.merges"); err != nil {
		t.Fatal(err)
	}
	types, err := f.Ints("tokenizer.ggml.token_type")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range types {
		v.Types = append(v.Types, int32(kind))
	}
	tok, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}
