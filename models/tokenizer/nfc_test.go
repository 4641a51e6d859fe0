package tokenizer

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// reference normalises with x/text, whose tables must be of the same Unicode version as ours.
func reference(t testing.TB, s string) string {
	if norm.Version != unicodeVersion {
		t.Fatalf("tables of Unicode %s, golang.org/x/text has %s: run go generate", unicodeVersion, norm.Version)
	}
	return norm.NFC.String(s)
}

func TestNFCOfEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		if r > 0x3FFFF && r%1009 != 0 {
			continue // not assigned, or private
		}
		for _, s := range []string{"e" + string(r) + "\u0301\u0323", "\u1100" + string(r), "\uac00" + string(r)} {
			if got, want := normalizeNFC(s), reference(t, s); got != want {
				t.Fatalf("%+q gives %+q, want %+q", s, got, want)
			}
		}
	}
}

// interesting lists the characters that normalisation does something about.
func interesting() (list []rune) {
	for r := rune(0x300); r <= unicode.MaxRune; r++ {
		if utf8.ValidRune(r) && (inRanges(unsettled[:], r) || combiningClass(r) > 0) {
			list = append(list, r)
		}
	}
	for _, d := range compositions {
		list = append(list, rune(decompositions[d]>>runeBits&runeMask))
	}
	return append(list, 'e', 'a', ' ', 0xAC00, 0x1100, 0x1161, 0x11A8, 0x11C2)
}

func TestNFCOfSequences(t *testing.T) {
	runes := rapid.SampledFrom(interesting())
	rapid.Check(t, func(rt *rapid.T) {
		// Longer runs of marks are cut by x/text's stream-safe form, which NFC itself does not do.
		s := string(rapid.SliceOfN(runes, 0, 16).Draw(rt, "runes"))
		if got, want := normalizeNFC(s), reference(t, s); got != want {
			rt.Fatalf("%+q gives %+q, want %+q", s, got, want)
		}
	})
}

func TestNFCKeepsInvalidBytes(t *testing.T) {
	for s, want := range map[string]string{
		"e\u0301\xffe\u0301":      "é\xffé",
		"e\xff\u0301":             "e\xff\u0301",
		"\xe2\x82e\u0301":         "\xe2\x82é",
		"\xed\xa0\x80e\u0301":     "\xed\xa0\x80é",
		"\u0301\xc3":              "\u0301\xc3",
		"a\u0323\u0301\xff\u212b": "ạ\u0301\xffÅ",
	} {
		if got := normalizeNFC(s); got != want {
			t.Errorf("%+q gives %+q, want %+q", s, got, want)
		}
	}
}

// TestNFCOfManyMarks would not end if sorting or composing were quadratic.
func TestNFCOfManyMarks(t *testing.T) {
	s := "e" + strings.Repeat("\u0301\u0323", 1<<19)
	got := normalizeNFC(s)
	if want := "ẹ" + strings.Repeat("\u0323", 1<<19-1) + strings.Repeat("\u0301", 1<<19); got != want {
		t.Error("marks are not in order")
	}
}
