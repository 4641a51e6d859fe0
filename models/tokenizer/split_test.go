package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"pgregory.net/rapid"
)

// The expressions of the families, as their tokenizer files give them. The long s stands beside s since engines that
// fold by Unicode's rules take it for one.
const (
	gpt2Words  = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	qwen2Words = `(?:'[sſST]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// words cuts text with a splitter.
func words(next func(string) int, text string) (out []string) {
	for len(text) > 0 {
		n := next(text)
		if n <= 0 || n > len(text) {
			panic("a word of no or too many bytes")
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// matches cuts text with a regular expression; what it does not match would be a word too.
func matches(t testing.TB, re *regexp2.Regexp, text string) (out []string) {
	runes := []rune(text)
	end := 0
	add := func(from, to int) {
		if from < to {
			out = append(out, string(runes[from:to]))
		}
	}
	m, err := re.FindRunesMatch(runes)
	for ; m != nil && err == nil; m, err = re.FindNextMatch(m) {
		add(end, m.RuneIndex)
		end = m.RuneIndex + m.RuneLength
		add(m.RuneIndex, end)
	}
	if err != nil {
		t.Fatal(err)
	}
	add(end, len(runes))
	return out
}

// digitsApart cuts out number characters, then cuts what lies between with re.
func digitsApart(t testing.TB, re *regexp2.Regexp, text string) (out []string) {
	from := 0
	for i, r := range text {
		if unicode.IsNumber(r) {
			out = append(out, matches(t, re, text[from:i])...)
			from = i + utf8.RuneLen(r)
			out = append(out, text[i:from])
		}
	}
	return append(out, matches(t, re, text[from:])...)
}

// splitCase pairs a splitter with its oracle.
type splitCase struct {
	name string
	next func(string) int
	want func(t testing.TB, text string) []string
}

func splitCases(t testing.TB) []splitCase {
	gpt2, qwen2 := regexp2.MustCompile(gpt2Words, regexp2.None), regexp2.MustCompile(qwen2Words, regexp2.None)
	return []splitCase{
		{"gpt-2", nextGPT2, func(t testing.TB, s string) []string { return matches(t, gpt2, s) }},
		{"smollm", nextDigitsApart, func(t testing.TB, s string) []string { return digitsApart(t, gpt2, s) }},
		{"qwen2", nextQwen2, func(t testing.TB, s string) []string { return matches(t, qwen2, s) }},
	}
}

// atoms are what splitting is sensitive to: random text is made of them and of random characters.
var atoms = []string{
	" ", "  ", "\t", "\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u3000", "\u200b", "\u180e",
	"'", "'s", "'S", "'ſ", "'t", "'re", "'Re", "'ve", "'m", "'ll", "'lL", "'d", "'r", "'l", "’s",
	"a", "Z", "é", "e\u0301", "ß", "ǅ", "ʰ", "日", "ا", "𝐀", "0", "9", "٣", "½", "²", "Ⅷ", "𝟘",
	".", "!?", "_", "$", "+", "👍🏽", "\u200d", "\u0301", "\ufeff", "\x00", "\x7f", "\ufffd", "\U000e0001",
}

func TestSplittersMatchExpressions(t *testing.T) {
	cases := splitCases(t)
	text := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(atoms), rapid.StringN(1, 2, -1)), 0, 12).Draw(t, "parts")
		return strings.Join(parts, "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		for range 50 {
			s := text.Draw(rt, "text")
			for _, c := range cases {
				if got, want := words(c.next, s), c.want(t, s); !slices.Equal(got, want) {
					rt.Fatalf("%s: %q is cut into %q, want %q", c.name, s, got, want)
				}
			}
		}
	})
}

// TestClasses compares the classes of every character with the expressions' own, alone and beside a letter.
func TestClasses(t *testing.T) {
	cases := splitCases(t)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || r > 0x33FF && r < 0xA000 && r%97 != 0 || r > 0x1FFFF && r%1009 != 0 {
			continue // long runs of one class
		}
		s := "a" + string(r) + " " + string(r) + "b"
		for _, c := range cases {
			if got, want := words(c.next, s), c.want(t, s); !slices.Equal(got, want) {
				t.Fatalf("%s: %q (%U) is cut into %q, want %q", c.name, s, r, got, want)
			}
		}
	}
}

// FuzzSplit extends the comparison to whatever the fuzzer finds; without fuzzing it checks the seeds.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"I'm  we'LL\r\n 12 x1 ", "a\n \n\n b'", "  \n\t", "x\xff\xc3( y", strings.Join(atoms, "")} {
		f.Add(seed)
	}
	cases := splitCases(f)
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range cases {
			got := words(c.next, s)
			if strings.Join(got, "") != s {
				t.Fatalf("%s: %q is cut into %q", c.name, s, got)
			}
			if utf8.ValidString(s) {
				if want := c.want(t, s); !slices.Equal(got, want) {
					t.Fatalf("%s: %q is cut into %q, want %q", c.name, s, got, want)
				}
			}
		}
	})
}

// TestInvalidBytesAreSymbols puts bad bytes where U+FFFD, which is a symbol, gives the same cuts.
func TestInvalidBytesAreSymbols(t *testing.T) {
	for _, s := range []string{"a\xffb", " \xff\xfe 1\xff", "\xff\n\xff", "'\xff", "\xe2\x82 x", "日\xe6\x97"} {
		for _, c := range splitCases(t) {
			got := words(c.next, s)
			for i := range got {
				got[i] = string([]rune(got[i])) // one U+FFFD for each bad byte
			}
			if want := words(c.next, string([]rune(s))); !slices.Equal(got, want) {
				t.Errorf("%s: %q is cut into %q, want %q", c.name, s, got, want)
			}
		}
	}
}
