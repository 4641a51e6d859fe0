package repotest

import (
	"go/parser"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// slimPackages run in a browser, so they do without what makes a js/wasm binary large or can't work there.
var slimPackages = []string{"runtime", "runtime/plan", "models/tokenizer", "gen/..."}

var heavyPackages = []string{"encoding/binary", "encoding/json", "fmt", "net/http", "os/exec", "reflect"}

func TestSlimPackages(t *testing.T) {
	for _, pkg := range slimPackages {
		t.Run(pkg, func(t *testing.T) {
			for _, dependency := range jsDependencies(t, pkg) {
				if slices.Contains(heavyPackages, dependency) {
					t.Errorf("for GOOS=js, %s depends on %s", pkg, dependency)
				}
			}
		})
	}
}

// jsDependencies lists all that a package of the module pulls in when built for the browser. A folder that holds no Go
// files yet has none.
func jsDependencies(t *testing.T, pkg string) []string {
	t.Helper()
	exists := slices.ContainsFunc(goFiles(t, parser.PackageClauseOnly), func(file goFile) bool { return matches(pkg, file.pkg) })
	if !exists {
		return nil
	}
	command := exec.Command("go", "list", "-deps", "./"+pkg)
	command.Dir = root
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return strings.Fields(string(out))
}
