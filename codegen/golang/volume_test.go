package golang_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// ofLayers is a package of one variant for a small llama of n layers.
func ofLayers(t *testing.T, n int) golang.Package {
	t.Helper()
	r, err := codegen.Compile(layers(t, n, nil), codegen.Options{Profile: profiles(t, "portable")[0], Context: 64})
	if err != nil {
		t.Fatal(err)
	}
	return golang.Package{
		Name: "x", Model: "x", Command: "go test", Variants: []golang.Variant{{Activations: r.Path, KV: "f16", Program: r.Program}},
	}
}

func files(t *testing.T, p golang.Package) golang.Files {
	t.Helper()
	f, err := golang.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What people read of a package, and what editors and compilers have to hold, is bounded for every model that is kept here. Most stay
// far below, also where the types of weights alternate from layer to layer, as in Q4_K_M.
func TestVolume(t *testing.T) {
	for _, p := range packages {
		// What lies there is what is generated: TestPackages.
		f := readFiles(t, filepath.Join("..", "..", "gen", golang.PackageName(p.preset)))
		wgsl, kernels, lines := 0, 0, 0
		for _, name := range f.Names() {
			switch {
			case strings.HasSuffix(name, ".wgsl"):
				kernels++
				wgsl += len(f[name])
			case strings.HasSuffix(name, ".go"):
				n := bytes.Count(f[name], []byte("\n"))
				lines += n
				if n > 1000 {
					t.Errorf("%s: %s has %d lines", p.preset, name, n)
				}
			}
			if len(f[name]) > 64<<10 {
				t.Errorf("%s: %s has %d bytes", p.preset, name, len(f[name]))
			}
		}
		t.Logf("%s: %d kernels of %d bytes, %d lines of Go", p.preset, kernels, wgsl, lines)
		if kernels > 30*len(p.profiles) || wgsl > 256<<10 || lines > 4000 {
			t.Errorf("%s: %d kernels of %d bytes, %d lines of Go", p.preset, kernels, wgsl, lines)
		}
	}
}

// A model with more layers has the same code: loops run longer, and lists of offsets are longer.
func TestLayersAddNoCode(t *testing.T) {
	few, many := files(t, ofLayers(t, 4)), files(t, ofLayers(t, 24))
	if d := cmp.Diff(few.Names(), many.Names()); d != "" {
		t.Errorf("files (-4 layers +24):\n%s", d)
	}
	numbers := regexp.MustCompile(`\d+`)
	for name := range few {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if functions(t, few[name]) != functions(t, many[name]) {
			t.Errorf("%s has %d functions with 4 layers, %d with 24", name, functions(t, few[name]), functions(t, many[name]))
		}
		a, b := numbers.ReplaceAllString(string(few[name]), "0"), numbers.ReplaceAllString(string(many[name]), "0")
		if a != b {
			t.Errorf("%s (-4 layers +24):\n%s", name, cmp.Diff(a, b))
		}
	}
}

func functions(t *testing.T, source []byte) (n int) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if _, ok := d.(*ast.FuncDecl); ok {
			n++
		}
	}
	return n
}

// A change of one kernel, such as another workgroup, is one kernel's file and the places with its name.
func TestOneChange(t *testing.T) {
	before, p := files(t, ofLayers(t, 3)), ofLayers(t, 3)
	p.Variants[0].Program.Kernels = slices.Clone(p.Variants[0].Program.Kernels)
	at := slices.IndexFunc(p.Variants[0].Program.Kernels, func(k plan.Kernel) bool { return strings.HasPrefix(k.Name, "attention") })
	k := &p.Variants[0].Program.Kernels[at]
	old := k.Name
	k.Name = k.Name[:strings.LastIndexByte(k.Name, '_')] + "_0123abcd"
	k.Text = strings.Replace(k.Text, "workgroup=", "workgroup=1", 1)
	after := files(t, p)
	var changed []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(before.Names(), after.Names()...)))) {
		if !bytes.Equal(before[name], after[name]) {
			changed = append(changed, name)
		}
	}
	want := []string{"kernels/" + k.Name + ".wgsl", "kernels/" + old + ".wgsl", "kernels_kgen.go", golang.ManifestName}
	slices.Sort(want)
	if d := cmp.Diff(want, changed); d != "" {
		t.Errorf("files that changed (-want +got):\n%s", d)
	}
	lines := 0
	for i, line := range strings.Split(string(after["kernels_kgen.go"]), "\n") {
		if line != strings.Split(string(before["kernels_kgen.go"]), "\n")[i] {
			lines++
		}
	}
	if lines != 3 { // the schedule in the comment, the embedded file, the name
		t.Errorf("%d lines of kernels_kgen.go changed, want 3", lines)
	}
}
