package sim

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"golang.org/x/tools/txtar"
)

// Every program that Parse accepts runs: the corpus of programs that both Tint and naga accept is about language, so one workgroup on
// small buffers is enough. Overrides without a value are the one thing that a text alone can't be run without.
func TestCorpusRuns(t *testing.T) {
	files, err := filepath.Glob("../wgsl/testdata/verdicts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	ran := 0
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			file, err := wgsl.Parse(f.Name, string(f.Data))
			if err != nil {
				continue
			}
			for _, d := range file.Decls {
				if fn, ok := d.(*wgsl.Func); ok && fn.Entry() {
					tryProgram(t, f.Name, file, fn.Name)
					ran++
				}
			}
		}
	}
	if ran < 200 {
		t.Errorf("%d programs ran", ran)
	}
}

func tryProgram(t *testing.T, name string, file *wgsl.File, entry string) {
	t.Helper()
	p, err := Compile(file, entry)
	if err != nil {
		if !strings.Contains(err.Error(), "has no value") {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	var bindings []Binding
	for _, d := range p.Bindings() {
		bytes := d.Bytes
		if d.Runtime {
			bytes = (d.Bytes + 255) / 256 * 256
		}
		b := NewBuffer(d.Name, bytes, true)
		bindings = append(bindings, Binding{Group: d.Group, Binding: d.Binding, Buffer: b, Bytes: b.Size()})
	}
	_, err = p.Run(context.Background(), [3]int{2, 1, 1}, bindings, Options{StopTrips: 1000})
	var wrong *plan.PlanError
	if err != nil && !errors.As(err, &wrong) {
		t.Errorf("%s: %v", name, err)
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
}
