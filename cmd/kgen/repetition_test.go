package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/oracle"
)

// An answer that starts with one token over and over is warned of on stderr, whatever goes to stdout.
func TestRepetition(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"qwen2-f16.gguf", "llama-q4_1.gguf"} {
		if err := os.WriteFile(filepath.Join(dir, name), oracle.Bytes(t, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// The tiny models have random weights: after token 51 one of them says 32 for ever.
	const warning = "warning: the first 8 tokens are all 32: the prompt may not suit the model\n"
	for _, c := range []struct {
		args string
		want bool
	}{
		{"qwen2-f16.gguf --ids 51 --temp 0 --max-tokens 8", true},
		{"qwen2-f16.gguf --ids 51 --temp 0 --max-tokens 8 --json", true},
		{"qwen2-f16.gguf --ids 51 --temp 0 --max-tokens 8 --quiet", false},
		{"qwen2-f16.gguf --ids 51 --temp 0 --max-tokens 7", false},
		{"qwen2-f16.gguf --ids 51 --temp 1e-9 --seed 1 --max-tokens 8", false}, // not greedy
		{"llama-q4_1.gguf --ids 51 --temp 0 --max-tokens 8", false},
	} {
		args := append([]string{"run"}, strings.Fields(c.args)...)
		args[1] = filepath.Join(dir, args[1])
		status, stdout, stderr := command(t, t.Context(), append(args, "--device", "cpu", "--ignore-eos")...)
		if status != exitDone || strings.Contains(stderr, warning) != c.want || strings.Contains(stdout, "warning") {
			t.Errorf("%s: status %d, stderr\n%s", c.args, status, stderr)
		}
	}
}

func TestRepetitionNamesTheDevice(t *testing.T) {
	for _, c := range []struct {
		ids  []uint32
		kind string
		want string
	}{
		{[]uint32{0, 0, 0, 0, 0, 0, 0, 0, 9}, "gpu", "warning: the first 8 tokens are all 0: the device may compute wrong; compare with --device cpu\n"},
		{[]uint32{5, 0, 0, 0, 0, 0, 0, 0, 0}, "gpu", ""},
		{[]uint32{0, 0, 0, 0, 0, 0, 0, 5}, "gpu", ""},
		{nil, "gpu", ""},
	} {
		var stderr bytes.Buffer
		warnOfRepetition(&terminal{stderr: &stderr, noColor: true}, c.ids, c.kind)
		if stderr.String() != c.want {
			t.Errorf("%v on %s: %q", c.ids, c.kind, stderr.String())
		}
	}
}
