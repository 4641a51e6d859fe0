package tokenizer

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLongestSpecial compares the search with a look at every token.
func TestLongestSpecial(t *testing.T) {
	piece := rapid.StringMatching("[ab]{1,5}")
	check := func(t *rapid.T) {
		v := NoSpecials()
		v.Tokens = rapid.SliceOfNDistinct(rapid.OneOf(piece, rapid.SampledFrom([]string{"", "\xff", "\xff\xff", "a\xff", "\x00", "a\x00"})), 0, 12, rapid.ID).Draw(t, "tokens")
		for range v.Tokens {
			v.Types = append(v.Types, rapid.Int32Range(Normal, UserDefined).Draw(t, "type"))
		}
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(piece, rapid.SampledFrom([]string{"\xff", "\x00"})), 1, 5).Draw(t, "text"), "")
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		from := rapid.IntRange(at, len(text)).Draw(t, "from")
		to := rapid.IntRange(from, len(text)).Draw(t, "to")
		var wantID uint32
		want := 0
		for id, token := range v.Tokens {
			trusted := v.Types[id] == UserDefined || to == from || at+len(token) <= from
			if isFound(v.Types[id]) && trusted && len(token) > want && strings.HasPrefix(text[at:], token) {
				wantID, want = uint32(id), len(token)
			}
		}
		if id, length := newSpecials(&v).longest(text, at, [][2]int{{from, to}}); length != want || want > 0 && id != wantID {
			t.Fatalf("%q at %d: token %d of %d bytes, want %d of %d", text, at, id, length, wantID, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		for range 100 {
			check(t)
		}
	})
}

// TestLongSpecials: a special token may not be as long as it likes, and many of them cost what their texts take.
func TestLongSpecials(t *testing.T) {
	v := NoSpecials()
	v.Model, v.Pre = "gpt2", "gpt-2"
	v.Tokens, v.Types = []string{"a", strings.Repeat("<", maxSpecial)}, []int32{Normal, Control}
	if _, err := New(v); err != nil {
		t.Error(err)
	}
	for _, kind := range []int32{Unknown, Control, UserDefined} {
		v.Tokens[1], v.Types[1] = strings.Repeat("\x1b", 20<<20), kind
		_, err := New(v)
		var e *Error
		if !errors.As(err, &e) || e.Field != "tokens" || e.Index != 1 || len(err.Error()) > 200 {
			t.Errorf("type %d: %.300v", kind, err)
		}
	}
	v.Tokens, v.Types = nil, nil
	for i := range 100_000 {
		v.Tokens = append(v.Tokens, strings.Repeat("a", i%200)+string(rune(0x4e00+i/200))+"b")
		v.Types = append(v.Types, Control)
	}
	tok, err := New(v)
	if err != nil {
		t.Fatal(err)
	}
	if ids := tok.Encode(strings.Repeat("a", 1<<13)+"\u4e01b", true); len(ids) != 1 || tok.tokenText[ids[0]] != strings.Repeat("a", 199)+"\u4e01b" {
		t.Errorf("ids %v", ids)
	}
}
