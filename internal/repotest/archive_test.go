package repotest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTrackedFilesBuild builds a copy of what git has, as the module proxy gives it to others: what is embedded or generated must be
// among it. It is built whole, then as the dependency of another module, vendored, and for a browser.
func TestTrackedFilesBuild(t *testing.T) {
	needTool(t, "git")
	dir := t.TempDir()
	kgen := filepath.Join(dir, "kgen")
	size, folded := int64(0), map[string]string{}
	for _, name := range trackedFiles(t) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		size += int64(len(data))
		if other, ok := folded[strings.ToLower(name)]; ok {
			t.Errorf("%s and %s differ by case alone, which modules can't have", other, name)
		}
		folded[strings.ToLower(name)] = name
		if !moduleFile.MatchString(name) {
			t.Errorf("%s is no name that a file of a module can have", name)
		}
		writeFile(t, filepath.Join(kgen, filepath.FromSlash(name)), string(data))
	}
	if size > 100<<20 {
		t.Errorf("the files have %d bytes together; a module may have 500 MB unpacked", size)
	}
	// With -trimpath what is compiled doesn't depend on where it lies, so that Go's cache has it the next time.
	goCommand(t, kgen, "GOFLAGS=-trimpath -mod=readonly", "build", "./...")

	user := filepath.Join(dir, "user")
	sums := readFile(t, "go.sum")
	mod := strings.Replace(readFile(t, "go.mod"), "module "+module+"\n", "module example.org/user\n", 1)
	writeFile(t, filepath.Join(user, "go.mod"), mod+"\nrequire "+module+" v0.0.0\n\nreplace "+module+" => ../kgen\n")
	writeFile(t, filepath.Join(user, "go.sum"), sums)
	writeFile(t, filepath.Join(user, "main.go"), `package main

import (
	"`+module+`/gen/smollm2_135m"

	kgenrt "`+module+`/runtime"
)

func main() {
	var variants []kgenrt.Variant = smollm2_135m.Variants()
	println(len(variants))
}
`)
	goCommand(t, user, "GOFLAGS=-trimpath -mod=mod", "build", "-o", filepath.Join(dir, "program"), ".")
	if out, err := exec.Command(filepath.Join(dir, "program")).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) == "0" {
		t.Errorf("the program that imports a generated package: %v, %s", err, out)
	}
	goCommand(t, user, "GOFLAGS=-trimpath -mod=mod", "mod", "vendor")
	goCommand(t, user, "GOFLAGS=-trimpath -mod=vendor", "build", "-o", os.DevNull, ".")
	t.Setenv("GOOS", "js")
	t.Setenv("GOARCH", "wasm")
	goCommand(t, user, "GOFLAGS=-trimpath -mod=vendor", "build", "-o", os.DevNull, ".")
}

// moduleFile are the names that every version of the go command takes in a module's files; it takes more.
var moduleFile = regexp.MustCompile(`^[A-Za-z0-9_.,@+=-]+(/[A-Za-z0-9_.,@+=-]+)*$`)

// goCommand runs the go command in a folder, without a workspace.
func goCommand(t *testing.T, dir, flags string, args ...string) {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", flags)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLineEndings clones the repository as a user on Windows does, where git writes CRLF unless told otherwise: every text has line feeds
// alone, as tests compare bytes.
func TestLineEndings(t *testing.T) {
	needTool(t, "git")
	if err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Run(); err != nil {
		t.Log("this is no git checkout")
		return
	}
	clone := filepath.Join(t.TempDir(), "clone")
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "clone", "--quiet", "--depth=1", "-c", "core.autocrlf=true", "file://"+filepath.ToSlash(top), clone).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	out, err := exec.Command("git", "-C", clone, "ls-files", "--eol").Output()
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	for line := range strings.Lines(string(out)) {
		parts := strings.Fields(line) // i/lf w/lf attr/text=auto eol=lf name
		switch parts[0] {
		case "i/-text":
			if parts[1] != "w/-text" {
				t.Errorf("a file that is no text: %s", line)
			}
		case "i/lf", "i/none":
			texts++
			if parts[1] != strings.Replace(parts[0], "i/", "w/", 1) {
				t.Errorf("git rewrites line ends: %s", line)
			}
		default:
			t.Errorf("git has line ends other than line feeds: %s", line)
		}
	}
	if texts < 100 {
		t.Errorf("%d texts", texts)
	}
}
