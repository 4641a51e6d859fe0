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
