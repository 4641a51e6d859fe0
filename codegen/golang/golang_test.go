package golang_test

import (
	"bytes"
	"flag"
	"go/format"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/schedules"
)

var update = flag.Bool("update", false, "rewrite the generated packages of testdata and gen")

func profiles(t *testing.T, names ...string) []schedules.Profile {
	t.Helper()
	var all []schedules.Profile
	for _, name := range names {
		p, err := schedules.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// packages are those below gen: the preset of each, and its profiles.
var packages = []struct {
	preset   string
	profiles []string
}{
	{"smollm2-135m", []string{"portable", "subgroups"}},
	{"qwen2.5-1.5b", []string{"portable", "subgroups"}},
	{"qwen3-0.6b", []string{"portable", "subgroups"}},
	{"qwen3-8b", []string{"portable", "subgroups"}},
}

// preset is the spec of a package below gen.
func preset(t *testing.T, name string, names ...string) golang.Spec {
	t.Helper()
	p, err := models.LookupPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	return golang.ForModel(name, p.About, p.Hyperparameters, profiles(t, names...))
}

func generate(t *testing.T, s golang.Spec) golang.Files {
	t.Helper()
	p, err := golang.Compile(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	files, err := golang.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The packages below gen are what the compiler makes now.
func TestPackages(t *testing.T) {
	for _, p := range packages {
		s := preset(t, p.preset, p.profiles...)
		t.Run(s.Name, func(t *testing.T) { accept(t, filepath.Join("..", "..", "gen", s.Name), generate(t, s)) })
	}
}

// A package of two small layers, to be read: see testdata/two_layers.
func TestGolden(t *testing.T) {
	s := golang.Spec{
		Name: "two_layers", Model: "two-layers", About: []string{"It is a llama of two layers with random weights in Q4_0."},
		Command: "go test ./codegen/golang -update", Context: 64,
		Graph:   func(ir.Elem) (*ir.Graph, error) { return parse("../../golden/cases/q4_0_portable/graph.ir") },
		Targets: golang.Targets(profiles(t, "portable", "subgroups"), []bool{false}, []ir.Elem{ir.F16}),
	}
	accept(t, filepath.Join("testdata", "two_layers"), generate(t, s))
}

// accept compares a folder with what is made now. With -update the folder gets it, if it builds.
func accept(t *testing.T, dir string, files golang.Files) {
	t.Helper()
	if *update {
		newModule(t, map[string]golang.Files{"it": files}).run(t, "vet", "./...")
		if _, err := files.Commit(dir); err != nil {
			t.Fatal(err)
		}
	}
	d, err := difference(files, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range d.Missing {
		t.Errorf("%s: kgen makes it, the folder lacks it", filepath.Join(dir, name))
	}
	for _, name := range d.Extra {
		t.Errorf("%s: the folder has it, kgen no longer makes it", filepath.Join(dir, name))
	}
	for _, name := range d.Changed {
		t.Errorf("%s differs from what kgen makes", filepath.Join(dir, name))
	}
	if d.Empty() {
		return
	}
	if text, err := files.Diff(dir); text != "" || err != nil {
		t.Errorf("accepting this takes `make golden` (%v):\n%s", err, text)
	}
}

// difference is Compare, but for Go files that differ only as another release of gofmt would have it: the release that runs the tests
// isn't always the one that wrote them.
func difference(files golang.Files, dir string) (golang.Difference, error) {
	d, err := files.Compare(dir)
	var rest []string
	reformatted := false
	for _, name := range d.Changed {
		have, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return d, err
		}
		if text, err := format.Source(have); err == nil && filepath.Ext(name) == ".go" && bytes.Equal(text, files[name]) {
			reformatted = true
			continue
		}
		rest = append(rest, name)
	}
	if reformatted && len(rest) == 1 && rest[0] == golang.ManifestName && len(d.Missing)+len(d.Extra) == 0 {
		rest = nil // it has the hashes of what was formatted
	}
	d.Changed = rest
	return d, err
}

// A difference that is only in formatting is none; any other is.
func TestDifferenceInFormat(t *testing.T) {
	made := generate(t, small(t))
	for name, c := range map[string]struct {
		from, to string
		want     []string
	}{
		"format": {"\t", "    ", nil},
		"names":  {"Variants", "Variant", []string{golang.ManifestName, "variants_kgen.go"}},
	} {
		dir := t.TempDir()
		other := golang.Files{}
		for file, text := range made {
			other[file] = text
		}
		other["variants_kgen.go"] = bytes.ReplaceAll(made["variants_kgen.go"], []byte(c.from), []byte(c.to))
		other[golang.ManifestName] = append(bytes.Clone(made[golang.ManifestName]), "variant other\n"...)
		if _, err := other.Commit(dir); err != nil {
			t.Fatal(err)
		}
		d, err := difference(made, dir)
		slices.Sort(d.Changed)
		if err != nil || !slices.Equal(d.Changed, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, d, err, c.want)
		}
	}
}

// The same package gives the same bytes with one processor and with eight, and wherever the process stands.
func TestPure(t *testing.T) {
	s := preset(t, "smollm2-135m", "portable", "subgroups")
	s.Targets = []golang.Target{s.Targets[0], s.Targets[7]}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	one := generate(t, s)
	runtime.GOMAXPROCS(8)
	t.Chdir(t.TempDir())
	eight := generate(t, s)
	for _, name := range one.Names() {
		if !bytes.Equal(one[name], eight[name]) {
			t.Errorf("%s differs", name)
		}
	}
	if len(one) != len(eight) {
		t.Errorf("%d files, then %d", len(one), len(eight))
	}
}
