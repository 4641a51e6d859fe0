package tokenizer_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kgen-wgsl/kgen/models/tokenizer"
)

var badRun = regexp.MustCompile("\ufffd+")

// FuzzVocab makes a vocabulary of what a hostile file may hold in its tokenizer arrays: it is refused by a typed error, or
// it encodes without a fault to ids that it has, and decoding gives no more than their pieces.
func FuzzVocab(f *testing.F) {
	good := letters()
	kinds := make([]byte, len(good.Types))
	for i, kind := range good.Types {
		kinds[i] = byte(kind)
	}
	for pre := range uint8(3) {
		f.Add(pre, strings.Join(good.Tokens, "\n"), kinds, strings.Join(good.Merges, "\n"), int16(7), int16(8), "<s>abc abc<think></s>")
	}
	f.Add(uint8(1), "a\n\nb\n\nab", []byte{1, 3, 4, 2, 5}, "a b\nb a", int16(-1), int16(99), "ab\xff")
	f.Add(uint8(2), "<\n<|\n<|a\n<|a|>", []byte{3, 4, 3, 2}, "", int16(0), int16(0), "<|a<|a|><")
	f.Fuzz(func(t *testing.T, pre uint8, tokens string, kinds []byte, merges string, bos, eos int16, text string) {
		v := tokenizer.NoSpecials()
		pres := tokenizer.Pres()
		v.Model, v.Pre = "gpt2", pres[int(pre)%len(pres)]
		v.Tokens = strings.Split(tokens, "\n")
		for _, kind := range kinds {
			v.Types = append(v.Types, int32(int8(kind)))
		}
		if merges != "" {
			v.Merges = strings.Split(merges, "\n")
		}
		v.BOS, v.EOS, v.AddBOS, v.AddEOS = int32(bos), int32(eos), pre&64 != 0, pre&128 != 0
		tok, err := tokenizer.New(v)
		if err != nil {
			var e *tokenizer.Error
			if !errors.As(err, &e) || e.Field == "" || e.Detail == "" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		for _, untrusted := range [][][2]int{nil, {{0, len(text)}}, {{len(text) / 3, len(text) / 2}}} {
			ids := tok.EncodeSpans(text, untrusted)
			for _, id := range ids {
				if int(id) >= tok.Len() {
					t.Fatalf("id %d of %d", id, tok.Len())
				}
			}
			framed := tok.Frame(ids)
			if again := tok.Frame(framed); !slices.Equal(framed, again) {
				t.Fatalf("framing twice makes %v of %v", again, framed)
			}
			stream := tok.NewStream(false)
			var deltas strings.Builder
			for _, id := range ids {
				deltas.WriteString(stream.Push(id))
			}
			deltas.WriteString(stream.Flush())
			// How many replacement characters stand for a stretch of bad bytes is the stream's own affair.
			got, want := badRun.ReplaceAllString(deltas.String(), "?"), badRun.ReplaceAllString(string([]rune(string(tok.Decode(ids, false)))), "?")
			if got != want || !utf8.ValidString(deltas.String()) {
				t.Fatalf("%q streams as %q, want %q", text, got, want)
			}
		}
	})
}
