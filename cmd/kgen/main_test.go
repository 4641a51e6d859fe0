package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kgen-wgsl/kgen/internal/oracle"
)

var update = flag.Bool("update", false, "rewrite the texts that scripts compare with")

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "vet-library" {
		main() // as a child process of vet
	}
	testscript.Main(m, map[string]func(){"kgen": main})
}

// TestScripts runs the command as a user would. Scripts find tiny.gguf, the oracle's smallest model, and bad, a folder of
// files that no reader should accept; $ADAPTER is 1 where there is a WebGPU adapter; $BIN holds the command alone.
func TestScripts(t *testing.T) {
	model := oracle.Bytes(t, "llama-q4_1.gguf")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("BIN", filepath.SplitList(os.Getenv("PATH"))[0]) // of the command itself
			if err := os.WriteFile(filepath.Join(e.WorkDir, "tiny.gguf"), model, 0o644); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(e.WorkDir, "f16.gguf"), oracle.Bytes(t, "llama-f16.gguf"), 0o644); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "cut.gguf"), model[:len(model)/2], 0o644)
		},
	})
}

// A context that ends while the model runs stops it: status 1, and what was generated stays in the JSON.
func TestInterrupt(t *testing.T) {
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(model, oracle.Bytes(t, "llama-q4_1.gguf"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var stderr bytes.Buffer
	stdout := &stopAfter{lines: 0, stop: cancel}
	status := run(ctx, []string{"run", model, "--device", "cpu", "--ids", "1,2,3", "--temp", "0", "--ignore-eos"}, strings.NewReader(""), stdout, &stderr)
	if status != exitFailure || !strings.Contains(stderr.String(), "context canceled") {
		t.Errorf("status %d, stderr %q", status, stderr.String())
	}
	if stdout.writes > 2 {
		t.Errorf("%d pieces were written after the interrupt", stdout.writes-1)
	}
}

// stopAfter cancels at the first write and counts all.
type stopAfter struct {
	lines, writes int
	stop          func()
}

func (s *stopAfter) Write(p []byte) (int, error) {
	s.writes++
	s.stop()
	return len(p), nil
}
