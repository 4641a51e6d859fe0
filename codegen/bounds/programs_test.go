package bounds_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"golang.org/x/tools/txtar"
)

// programs are the texts of a folder's files, of those that hold several too.
func programs(t *testing.T, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		archive := txtar.Parse(text)
		for _, f := range archive.Files {
			all[file+"/"+f.Name] = string(f.Data)
		}
		if len(archive.Files) == 0 {
			all[file] = string(text)
		}
	}
	return all
}

// Every program that WGSL allows is judged, whatever it uses.
func TestAnyProgram(t *testing.T) {
	entries, accesses := 0, 0
	for name, text := range programs(t, "../wgsl/testdata/verdicts/*") {
		f, _, err := wgsl.ParseLenient(name, text)
		if err != nil {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*wgsl.Func)
			if !ok || !fn.Entry() {
				continue
			}
			p := bounds.Prove(f, fn.Name, bounds.Use{Grid: [3]int{3, 2, 1}})
			entries++
			accesses += p.Accesses
			for _, x := range p.Failures {
				if x.Why == "" || x.Expr == "" || x.Low > x.High {
					t.Errorf("%s: %+v", name, x)
				}
			}
		}
	}
	t.Logf("%d entry points, %d accesses", entries, accesses)
	if entries < 250 {
		t.Error("these are too few")
	}
}

// Kernels that were written by hand are proved, as long as they are dispatched as they say.
func TestHandWritten(t *testing.T) {
	for _, c := range []struct {
		file string
		use  bounds.Use
		want bool
	}{
		{"matmul.wgsl", bounds.Use{Grid: [3]int{2, 3, 1}}, true},
		{"matmul.wgsl", bounds.Use{Grid: [3]int{200, 300, 1}}, true}, // it guards each access
		{"reduce.wgsl", bounds.Use{Grid: [3]int{3, 1, 1}, Lengths: map[string]int{"sums": 3}}, true},
		{"reduce.wgsl", bounds.Use{Grid: [3]int{4, 1, 1}, Lengths: map[string]int{"sums": 3}}, false},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "kernels", c.file))
		if err != nil {
			t.Fatal(err)
		}
		f, err := wgsl.Parse(c.file, string(text))
		if err != nil {
			t.Fatal(err)
		}
		if p := bounds.Prove(f, "main", c.use); p.Proved() != c.want {
			t.Errorf("%s, %+v: %v", c.file, c.use, p.Failures)
		}
	}
}
