package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// root is the top folder of the repository, from this package's.
const root = "../.."

// goFile is one parsed file of the module.
type goFile struct {
	name    string // slash-separated, from the root
	pkg     string // the folder, "." for the root
	test    bool
	imports []string
	syntax  *ast.File
}

// goFiles parses every Go file of the module whatever its build constraints, so that what holds for them holds for
// every platform and tag. testdata folders and those starting with a dot or underscore are left out, as go does.
func goFiles(t *testing.T, mode parser.Mode) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name != root && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		file, err := parseFile(name, mode)
		files = append(files, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func parseFile(name string, mode parser.Mode) (goFile, error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, mode)
	if err != nil {
		return goFile{}, err
	}
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return goFile{}, err
	}
	slashed := filepath.ToSlash(relative)
	file := goFile{name: slashed, pkg: path.Dir(slashed), test: strings.HasSuffix(slashed, "_test.go"), syntax: syntax}
	for _, spec := range syntax.Imports {
		file.imports = append(file.imports, strings.Trim(spec.Path.Value, `"`))
	}
	return file, nil
}

// trackedFiles lists what git has, from the root; outside a git checkout, every file there is.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = root
	if out, err := list.Output(); err == nil {
		return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	}
	var names []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if entry.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && !entry.IsDir() {
			relative, _ := filepath.Rel(root, name)
			names = append(names, filepath.ToSlash(relative))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// readFile returns the text of a file of the repository.
func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// needTool skips a test that runs a program this machine lacks; KGEN_REQUIRE=1 makes that a failure.
func needTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("KGEN_REQUIRE") == "1" {
		t.Fatalf("%s is missing, and `make setup` needs it", name)
	}
	t.Skipf("%s is missing, and `make setup` needs it", name)
}
