package repotest

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestNoGPUBuildIsStatic builds the command without a GPU for Linux: it must ask for no loader and no library, so that it
// runs in an empty container.
func TestNoGPUBuildIsStatic(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "kgen")
	build := exec.Command("go", "build", "-tags", "nogpu", "-o", binary, "./cmd/kgen")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("the binary names a program interpreter")
	}
	libraries, err := file.ImportedLibraries()
	if err == nil && len(libraries) > 0 {
		t.Errorf("the binary needs %v", libraries)
	}
}
