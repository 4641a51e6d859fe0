package mutate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen/mutate"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// kernels returns the texts of gen that match a pattern, each once.
func kernels(t *testing.T, pattern string) []mutate.Kernel {
	t.Helper()
	paths, err := filepath.Glob("../../gen/" + pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no kernels %s: %v", pattern, err)
	}
	var list []mutate.Kernel
	seen := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(path); !seen[name] {
			seen[name] = true
			list = append(list, mutate.Kernel{Name: name, Text: string(text)})
		}
	}
	return list
}

// Every operator has sites in the kernels of gen, no two sites of a kernel are the same, and sites come out the same each time.
// With -v, the sites of each operator are counted.
func TestSitesOfGen(t *testing.T) {
	count := map[string]int{}
	list := kernels(t, "*/kernels/*.wgsl")
	for i, k := range list {
		file, err := wgsl.Parse(k.Name, k.Text)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[mutate.Site]bool{}
		sites := mutate.Sites(file)
		for _, s := range sites {
			if seen[s] {
				t.Errorf("twice: %s", s)
			}
			seen[s] = true
			count[s.Operator]++
		}
		if i%40 == 0 {
			if diff := cmp.Diff(sites, mutate.Sites(file)); diff != "" {
				t.Errorf("%s: the second time (-first +second):\n%s", k.Name, diff)
			}
		}
	}
	total := 0
	for _, o := range mutate.Operators() {
		t.Logf("%-10s %6d sites: %s", o.Name, count[o.Name], o.About)
		if total += count[o.Name]; count[o.Name] == 0 {
			t.Errorf("operator %s has no site", o.Name)
		}
	}
	t.Logf("%d kernels, %d sites", len(list), total)
}

// A sample is the same for the same seed, another for another, holds nothing twice, and takes operators in turn. Each mutant differs
// from its kernel in one line.
func TestSample(t *testing.T) {
	list := kernels(t, "smollm2_135m/kernels/[aeqr]*.wgsl")
	draw := func(n int, seed uint64) []mutate.Mutant {
		mutants, err := mutate.Sample(list, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		return mutants
	}
	first := draw(100, 1)
	if diff := cmp.Diff(first, draw(100, 1)); diff != "" {
		t.Errorf("the same seed (-first +second):\n%s", diff)
	}
	if cmp.Equal(first, draw(100, 2)) {
		t.Error("another seed draws the same")
	}
	texts := map[string]string{}
	for _, k := range list {
		texts[k.Name] = k.Text
	}
	seen, count := map[string]bool{}, map[string]int{}
	for _, m := range first {
		if seen[m.Text] {
			t.Errorf("twice: %s", m.Site)
		}
		seen[m.Text] = true
		count[m.Site.Operator]++
		if n := linesChanged(texts[m.Kernel], m.Text); n != 1 {
			t.Errorf("%s: %d lines differ", m.Site, n)
		}
	}
	for _, o := range mutate.Operators() {
		if n := count[o.Name]; n < 4 || n > 7 {
			t.Errorf("%d of 100 mutants are of operator %s", n, o.Name)
		}
	}
}

// linesChanged counts the lines between the common beginning and the common end of two texts, in the longer one.
func linesChanged(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return max(len(x), len(y))
}

// The list in the package's documentation is that of Operators.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "//\t"); ok {
			name, about, _ := strings.Cut(strings.TrimSpace(rest), " ")
			got = append(got, name+": "+strings.TrimSpace(about))
		}
	}
	for _, o := range mutate.Operators() {
		want = append(want, o.Name+": "+o.About)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("doc.go (-Operators +documented):\n%s", diff)
	}
}
