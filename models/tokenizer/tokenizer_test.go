package tokenizer_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/kgen-wgsl/kgen/models/tokenizer"
)

// letters is a vocabulary of a few bytes and merges, small enough to follow by hand. The ids:
// 0 a, 1 b, 2 c, 3 ab, 4 abc, 5 Ġ (space), 6 Ġa, 7 <s>, 8 </s>, 9 <think>, 10 <|end|>, 11 <|end|>x
func letters() tokenizer.Vocab {
	v := tokenizer.NoSpecials()
	v.Model, v.Pre = "gpt2", "gpt-2"
	v.Tokens = []string{"a", "b", "c", "ab", "abc", "Ġ", "Ġa", "<s>", "</s>", "<think>", "<|end|>", "<|end|>x"}
	v.Types = []int32{1, 1, 1, 1, 1, 1, 1, 3, 3, 4, 3, 3}
	v.Merges = []string{"a b", "ab c", "Ġ a"}
	v.BOS, v.EOS = 7, 8
	return v
}

func build(t testing.TB, v tokenizer.Vocab) *tokenizer.Tokenizer {
	t.Helper()
	tok, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestErrors(t *testing.T) {
	tests := []struct {
		field  string
		index  int
		detail string
		spoil  func(v *tokenizer.Vocab)
	}{
		{"model", -1, "known: gpt2", func(v *tokenizer.Vocab) { v.Model = "llama" }},
		{"pre", -1, "qwen2, refact, smollm", func(v *tokenizer.Vocab) { v.Pre = "smolm" }},
		{"pre", -1, "known", func(v *tokenizer.Vocab) { v.Pre = "" }},
		{"tokens", -1, "no tokens", func(v *tokenizer.Vocab) { v.Tokens, v.Types = nil, nil }},
		{"tokens", 1, "token 0 already", func(v *tokenizer.Vocab) { v.Tokens[1] = "a" }},
		{"types", -1, "11 types for 12 tokens", func(v *tokenizer.Vocab) { v.Types = v.Types[:11] }},
		{"types", 3, "7", func(v *tokenizer.Vocab) { v.Types[3] = 7 }},
		{"merges", 1, "not two tokens", func(v *tokenizer.Vocab) { v.Merges[1] = "abc" }},
		{"merges", 1, "not two tokens", func(v *tokenizer.Vocab) { v.Merges[1] = "" }},
		{"merges", 1, "not two tokens", func(v *tokenizer.Vocab) { v.Merges[1] = "abc " }},
		{"merges", 1, "not two tokens", func(v *tokenizer.Vocab) { v.Merges[1] = " abc" }},
		{"merges", 0, "does not have", func(v *tokenizer.Vocab) { v.Merges[0] = "a x" }},
		{"merges", 2, "does not have", func(v *tokenizer.Vocab) { v.Merges[2] = "b c" }},
		{"bos", -1, "12", func(v *tokenizer.Vocab) { v.BOS = 12 }},
		{"fimsep", -1, "-2", func(v *tokenizer.Vocab) { v.FIMSep = -2 }},
	}
	for _, test := range tests {
		v := letters()
		test.spoil(&v)
		_, err := tokenizer.New(v)
		var e *tokenizer.Error
		if !errors.As(err, &e) || e.Field != test.field || e.Index != test.index || !strings.Contains(err.Error(), test.detail) {
			t.Errorf("%v, want %s[%d] with %q", err, test.field, test.index, test.detail)
		}
	}
}

func TestSpecialTokens(t *testing.T) {
	tok := build(t, letters())
	tests := []struct {
		text      string
		untrusted [][2]int
		want      []uint32
	}{
		{"<s>ab</s>", nil, []uint32{7, 3, 8}},
		{"<s>ab</s>", [][2]int{{0, 9}}, []uint32{3}}, // "<", "s", ">" and "/" have no token
		{"<s>ab</s>", [][2]int{{3, 5}}, []uint32{7, 3, 8}},
		{"<s>ab</s>", [][2]int{{2, 3}}, []uint32{3, 8}},
		{"<s>ab</s>", [][2]int{{0, 1}, {8, 9}}, []uint32{3}},
		{"<s>ab</s>", [][2]int{{0, 0}, {1, 1}, {9, 9}}, []uint32{7, 3, 8}},
		{"a<think>b", [][2]int{{0, 9}}, []uint32{0, 9, 1}},
		{"<|end|>x", nil, []uint32{11}},
		{"<|end|>x", [][2]int{{7, 8}}, []uint32{10}},
		{"<|end|><|end|>xa", nil, []uint32{10, 11, 0}},
		{"<|end<s>", nil, []uint32{7}},
		{" a", nil, []uint32{6}},
		{" a", [][2]int{{1, 2}}, []uint32{6}}, // words cross the border
		{"", nil, nil},
	}
	for _, test := range tests {
		if got := tok.EncodeSpans(test.text, test.untrusted); !slices.Equal(got, test.want) {
			t.Errorf("%q, untrusted %v: ids %v, want %v", test.text, test.untrusted, got, test.want)
		}
	}
}

// TestBytesWithoutToken: they are gone before merging, so what stood around them merges.
func TestBytesWithoutToken(t *testing.T) {
	v := letters()
	v.Tokens = append(v.Tokens, "-", "--")
	v.Types = append(v.Types, 1, 1)
	v.Merges = append(v.Merges, "- -")
	if got := build(t, v).Encode("-\x04-", false); !slices.Equal(got, []uint32{13}) {
		t.Errorf("ids %v", got)
	}
}

// TestFrame is the matrix of BOS: wanted or not, written by a template or not, known or not.
func TestFrame(t *testing.T) {
	tests := []struct {
		addBOS, addEOS bool
		bos            int32
		ids, want      []uint32
	}{
		{true, false, 7, []uint32{0}, []uint32{7, 0}},
		{true, false, 7, []uint32{7, 0}, []uint32{7, 0}},
		{true, false, tokenizer.None, []uint32{0}, []uint32{0}},
		{true, false, 7, nil, []uint32{7}},
		{false, false, 7, []uint32{0}, []uint32{0}},
		{false, false, 7, []uint32{7, 0}, []uint32{7, 0}},
		{true, true, 7, []uint32{0}, []uint32{7, 0, 8}},
		{false, true, 7, []uint32{0, 8}, []uint32{0, 8}},
	}
	for _, test := range tests {
		v := letters()
		v.AddBOS, v.AddEOS, v.BOS = test.addBOS, test.addEOS, test.bos
		if got := build(t, v).Frame(test.ids); !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

func TestEnds(t *testing.T) {
	v := tokenizer.NoSpecials()
	v.Model, v.Pre = "gpt2", "qwen2"
	v.Tokens = []string{"a", "b", "<|im_end|>", "</s>", "<|endoftext|>", "<|end|>", "x", "y", "<think>"}
	v.Types = []int32{1, 1, 3, 1, 4, 3, 3, 3, 4}
	v.EOS, v.EOT, v.FIMPad = 0, 6, 7
	ends := func() (ids []uint32) {
		tok := build(t, v)
		for id := range uint32(tok.Len() + 1) {
			if tok.IsEnd(id) {
				ids = append(ids, id)
			}
		}
		return ids
	}
	if got, want := ends(), []uint32{0, 2, 4, 5, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("ends %v, want %v", got, want)
	}
	v.Tokens[0], v.Tokens[1], v.Types[0], v.Types[1] = "<|return|>", "<|call|>", 3, 3
	if got, want := ends(), []uint32{0, 1, 2, 4, 6, 7}; !slices.Equal(got, want) {
		t.Errorf("ends with harmony %v, want %v", got, want)
	}
}

func TestPieces(t *testing.T) {
	tok := build(t, letters())
	for id, want := range map[uint32]string{4: "abc", 6: " a", 7: "<s>", 9: "<think>", 12: "", 1 << 31: "", 1<<32 - 1: ""} {
		if got := string(tok.Piece(id)); got != want {
			t.Errorf("piece %d is %q, want %q", id, got, want)
		}
	}
	ids := []uint32{7, 4, 6, 9, 8, 99}
	if got := string(tok.Decode(ids, false)); got != "abc a<think>" {
		t.Errorf("text %q", got)
	}
	if got := string(tok.Decode(ids, true)); got != "<s>abc a<think></s>" {
		t.Errorf("text with special tokens %q", got)
	}
	if id, text, ok := tok.BOS(); id != 7 || text != "<s>" || !ok {
		t.Errorf("BOS %d %q %v", id, text, ok)
	}
	if got, want := tok.Specials(), []string{"<s>", "</s>", "<|end|>", "<|end|>x"}; !slices.Equal(got, want) {
		t.Errorf("specials %q, want %q", got, want)
	}
}

// TestStream feeds texts byte by byte and in random pieces. Every delta is valid, together they are the text, and a
// delta comes no later than its last byte.
func TestStream(t *testing.T) {
	_, tok := readTiny(t, "tiny_gpt2")
	var byteIDs [256]uint32
	for id := range uint32(tok.Len()) {
		if piece := tok.Piece(id); len(piece) == 1 {
			byteIDs[piece[0]] = id
		}
	}
	tests := []struct{ text, want string }{
		{"plain", "plain"},
		{"é 日本 👍🏽 👨\u200d👩\u200d👧 \U0010ffff", "é 日本 👍🏽 👨\u200d👩\u200d👧 \U0010ffff"},
		{"a\xffb", "a\ufffdb"},
		{"\xe2\x82a", "\ufffda"},
		{"\xf0\x9f\x91", "\ufffd"},
		{"\xf0\x9f\xf0\x9f\x91\x8d", "\ufffd👍"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"\xc0\xaf\xf8\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"x\xe6\x97", "x\ufffd"},
	}
	for _, test := range tests {
		stream := tok.NewStream(false)
		var got strings.Builder
		for i := range len(test.text) {
			delta := stream.Push(byteIDs[test.text[i]])
			if !utf8.ValidString(delta) {
				t.Errorf("%+q: the delta %+q is not valid", test.text, delta)
			}
			got.WriteString(delta)
			if whole := test.text[:i+1]; utf8.ValidString(whole) && got.String() != whole {
				t.Errorf("%+q: %+q held back", test.text, whole[got.Len():])
			}
		}
		got.WriteString(stream.Flush())
		if got.String() != test.want {
			t.Errorf("%+q: text %+q, want %+q", test.text, got.String(), test.want)
		}
		if more := stream.Flush(); more != "" {
			t.Errorf("%+q: %+q after the end", test.text, more)
		}
	}
	if got := tok.NewStream(false).Push(byteIDs[0xFF]); got != "\ufffd" {
		t.Errorf("a byte of no character as %+q", got)
	}
	stream := tok.NewStream(true)
	if got := stream.Push(tok.Encode("<|im_end|>", true)[0]); got != "<|im_end|>" {
		t.Errorf("special token as %q", got)
	}
	if got := tok.NewStream(false).Push(tok.Encode("<|im_end|>", true)[0]); got != "" {
		t.Errorf("special token as %q", got)
	}
}

// slowMerge is byte-pair encoding by its definition: the best pair of all, again and again.
func slowMerge(v *tiny, word string) (out []string) {
	ranks := make(map[string]int)
	for rank, line := range v.Merges {
		ranks[line] = rank
	}
	for _, r := range word {
		out = append(out, string(r))
	}
	for {
		best, at := len(v.Merges), -1
		for i := 0; i+1 < len(out); i++ {
			if rank, ok := ranks[out[i]+" "+out[i+1]]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return out
		}
		out = slices.Replace(out, at, at+2, out[at]+out[at+1])
	}
}

// TestLongWords compares both ways of merging with the definition.
func TestLongWords(t *testing.T) {
	v, tok := readTiny(t, "tiny_gpt2")
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var word strings.Builder
		for range 1 + random.IntN(200) {
			word.WriteByte("theacsowbnir"[random.IntN(12)])
		}
		var want []uint32
		for _, text := range slowMerge(v, word.String()) {
			want = append(want, uint32(slices.Index(v.Tokens, text)))
		}
		for range 2 { // the second time from the cache
			if got := tok.Encode(word.String(), false); !slices.Equal(got, want) {
				t.Fatalf("%s: ids %v, want %v", word.String(), got, want)
			}
		}
	}
}

// TestHugeTexts would not end if any step were quadratic.
func TestHugeTexts(t *testing.T) {
	v, tok := readTiny(t, "tiny_gpt2")
	comesBack(t, tok, strings.Repeat("a", 1<<20))
	for _, pre := range []string{"gpt-2", "smollm", "qwen2"} {
		vocab := v.vocab()
		vocab.Pre = pre
		tok := build(t, vocab)
		for _, part := range []string{"the", " ", "\n", " \n", "1", "'", "!", "<", "<|im_end|", "\xff", "日", "\u0301", "\u1100"} {
			comesBack(t, tok, strings.Repeat(part, 1<<17/len(part)))
		}
	}
}

func comesBack(t *testing.T, tok *tokenizer.Tokenizer, text string) {
	t.Helper()
	if got := tok.Decode(tok.Encode(text, true), true); !bytes.Equal(got, []byte(text)) {
		t.Errorf("%q repeated comes back different", text[:8])
	}
}

func TestConcurrentUse(t *testing.T) {
	v, tok := readTiny(t, "tiny_qwen2")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, c := range v.Cases {
				if got := tok.Encode(c.Text, false); !slices.Equal(got, c.IDs) {
					t.Errorf("%q: ids %v, want %v", c.Text, got, c.IDs)
				}
			}
		})
	}
	group.Wait()
}

// FuzzRoundTrip expects the very bytes back, for qwen2 after NFC.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{"Hello, 世界! e\u0301 <|im_end|>", "\xff\xfe\xed\xa0\x80", "  \r\n\t'LL 123", strings.Repeat("the ", 50)} {
		f.Add(seed)
	}
	_, gpt2 := readTiny(f, "tiny_gpt2")
	_, qwen2 := readTiny(f, "tiny_qwen2")
	f.Fuzz(func(t *testing.T, text string) {
		for _, special := range []bool{false, true} {
			if got := string(gpt2.Decode(gpt2.Encode(text, special), true)); got != text {
				t.Fatalf("gpt2: %+q comes back as %+q", text, got)
			}
			ids := qwen2.Encode(text, special)
			got := string(qwen2.Decode(ids, true))
			if len(text) < 30 && !special && utf8.ValidString(text) && got != norm.NFC.String(text) {
				t.Fatalf("qwen2: %+q comes back as %+q", text, got)
			}
			if again := string(qwen2.Decode(qwen2.Encode(got, special), true)); again != got {
				t.Fatalf("qwen2: %+q comes back as %+q", got, again)
			}
		}
	})
}
