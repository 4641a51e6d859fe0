package main

import (
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// overflowing writes the tiny model with final norm weights so large that what is multiplied with them is infinite.
func overflowing(t *testing.T) string {
	path, m := tinyModel(t)
	norm, err := m.File.Tensor("output_norm.weight")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := norm.Offset; at < norm.Offset+norm.Size; at += 4 {
		binary.LittleEndian.PutUint32(data[at:], math.Float32bits(3e38))
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// What the simulator finds goes to stderr and makes the status 1; where it finds nothing it says so.
func TestFindings(t *testing.T) {
	right, _ := tinyModel(t)
	wrong := overflowing(t)
	for verb, args := range map[string][]string{
		"run":    {"--ids", "51", "--temp", "0", "--max-tokens", "1", "--ignore-eos"},
		"chat":   {"--raw", "--prompt", "hello", "--temp", "0", "--max-tokens", "1", "--ignore-eos"},
		"logits": {"--ids", "51"},
		"score":  {"--ids", "51,7"},
	} {
		status, _, stderr := command(t, t.Context(), append([]string{verb, right, "--device", "sim", "--ctx", "64"}, args...)...)
		if status != exitDone || !strings.Contains(stderr, "the simulator found nothing wrong\n") {
			t.Errorf("%s: status %d, stderr\n%s", verb, status, stderr)
		}
		status, _, stderr = command(t, t.Context(), append([]string{verb, wrong, "--device", "sim", "--ctx", "64", "--quiet"}, args...)...)
		if status != exitFailure || !strings.Contains(stderr, ".wgsl:") || !strings.Contains(stderr, ": nan: ") ||
			!strings.Contains(stderr, "kgen: the simulator has 1 finding\n") {
			t.Errorf("%s of a model that overflows: status %d, stderr\n%s", verb, status, stderr)
		}
	}
}

// With --json they are part of what run prints.
func TestFindingsJSON(t *testing.T) {
	right, _ := tinyModel(t)
	for path, want := range map[string]int{right: exitDone, overflowing(t): exitFailure} {
		status, stdout, _ := command(t, t.Context(), "run", path, "--device", "sim", "--ctx", "64", "--subgroup", "8", "--ids", "51", "--temp", "0", "--max-tokens", "1", "--ignore-eos", "--json")
		var r struct {
			IDs      []uint32                   `json:"ids"`
			Error    struct{ Code kgenrt.Code } `json:"error"`
			Findings *[]modelFinding            `json:"findings"`
		}
		one(t, stdout, &r)
		ids, code := 1, kgenrt.Code("")
		if want == exitFailure {
			ids, code = 0, kgenrt.InvalidModel // no logit is a number, and it is told why
		}
		if status != want || len(r.IDs) != ids || r.Error.Code != code || r.Findings == nil || len(*r.Findings) > 0 != (want == exitFailure) {
			t.Fatalf("status %d, %s", status, stdout)
		}
		for _, f := range *r.Findings {
			if f.Kind != "nan" || f.Kernel == "" || !strings.HasSuffix(f.File, ".wgsl") || f.Line < 1 || f.Detail == "" || f.Count < 1 {
				t.Errorf("%+v", f)
			}
		}
	}
	if stdout := done(t, "run", right, "--device", "cpu", "--ids", "51", "--temp", "0", "--max-tokens", "1", "--ignore-eos", "--json"); strings.Contains(stdout, "findings") {
		t.Errorf("the evaluator: %s", stdout)
	}
}
