package tokenizer_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/kgen-wgsl/kgen/models/tokenizer"
)

// corpusFile says how to put the text together that testdata/corpus.py put together, and which ids came of each part.
type corpusFile struct {
	Pieces      []string
	Parts, Size int
	SHA256      string
	IDs         map[string][]string
}

func readCorpus(t *testing.T) (file corpusFile, parts []string) {
	t.Helper()
	readJSON(t, "corpus", &file)
	x := uint64(1)
	for range file.Parts {
		var b strings.Builder
		for b.Len() < file.Size {
			x = x*6364136223846793005 + 1442695040888963407
			b.WriteString(file.Pieces[(x>>33)%uint64(len(file.Pieces))])
		}
		parts = append(parts, b.String())
	}
	text := strings.Join(parts, "")
	if hash := sha256.Sum256([]byte(text)); hex.EncodeToString(hash[:]) != file.SHA256 || len(text) < 2_000_000 {
		t.Fatalf("the corpus of %d bytes is not the one that was hashed", len(text))
	}
	return file, parts
}

// TestCorpus compares two megabytes of code, JSON, prose, scripts, emoji, digits, white space and symbols with the ids of
// Hugging Face's tokenizers.
func TestCorpus(t *testing.T) {
	file, parts := readCorpus(t)
	gpt2, _ := readTiny(t, "tiny_gpt2")
	by := func(pre string) *tokenizer.Tokenizer {
		v := gpt2.vocab()
		v.Pre = pre
		return build(t, v)
	}
	_, qwen2 := readTiny(t, "tiny_qwen2")
	for name, tok := range map[string]*tokenizer.Tokenizer{
		"tiny_gpt2": by("gpt-2"), "tiny_gpt2 by gpt2": by("gpt-2"), "tiny_gpt2 by smollm": by("smollm"), "tiny_gpt2 by qwen2": by("qwen2"), "tiny_qwen2": qwen2,
	} {
		compareCorpus(t, name, tok, parts, file.IDs[name])
		for i, part := range parts {
			got := string(tok.Decode(tok.Encode(part, false), true))
			if want := norm.NFC.String(part); got != part && (got != want || !strings.Contains(name, "qwen2")) {
				t.Errorf("%s: part %d comes back different", name, i)
			}
		}
	}
	// Another family's rule is found out.
	if got, want := corpusHash(by("smollm"), parts[0]), file.IDs["tiny_gpt2"][0]; got == want {
		t.Error("the rule makes no difference")
	}
}

func TestSmolLM2Corpus(t *testing.T) {
	tok := smolLM2(t)
	file, parts := readCorpus(t)
	compareCorpus(t, "smollm2", tok, parts, file.IDs["smollm2"])
}

func compareCorpus(t *testing.T, name string, tok *tokenizer.Tokenizer, parts, want []string) {
	t.Helper()
	if len(want) != len(parts) {
		t.Fatalf("%s: %d hashes for %d parts", name, len(want), len(parts))
	}
	wrong := 0
	for i, part := range parts {
		if corpusHash(tok, part) != want[i] {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d parts give other ids than the reference", name, wrong, len(parts))
	}
}

// corpusHash hashes ids as corpus.py does.
func corpusHash(tok *tokenizer.Tokenizer, part string) string {
	hash := sha256.New()
	for _, id := range tok.Encode(part, false) {
		hash.Write(binary.LittleEndian.AppendUint32(nil, id))
	}
	return fmt.Sprintf("%x", hash.Sum(nil))[:16]
}

// TestCorpusWithBadBytes puts bytes that are no UTF-8 between the pieces: no reference takes them, but they come back.
func TestCorpusWithBadBytes(t *testing.T) {
	v, _ := readTiny(t, "tiny_gpt2")
	_, parts := readCorpus(t)
	bad := []string{"\xff", "\xed\xa0\x80", "\xed\xb0\x80", "\xc0\xaf", "\xe2\x80", "\xf4\x90\x80\x80", "\x80\x80", "\xf0\x9f\x91"}
	for _, pre := range []string{"gpt-2", "smollm"} {
		vocab := v.vocab()
		vocab.Pre = pre
		tok := build(t, vocab)
		for i, part := range parts[:32] {
			text := strings.ReplaceAll(part, " ", bad[i%len(bad)]+" ")
			if got := string(tok.Decode(tok.Encode(text, false), true)); got != text {
				t.Errorf("%s: part %d with %q comes back different", pre, i, bad[i%len(bad)])
			}
		}
	}
}
