package golang_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// build runs the go command in a folder.
func build(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir, command.Env = dir, append(os.Environ(), env...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// A package builds wherever its folder is: nothing in it depends on the module around it, or on the path.
func TestBuildsAnywhere(t *testing.T) {
	files := generate(t, small(t))
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod := func(name string) string {
		return "module " + name + "\n\ngo 1.26.0\n\nrequire github.com/kgen-wgsl/kgen v0.0.0\n\nreplace github.com/kgen-wgsl/kgen => " + root + "\n"
	}
	const noWork, fresh = "GOWORK=off", "GOFLAGS=-mod=mod"
	// place makes a folder with a module and the package below it.
	place := func(t *testing.T, base, module, pkg string) string {
		dir := filepath.Join(t.TempDir(), base)
		if _, err := files.Commit(filepath.Join(dir, filepath.FromSlash(pkg))); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "go.mod"), mod(module))
		return dir
	}
	t.Run("a path with spaces and #", func(t *testing.T) {
		build(t, place(t, "a b#c", "example.org/user", "gen/two_layers"), []string{noWork, fresh}, "build", "./...")
	})
	t.Run("a module without a dot", func(t *testing.T) {
		build(t, place(t, "x", "user", "two_layers"), []string{noWork, fresh}, "build", "./...")
	})
	t.Run("a module within a module", func(t *testing.T) {
		dir := place(t, "x", "example.org/outer", "outer_layers")
		if _, err := files.Commit(filepath.Join(dir, "inner", "two_layers")); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "inner", "go.mod"), mod("example.org/outer/inner"))
		build(t, filepath.Join(dir, "inner"), []string{noWork, fresh}, "build", "./...")
	})
	t.Run("a workspace", func(t *testing.T) {
		dir := place(t, "x", "example.org/user", "two_layers")
		write(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse (\n\t.\n\t"+root+"\n)\n")
		write(t, filepath.Join(dir, "go.mod"), "module example.org/user\n\ngo 1.26.0\n") // kgen is there by the workspace alone
		build(t, dir, []string{"GOWORK=" + filepath.Join(dir, "go.work"), "GOFLAGS="}, "build", "./...")
	})
	t.Run("a symbolic link", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			return // which asks for a right that users don't have
		}
		dir := place(t, "x", "example.org/user", "two_layers")
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		build(t, link, []string{noWork, fresh}, "build", "./...")
	})
	t.Run("vendored", func(t *testing.T) {
		dir := place(t, "x", "example.org/user", "two_layers")
		build(t, dir, []string{noWork, fresh}, "mod", "vendor")
		build(t, dir, []string{noWork, "GOFLAGS=-mod=vendor"}, "build", "./...")
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
