package main

import (
	"bytes"
	"context"
	"errors"
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
	if status != exitFailure || !strings.HasSuffix(stderr.String(), "kgen: interrupted\n") {
		t.Errorf("status %d, stderr %q", status, stderr.String())
	}
	if stdout.writes > 2 {
		t.Errorf("%d pieces were written after the interrupt", stdout.writes-1)
	}
}

// Output that can't be written is a failure, not wrong usage.
func TestFullDisk(t *testing.T) {
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(model, oracle.Bytes(t, "llama-q4_1.gguf"), 0o644); err != nil {
		t.Fatal(err)
	}
	generation := []string{"--device", "cpu", "--temp", "0", "--ignore-eos", "--max-tokens", "2"}
	for _, args := range [][]string{
		{"models"},
		{"diff", "--gguf", model, "--out", filepath.Join(t.TempDir(), "tiny")}, // longer than what is kept before it is written
		append([]string{"run", model, "--ids", "1,2,3"}, generation...),
		append([]string{"chat", model, "--raw", "--prompt", "hello"}, generation...),
	} {
		var stderr bytes.Buffer
		if status := run(t.Context(), args, strings.NewReader(""), full{}, &stderr); status != exitFailure || !strings.Contains(stderr.String(), "disk is full") {
			t.Errorf("kgen %s: status %d, stderr %q", args[0], status, stderr.String())
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// On a terminal, which shows both streams, what is said of an answer begins a line.
func TestStatsFollowTheText(t *testing.T) {
	model := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(model, oracle.Bytes(t, "llama-q4_1.gguf"), 0o644); err != nil {
		t.Fatal(err)
	}
	var both bytes.Buffer
	args := []string{"run", model, "--device", "cpu", "--ids", "1,2,3", "--temp", "0", "--ignore-eos", "--max-tokens", "2"}
	if status := run(t.Context(), args, strings.NewReader(""), &both, &both); status != exitDone || !strings.Contains(both.String(), "\nlength on ") {
		t.Errorf("status %d, %q", status, both.String())
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
