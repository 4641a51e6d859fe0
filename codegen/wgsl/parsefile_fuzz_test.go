package wgsl_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// FuzzParse looks for a file that panics, an error without a place, or a file that prints as something else.
func FuzzParse(f *testing.F) {
	for _, v := range verdicts(f) {
		f.Add(v.text)
	}
	for i, file := range repositoryKernels(f) {
		if text, err := os.ReadFile(file); err == nil && i%20 == 0 {
			f.Add(string(text))
		}
	}
	for _, text := range []string{"//", "/*", "/* /* */", "fn", "@", "fn f() {", "const a = b; const b = a;", "struct S {", "var<", "\xff", "fn f(){//\n}", "\ufeff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := wgsl.Parse("fuzz.wgsl", text)
		if err != nil {
			var typed *wgsl.Error
			if !errors.As(err, &typed) || typed.Pos.Line < 1 || typed.Pos.Column < 1 {
				t.Fatalf("%q: an error without a place: %v", text, err)
			}
			return
		}
		printed := wgsl.Print(file)
		back, err := wgsl.Parse("fuzz.wgsl", printed)
		if err != nil && strings.Contains(err.Error(), "deep") {
			return // parentheses between two minus signs count
		}
		if err != nil {
			t.Fatalf("%q prints as %q: %v", text, printed, err)
		}
		if again := wgsl.Print(back); again != printed {
			t.Fatalf("%q prints as %q, that as %q", text, printed, again)
		}
	})
}
