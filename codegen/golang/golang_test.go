package golang_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/schedules"
	"github.com/pmezard/go-difflib/difflib"
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
	{"qwen3-0.6b", []string{"portable", "subgroups"}},
	{"qwen3-8b", []string{"nvidia-h200"}}, // its head takes larger bindings than other profiles have
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
	p, err := golang.Compile(s)
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

// accept compares a folder with what is made now. With -update the folder gets it, if it builds.
func accept(t *testing.T, dir string, files golang.Files) {
	t.Helper()
	if *update {
		vet(t, files)
		if _, err := files.Commit(dir); err != nil {
			t.Fatal(err)
		}
	}
	d, err := files.Compare(dir)
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
		have, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: difflib.SplitLines(string(have)), B: difflib.SplitLines(string(files[name])), FromFile: name, ToFile: "made now", Context: 3,
		})
		t.Errorf("%s differs (%v):\n%s", filepath.Join(dir, name), err, text)
	}
}

// vet builds files as a module of a user would, and has go vet judge them.
func vet(t *testing.T, files golang.Files) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := files.Commit(dir); err != nil {
		t.Fatal(err)
	}
	module := "module example.org/user\n\ngo 1.26.0\n\nrequire github.com/kgen-wgsl/kgen v0.0.0\n\nreplace github.com/kgen-wgsl/kgen => " + root + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", "vet", "-mod=mod", ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("the output does not build: %v\n%s", err, out)
	}
}

// The same package gives the same bytes with one processor and with eight, and wherever the process stands.
func TestPure(t *testing.T) {
	s := preset(t, "smollm2-135m", "portable", "subgroups")
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
