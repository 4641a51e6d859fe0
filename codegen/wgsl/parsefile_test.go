package wgsl_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// repositoryKernels returns the paths of every kernel text in the repository.
func repositoryKernels(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"gen/*/kernels/*.wgsl", "golden/cases/*/*.wgsl", "codegen/kernels/testdata/*.wgsl"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	return files
}

// Every kernel that kgen printed parses, and prints as it was.
func TestKernelsParseAndPrintBack(t *testing.T) {
	for _, file := range repositoryKernels(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := wgsl.Parse(filepath.Base(file), string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		printed := wgsl.Print(f)
		if d := cmp.Diff(string(text), printed); d != "" {
			t.Errorf("%s:\n%s", file, d)
		}
		parsesBack(t, file, f, printed)
	}
}

// parsesBack holds that a printed file parses to what was printed.
func parsesBack(t testing.TB, name string, f *wgsl.File, printed string) {
	t.Helper()
	back, err := wgsl.Parse(name, printed)
	if err != nil {
		t.Errorf("%s doesn't parse when printed: %v\n%s", name, err, printed)
		return
	}
	if d := cmp.Diff(f, back, ignorePositions, cmpopts.IgnoreUnexported(wgsl.Symbol{}, wgsl.Struct{})); d != "" {
		t.Errorf("%s is something else when printed:\n%s", name, d)
	}
}

// What a const vector or array is made of is known, and its uses have the types that they ask for.
func TestConstantParts(t *testing.T) {
	f, err := wgsl.Parse("c.wgsl", "const a = vec2(3, 4) * 2;\nfn f(k: u32) -> vec2<u32> { return a + vec2(k); }")
	if err != nil {
		t.Fatal(err)
	}
	s := f.Decls[0].(*wgsl.Declare).Symbol
	if d := cmp.Diff([]wgsl.Value{{Kind: wgsl.IntValue, Int: 6}, {Kind: wgsl.IntValue, Int: 8}}, s.Parts()); d != "" {
		t.Error(d)
	}
	if want := (wgsl.Vector{Elem: wgsl.AbstractInt, Width: 2}); s.Type != want {
		t.Errorf("a is %s, want %s", s.Type, want)
	}
	wgsl.Inspect(f, func(e wgsl.Expr) {
		if id, ok := e.(*wgsl.Ident); ok && id.Name == "a" && id.Type != (wgsl.Vector{Elem: wgsl.U32, Width: 2}) {
			t.Errorf("the use of a has type %s", id.Type)
		}
	})
}

// The parser makes the AST that the builder made.
func TestParserMakesWhatTheBuilderMade(t *testing.T) {
	for name, m := range good() {
		f, err := wgsl.Parse(name, mustText(t, m))
		if err != nil {
			t.Error(err)
			continue
		}
		floatText := cmp.FilterPath(func(p cmp.Path) bool {
			return p.Last().String() == ".Text" && p.Index(-2).Type().Name() == "Literal"
		}, cmp.Ignore()) // the builder keeps digits that print as others
		if d := cmp.Diff(m.File(), f, ignorePositions, cmpopts.IgnoreUnexported(wgsl.Symbol{}, wgsl.Struct{}), floatText); d != "" {
			t.Errorf("%s:\n%s\n%s", name, d, mustText(t, m))
		}
	}
}
