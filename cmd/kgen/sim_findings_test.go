package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A place that races within a workgroup and between two is two findings: what mends one doesn't mend the other.
func TestTwoRacesOfAPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.wgsl")
	const kernel = "@group(0) @binding(0) var<storage, read_write> y: array<u32, 1>;\n@compute @workgroup_size(2) fn main() { y[0] = 1u; }\n"
	if err := os.WriteFile(path, []byte(kernel), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	run(t.Context(), []string{"sim", path, "--grid", "2", "--subgroup", "all"}, strings.NewReader(""), &stdout, &stderr)
	for _, want := range []string{"no barrier between", "two workgroups touch it", "\n2 findings\n"} {
		if strings.Count(stdout.String(), want) != 1 {
			t.Errorf("not one %q in:\n%s", want, &stdout)
		}
	}
}
