package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/testtext"
)

var (
	docFence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")
	docName  = regexp.MustCompile(`^// (\w+\.wgsl)\n`)
)

// docBlocks are the fenced blocks of docs/simulator.md.
func docBlocks(t *testing.T, path string) (text string, blocks [][]string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), docFence.FindAllStringSubmatch(string(data), -1)
}

// Every command of docs/simulator.md prints what the page says. The kernels of the page are files of the names in their first lines.
func TestSimulatorDocument(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the page's commands are those of a shell, and there is none")
	}
	page := filepath.Join("..", "..", "docs", "simulator.md")
	text, blocks := docBlocks(t, page)
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "examples", "kernels"), os.DirFS(filepath.Join("..", "..", "examples", "kernels"))); err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, block := range blocks {
		if name := docName.FindStringSubmatch(block[2]); block[1] == "wgsl" && name != nil {
			if err := os.WriteFile(filepath.Join(dir, name[1]), []byte(block[2]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	now := docFence.ReplaceAllStringFunc(text, func(block string) string {
		parts := docFence.FindStringSubmatch(block)
		if parts[1] != "console" {
			return block
		}
		var out strings.Builder
		for line := range strings.Lines(parts[2]) {
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			commands++
			cmd := exec.Command(shell, "-c", command)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "NO_COLOR=1")
			printed, err := cmd.CombinedOutput() // the command itself is this test, see TestMain
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			out.WriteString(line + string(printed))
		}
		return "```console\n" + out.String() + "```"
	})
	if *update {
		if err := os.WriteFile(page, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if now != text {
		t.Errorf("%s differs from what is printed now: %s", page, testtext.Difference(text, now))
	}
	if commands < 14 {
		t.Errorf("the page has %d commands", commands)
	}
}

// The Go code of the page is an example of the package, which is compiled and run.
func TestSimulatorDocumentGo(t *testing.T) {
	_, blocks := docBlocks(t, filepath.Join("..", "..", "docs", "simulator.md"))
	example, err := os.ReadFile(filepath.Join("..", "..", "codegen", "sim", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	snippets := 0
	for _, block := range blocks {
		if block[1] != "go" {
			continue
		}
		if snippets++; !strings.Contains(string(example), block[2]) {
			t.Errorf("codegen/sim/example_test.go has not\n%s", block[2])
		}
	}
	if snippets == 0 {
		t.Error("the page has no Go")
	}
}
