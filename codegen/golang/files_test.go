package golang

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files is a package of two files with its manifest.
func files(contents map[string]string) Files {
	f := Files{}
	for name, text := range contents {
		f[name] = []byte(text)
	}
	f[ManifestName] = (&generator{Package: &Package{Command: "kgen gen"}}).manifest(f)
	return f
}

// list returns the files of a folder with their contents, the manifest's left out.
func list(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == ManifestName {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func commit(t *testing.T, f Files, dir string, want Difference) {
	t.Helper()
	d, err := f.Commit(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("the difference there was (-want +got):\n%s", diff)
	}
	if d, err := f.Compare(dir); err != nil || !d.Empty() {
		t.Errorf("after it: %+v, %v", d, err)
	}
}

func TestCommit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "package")
	first := files(map[string]string{"a_kgen.go": "a", "b_kgen.go": "b", "kernels/k_1.wgsl": "k"})
	commit(t, first, dir, Difference{Missing: []string{"a_kgen.go", "b_kgen.go", "kernels/k_1.wgsl", ManifestName}})
	write(t, dir, "own.go", "mine")
	write(t, dir, "own_kgen.go", "mine too")
	old := modified(t, dir, "a_kgen.go")

	second := files(map[string]string{"a_kgen.go": "a", "b_kgen.go": "B", "kernels/k_2.wgsl": "k"})
	commit(t, second, dir, Difference{
		Missing: []string{"kernels/k_2.wgsl"}, Extra: []string{"kernels/k_1.wgsl"}, Changed: []string{"b_kgen.go", ManifestName},
	})
	want := map[string]string{"a_kgen.go": "a", "b_kgen.go": "B", "kernels/k_2.wgsl": "k", "own.go": "mine", "own_kgen.go": "mine too"}
	if d := cmp.Diff(want, list(t, dir)); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	if modified(t, dir, "a_kgen.go") != old {
		t.Error("a file that is equal was written")
	}
	commit(t, second, dir, Difference{})
}

func modified(t *testing.T, dir, name string) string {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().String()
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A commit that can't be done whole changes nothing.
func TestCommitRefuses(t *testing.T) {
	before := map[string]string{"a_kgen.go": "a", "kernels/k_1.wgsl": "k"}
	after := files(map[string]string{"a_kgen.go": "A", "c_kgen.go": "c"})
	for about, spoil := range map[string]func(dir string) (want map[string]string){
		"an edited file would be removed": func(dir string) map[string]string {
			write(t, dir, "kernels/k_1.wgsl", "edited")
			return map[string]string{"a_kgen.go": "a", "kernels/k_1.wgsl": "edited"}
		},
		"a folder is in the way": func(dir string) map[string]string {
			if err := os.Mkdir(filepath.Join(dir, "c_kgen.go"), 0o777); err != nil {
				t.Fatal(err)
			}
			return before
		},
		"a file of someone else would be overwritten": func(dir string) map[string]string {
			write(t, dir, "c_kgen.go", "mine")
			return map[string]string{"a_kgen.go": "a", "kernels/k_1.wgsl": "k", "c_kgen.go": "mine"}
		},
		"the manifest is another tool's": func(dir string) map[string]string {
			write(t, dir, ManifestName, "something else\n")
			return before
		},
	} {
		dir := t.TempDir()
		commit(t, files(before), dir, Difference{Missing: []string{"a_kgen.go", "kernels/k_1.wgsl", ManifestName}})
		want := spoil(dir)
		if _, err := after.Commit(dir); err == nil {
			t.Errorf("%s: no error", about)
		}
		if d := cmp.Diff(want, list(t, dir)); d != "" {
			t.Errorf("%s: files (-want +got):\n%s", about, d)
		}
	}
}

// A diff shows what changed in a kernel, whose name has changed with it, and whole files where there is nothing to compare.
func TestDiff(t *testing.T) {
	dir := t.TempDir()
	commit(t, files(map[string]string{"a_kgen.go": "a\nb", "kernels/k_1.wgsl": "one\ntwo\n", "kernels/m_1.wgsl": "gone\n"}), dir, Difference{
		Missing: []string{"a_kgen.go", "kernels/k_1.wgsl", "kernels/m_1.wgsl", ManifestName},
	})
	now := files(map[string]string{"a_kgen.go": "a\nc", "kernels/k_2.wgsl": "one\n2\n", "kernels/n_1.wgsl": "new\n"})
	got, err := now.Diff(dir)
	const want = `--- a/a_kgen.go
+++ b/a_kgen.go
@@ -1,2 +1,2 @@
 a
-b
\ No newline at end of file
+c
\ No newline at end of file
--- a/kernels/k_1.wgsl
+++ b/kernels/k_2.wgsl
@@ -1,2 +1,2 @@
 one
-two
+2
--- a/kernels/m_1.wgsl
+++ /dev/null
@@ -1 +0,0 @@
-gone
--- /dev/null
+++ b/kernels/n_1.wgsl
@@ -0,0 +1 @@
+new
`
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("diff (-want +got), %v:\n%s", err, d)
	}
	if _, err := now.Commit(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := now.Diff(dir); got != "" || err != nil {
		t.Errorf("a diff from itself: %q, %v", got, err)
	}
}

// A manifest can only name files that Generate could have made: what it names may be removed.
func TestHostileManifests(t *testing.T) {
	sum := hash(nil)
	for _, line := range []string{
		"file " + sum + " ../a_kgen.go",
		"file " + sum + " /etc/a_kgen.go",
		"file " + sum + " kernels/../../a.wgsl",
		"file " + sum + ` kernels/..\a.wgsl`,
		"file " + sum + " main.go",
		"file " + sum + " other/a_kgen.go",
		"file " + sum + " kernels/a.go",
		"file " + sum + " ",
		"file a_kgen.go",
		"file 12 a_kgen.go",
	} {
		_, err := manifestFiles([]byte(manifestHead + "\ncommand x\n" + line + "\n"))
		var typed *ManifestError
		if !errors.As(err, &typed) || typed.Line != 3 {
			t.Errorf("%q: got %v, want an error of line 3", line, err)
		}
	}
	for _, text := range []string{"", "kgen manifest 2\n", "\n" + manifestHead} {
		var typed *ManifestError
		if _, err := manifestFiles([]byte(text)); !errors.As(err, &typed) || typed.Line != 1 {
			t.Errorf("%q: got %v, want an error of line 1", text, err)
		}
	}
	got, err := manifestFiles([]byte(manifestHead + "\r\nfile " + sum + " kernels/a_1.wgsl\r\n"))
	if err != nil || got["kernels/a_1.wgsl"] != sum {
		t.Errorf("with CRLF: %v, %v", got, err)
	}
}

// Text that is no Go comes back with the line at fault, and can be looked at beside its target.
func TestBroken(t *testing.T) {
	source := []byte("package x\n\nfunc f() {\n\treturn )\n}\n")
	_, err := formatted("x_kgen.go", source)
	var broken *BrokenError
	if !errors.As(err, &broken) || broken.Line != 4 || !strings.HasPrefix(err.Error(), "x_kgen.go.broken:4: ") {
		t.Fatalf("got %v", err)
	}
	path, err := broken.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != string(source) || filepath.Base(path) != "x_kgen.go.broken" {
		t.Errorf("%s holds %q, %v", path, data, err)
	}
}

func TestGroupImports(t *testing.T) {
	got := groupImports([]byte("package x\n\nimport (\n\t\"context\"\n\tk \"example.org/k\"\n\t\"strconv\"\n)\n\nvar a = (1)\n"))
	want := "package x\n\nimport (\n\t\"context\"\n\t\"strconv\"\n\n\tk \"example.org/k\"\n)\n\nvar a = (1)\n"
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"attn_norm": "attnNorm", "gemv_q4_1_960x576": "gemvQ4_1_960x576", "rope_kv_norm_9x64_f16": "ropeKVNorm9x64F16",
		"argmax.partials": "argmaxPartials", "token_embd": "tokenEmbd", "1x": "x1x", "": "x", "é_a": "a",
	} {
		if got := identifier(name); got != want {
			t.Errorf("identifier(%q) = %s, want %s", name, got, want)
		}
	}
	for _, c := range []struct {
		values []string
		want   string
	}{
		{[]string{"layer.3.attn_q", "layer.3.attn_k", "layer.3.attn_v"}, "attnQKV"},
		{[]string{"layer.3.ffn_gate", "layer.3.ffn_up"}, "ffnGateUp"},
		{[]string{"layer.12.in"}, "residual"},
		{[]string{"x.q8", "x.q8.d", "x.q8.s"}, "xQ8"},
		{[]string{"layer.0.a", "b"}, "aB"},
	} {
		if got := valuesName(c.values); got != c.want {
			t.Errorf("%v is called %s, want %s", c.values, got, c.want)
		}
	}
	s := newScope("taken")
	got := []string{s.claim("taken"), s.claim("range"), s.claim("free"), s.claim("free"), s.claim("append"), s.claim("x8"), s.claim("x8")}
	if want := []string{"taken2", "range2", "free", "free2", "append2", "x8", "x8_2"}; !slices.Equal(got, want) {
		t.Errorf("claimed %v, want %v", got, want)
	}
}
