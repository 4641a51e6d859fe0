package golang

import (
	"go/token"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever tensors and values are called, each gets an identifier of its own that is no word of Go.
func TestNamesAreIdentifiers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SampledFrom([]string{
			"blk", "layer", "0", "7", "attn_q", "attn.q", "weight", "func", "type", "packed", "kernel", "half", "é", "_", "__", "", "KV", "kv", "x8", "-", "nil", "main", "range",
		})
		s := newScope("taken", "b")
		given := map[string]string{}
		for range rapid.IntRange(1, 12).Draw(t, "names") {
			name := strings.Join(rapid.SliceOfN(parts, 0, 4).Draw(t, "parts"), rapid.SampledFrom([]string{".", "_", ""}).Draw(t, "separator"))
			for _, made := range []string{identifier(name), valuesName([]string{name, name + ".x"}), weightsName([]string{name})} {
				got := s.claim(made)
				if !token.IsIdentifier(got) || token.IsKeyword(got) || predeclared[got] {
					t.Fatalf("%q is called %q", name, got)
				}
				if other, ok := given[got]; ok || got == "taken" || got == "b" {
					t.Fatalf("%q and %q are both called %s", name, other, got)
				}
				given[got] = name
			}
		}
	})
}
