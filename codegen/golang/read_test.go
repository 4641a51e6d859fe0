package golang_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// What Read says of a package on disk is what the compiler put into it.
func TestRead(t *testing.T) {
	s := preset(t, "smollm2-135m", "subgroups", "portable", "compat")
	pkg, err := golang.Compile(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	files, err := golang.Generate(pkg)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := files.Commit(dir); err != nil {
		t.Fatal(err)
	}
	read, err := golang.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := read.Variants
	if len(read.Edited) != 0 {
		t.Errorf("edited: %v", read.Edited)
	}
	var want []golang.ReadVariant
	for _, v := range pkg.Variants {
		p := v.Program
		built, err := p.Build()
		if err != nil {
			t.Fatal(err)
		}
		block := bounds.Block{Params: built.Params, Pages: built.KV.Pages, Vocab: built.Vocab, Context: built.Context}
		block.Params.Range = plan.Range{} // where the block lies, Read doesn't say
		want = append(want, golang.ReadVariant{
			Name: v.Name(), Model: p.Name, Graph: v.Graph, Profile: p.Profile, Activations: v.Activations, KV: v.KV, Context: p.Context,
			Requires: p.Requires, Kernels: p.Kernels, Dispatched: bounds.Dispatches(built), Block: block,
		})
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("variants (-compiled +read):\n%s", cmp.Diff(want, got))
	}
}

// Read takes what the files say now, and says where they are not what kgen writes.
func TestReadEdited(t *testing.T) {
	for about, c := range map[string]struct{ file, old, new, want string }{
		"text":     {"kernels_kgen.go", "Workgroup: ", "Workgroup: f() + ", "kernels_kgen.go:"},
		"name":     {"kernels_kgen.go", "plan.ReadWrite", "plan.Write", "Write is a name"},
		"number":   {"portable_exact_f16_kgen.go", "StorageBuffers:", `StorageBuffers: "x" + 0, Other:`, "portable_exact_f16_kgen.go:"},
		"no go":    {"kernels_kgen.go", "package ", "packet ", "expected 'package'"},
		"manifest": {golang.ManifestName, "kgen manifest 1", "kgen manifest 9", "kgen.manifest:1"},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/two_layers")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), c.old) {
			t.Fatalf("%s: %s has no %q", about, c.file, c.old)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := golang.Read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", about, err, c.want)
		}
	}
	if _, err := golang.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no generated package") {
		t.Errorf("an empty folder: got %v", err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/two_layers")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "doc_kgen.go"), []byte("package two_layers\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := golang.Read(dir)
	if err != nil || len(p.Variants) != 2 || p.Variants[0].Kernels[0].Bindings[0].Access != plan.Read {
		t.Errorf("got %+v, %v", p, err)
	}
	if d := cmp.Diff([]string{"doc_kgen.go"}, p.Edited); d != "" {
		t.Errorf("edited (-want +got):\n%s", d)
	}
}
