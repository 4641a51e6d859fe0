package tokenizer_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/models/gguf"
	"github.com/kgen-wgsl/kgen/models/tokenizer"
)

// readJSON decodes testdata/name.json.gz into v.
func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// tiny is a small vocabulary with its answers.
type tiny struct {
	Model, Pre     string
	Tokens, Merges []string
	Types          []int32
	BOS, EOS, Pad  int32
	Cases          []struct {
		Text string
		IDs  []uint32
	}
}

func (v *tiny) vocab() tokenizer.Vocab {
	vocab := tokenizer.NoSpecials()
	vocab.Model, vocab.Pre, vocab.Tokens, vocab.Types, vocab.Merges = v.Model, v.Pre, v.Tokens, v.Types, v.Merges
	vocab.BOS, vocab.EOS, vocab.Pad = v.BOS, v.EOS, v.Pad
	return vocab
}

func readTiny(t testing.TB, name string) (*tiny, *tokenizer.Tokenizer) {
	t.Helper()
	var v tiny
	readJSON(t, name, &v)
	tok, err := tokenizer.New(v.vocab())
	if err != nil {
		t.Fatal(err)
	}
	return &v, tok
}

// smolLM2 builds the tokenizer of the model that set-up fetches.
func smolLM2(t testing.TB) *tokenizer.Tokenizer {
	t.Helper()
	f := openModel(t, "SmolLM2-135M-Instruct.Q4_1.gguf")
	defer f.Close()
	v := tokenizer.NoSpecials()
	get := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	v.Model, err = f.String("tokenizer.ggml.model")
	get(err)
	v.Pre, err = f.String("tokenizer.ggml.pre")
	get(err)
	v.Tokens, err = f.Strings("tokenizer.ggml.tokens")
	get(err)
	v.Merges, err = f.Strings("tokenizer.ggml.merges")
	get(err)
	types, err := f.Ints("tokenizer.ggml.token_type")
	get(err)
	for _, kind := range types {
		v.Types = append(v.Types, int32(kind))
	}
	for key, id := range map[string]*int32{"bos": &v.BOS, "eos": &v.EOS, "padding": &v.Pad} {
		n, err := f.Int("tokenizer.ggml." + key + "_token_id")
		get(err)
		*id = int32(n)
	}
	tok, err := tokenizer.New(v)
	get(err)
	return tok
}

// openModel opens a model of the cache, or skips the test.
func openModel(t testing.TB, name string) *gguf.File {
	t.Helper()
	cache := os.Getenv("KGEN_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(user, "kgen")
	}
	path := filepath.Join(cache, "models", name)
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
	return f
}

func TestTinyVocabularies(t *testing.T) {
	for _, name := range []string{"tiny_gpt2", "tiny_qwen2"} {
		v, tok := readTiny(t, name)
		if len(v.Cases) != 72 {
			t.Fatalf("%s: %d cases", name, len(v.Cases))
		}
		for _, c := range v.Cases {
			if got := tok.Encode(c.Text, false); !slices.Equal(got, c.IDs) {
				t.Errorf("%s: %q: ids %v, want %v", name, c.Text, got, c.IDs)
			}
		}
	}
}

// smolLM2Answers is what the reference says of SmolLM2's tokenizer.
type smolLM2Answers struct {
	SHA256    string   `json:"detokenize_all_sha256"`
	ByteHoles []string `json:"bytes_without_token"`
	Cases     []struct {
		Text       string
		BytesHex   string    `json:"bytes_hex"`
		IDs        []uint32  `json:"ids"`
		SpecialIDs []uint32  `json:"ids_parse_special"`
		RawIDs     []*uint32 `json:"raw_byte_ids_single_piece"`
	}
}

func TestSmolLM2(t *testing.T) {
	tok := smolLM2(t)
	var want smolLM2Answers
	readJSON(t, "smollm2", &want)
	if len(want.Cases) != 80 {
		t.Fatalf("%d cases", len(want.Cases))
	}
	for _, c := range want.Cases {
		if c.BytesHex == "" {
			check(t, tok, c.Text, false, c.IDs)
			check(t, tok, c.Text, true, c.SpecialIDs)
			continue
		}
		raw, err := hex.DecodeString(c.BytesHex)
		if err != nil {
			t.Fatal(err)
		}
		var ids []uint32
		for _, id := range c.RawIDs {
			if id != nil {
				ids = append(ids, *id)
			}
		}
		check(t, tok, string(raw), false, ids)
		check(t, tok, string(raw), true, ids)
	}
}

func check(t *testing.T, tok *tokenizer.Tokenizer, text string, special bool, want []uint32) {
	t.Helper()
	if got := tok.Encode(text, special); !slices.Equal(got, want) {
		t.Errorf("%q, special %v: ids %v, want %v", text, special, got, want)
	}
}

func TestSmolLM2Pieces(t *testing.T) {
	tok := smolLM2(t)
	var want smolLM2Answers
	readJSON(t, "smollm2", &want)
	hash := sha256.New()
	for id := range tok.Len() {
		hash.Write(tok.Piece(uint32(id)))
		hash.Write([]byte{0})
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want.SHA256 {
		t.Errorf("hash over all pieces %s, want %s", got, want.SHA256)
	}
	var holes []string
	for b := range 256 {
		if len(tok.Encode(string([]byte{byte(b)}), false)) == 0 {
			holes = append(holes, hex.EncodeToString([]byte{byte(b)}))
		}
	}
	if !slices.Equal(holes, want.ByteHoles) {
		t.Errorf("bytes without a token: %v, want %v", holes, want.ByteHoles)
	}
}
