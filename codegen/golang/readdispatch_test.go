package golang_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/golang"
)

// Proofs are made of what the files say now: a kernel that is edited, or dispatched in a larger grid, or for more positions, loses its
// proof while the package still claims it.
func TestReadProofs(t *testing.T) {
	for about, c := range map[string]struct{ file, old, new, kernel, says string }{
		"as it was":    {"", "", "", "", ""},
		"a kernel":     {"kernels/add_in_place_*.wgsl", "i < 16u", "i < 17u", "add_in_place", "a[i]: the index may be 0 to 16, and there are 16"},
		"a grid":       {"portable_*_kgen.go", "Dispatch(rmsnorm1x64, 1, 1, 1", "Dispatch(rmsnorm1x64, 2, 1, 1", "rmsnorm", "x[first + i]: the index may be 0 to 31, and there are 16"},
		"a context":    {"portable_*_kgen.go", "b.Model(128, 64)", "b.Model(128, 64000)", "attention", "params[params[5u] +"},
		"page ids":     {"portable_*_kgen.go", "PagesAt: 8, Pages: 2, RingAt: 10", "PagesAt: 80000, Pages: 2, RingAt: 80010", "attention", "80000"},
		"the params":   {"portable_*_kgen.go", "Dispatch(advance, 1, 1, 1", "Dispatch(advance, 2, 1, 1", "attention", "as advance"},
		"the last one": {"portable_*_kgen.go", "\tprefill.Dispatch(advance, 1, 1, 1, params)\n", "\tprefill.Dispatch(advance, 1, 1, 1, params)\n\tprefill.Dispatch(advance, 1, 1, 1, params)\n", "attention", "as advance"},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/two_layers")); err != nil {
			t.Fatal(err)
		}
		edit(t, filepath.Join(dir, filepath.FromSlash(c.file)), c.old, c.new)
		p, err := golang.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		said, lost := "", 0
		for _, v := range p.Variants {
			for i, proof := range v.Proofs() {
				if !proof.Proved() {
					lost++
				}
				for _, f := range proof.Failures {
					said += v.Kernels[i].Name + " " + f.String() + "\n"
				}
			}
		}
		if lost > 0 != (c.says != "") || !strings.Contains(said, c.kernel) || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d lost: %swant %s, %q", about, lost, said, c.kernel, c.says)
		}
	}
}

// Code that could make a kernel run in another way than the reader sees is refused, with the place.
func TestReadSurprises(t *testing.T) {
	for about, c := range map[string]struct{ old, new, want string }{
		"another kernel":        {"\tall.Dispatch(", "\tadvance = rmsnorm1x64\n\tall.Dispatch(", "advance stands for two things"},
		"a shadow":              {"\t\tw := &layers[l]\n", "\t\tw := &layers[l]\n\t\tadvance := 3\n", "advance stands for two things"},
		"another list":          {"\tall.Dispatch(", "\tprefill = decode\n\tall.Dispatch(", "prefill stands for two things"},
		"another block":         {"\tall.Dispatch(", "\tblock := params\n\tall.Dispatch(", "params is the params block"},
		"a part of the block":   {"\tall.Dispatch(", "\tx := params.Part(0, 4)\n\tall.Dispatch(", "params is the params block"},
		"a range of any buffer": {"Range{Buffer: arena0", "Range{Buffer: 2", "a range of a buffer that is no variable"},
		"a range of the block":  {"Range{Buffer: arena0", "Range{Buffer: params.Buffer", "a range of a buffer that is no variable"},
		"a range without names": {"plan.Range{Buffer: arena0, Offset: 0, Bytes: 256}", "plan.Range{2, 0, 256}", "a range without the names"},
		"a method":              {"\tprefill.Dispatch(advance", "\td := prefill.Dispatch\n\td(advance", "a dispatch that is no call"},
		"more pages":            {"\tb.KV(kv)", "\tkv.Pages = 900\n\tb.KV(kv)", "no other value"},
		"a kernel of its own":   {"b.Kernel(advanceKernel())", "b.Kernel(mine())", "advance is no kernel that kgen writes"},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/two_layers")); err != nil {
			t.Fatal(err)
		}
		edit(t, filepath.Join(dir, "portable_*_kgen.go"), c.old, c.new)
		_, err := golang.Read(dir)
		var typed *golang.ReadError
		if !errors.As(err, &typed) || !strings.Contains(err.Error(), c.want) || typed.Pos.Line == 0 {
			t.Errorf("%s: got %v, want %q", about, err, c.want)
		}
	}
}

// A list that stands for what the reader doesn't know counts as all lists: the kernel that writes params isn't the last of any.
func TestReadUnknownLists(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/two_layers")); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(dir, "portable_*_kgen.go"), "\tprefill.Dispatch(advance",
		"\tafter := prefill\n\tboth := plan.Lists{after}\n\tboth.Dispatch(advance, 1, 1, 1, params)\n\tprefill.Dispatch(advance")
	p, err := golang.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range p.Variants {
		lost := 0
		for _, proof := range v.Proofs() {
			if !proof.Proved() {
				lost++
			}
		}
		if (lost > 0) != (v.Profile == "portable") {
			t.Errorf("%s: %d lost", v.Name, lost)
		}
	}
}

// edit changes the files of a pattern that have a text.
func edit(t *testing.T, pattern, old, new string) {
	t.Helper()
	if old == "" {
		return
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	edits := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		edits += strings.Count(string(text), old)
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, new)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if edits == 0 {
		t.Fatalf("no %q in %s", old, pattern)
	}
}

// A kernel that variants share claims a proof only where it is proved in all of them.
func TestSharedKernelsNeedEveryProof(t *testing.T) {
	pkg, err := golang.Compile(t.Context(), preset(t, "smollm2-135m", "portable"))
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	for i, k := range pkg.Variants[1].Program.Kernels {
		if strings.HasPrefix(k.Name, "rmsnorm_") {
			name = k.Name
			pkg.Variants[1].Program.Kernels[i].Proved = false
		}
	}
	files, err := golang.Generate(pkg)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := files.Commit(dir); err != nil {
		t.Fatal(err)
	}
	p, err := golang.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, v := range p.Variants {
		for _, k := range v.Kernels {
			if k.Proved == (k.Name == name) {
				t.Errorf("%s: %s claims %v", v.Name, k.Name, k.Proved)
			}
			if k.Name == name {
				met++
			}
		}
	}
	if met < 2 {
		t.Errorf("%q is in %d variants", name, met)
	}
}
