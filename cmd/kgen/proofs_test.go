package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A kernel of a package that was edited loses its proof, and those that relied on it lose theirs: it is said where and why, and the
// status is 1 as the package claims more.
func TestInspectEditedPackage(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../codegen/golang/testdata/two_layers")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "kernels", "advance_*.wgsl"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(text), "min(written, 255u)", "written", 1)
	if err := os.WriteFile(files[0], []byte(edited), 0o644); err != nil || edited == string(text) {
		t.Fatal(err, edited)
	}
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), []string{"inspect", dir}, strings.NewReader(""), &stdout, &stderr)
	for _, want := range []string{
		"the package claims that it is proved, and it is not\n  not proved: advance_b95c8ba0.wgsl:7:21: params[params[6u] + written]: " +
			"the index may be 0 to 4294967295, and there are 266 elements\n",
		"nothing is known of the params block, as advance_b95c8ba0 may break it: advance_b95c8ba0.wgsl:8:9: params[0u]: the value may be",
		"kernels/advance_b95c8ba0.wgsl is not as it was generated\n15 of 19 kernels proved\n",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
	if status != exitFailure || stderr.Len() > 0 {
		t.Errorf("status %d, stderr %q", status, stderr.String())
	}
	stdout.Reset()
	status = run(t.Context(), []string{"inspect", dir, "--json"}, strings.NewReader(""), &stdout, &stderr)
	var r packageProofs
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || status != exitFailure {
		t.Fatal(err, status)
	}
	for _, k := range r.Kernels {
		if k.Name != "advance_b95c8ba0" {
			continue
		}
		want := unprovedAccess{
			"advance_b95c8ba0.wgsl:7:21", "params[params[6u] + written]", 0, 1<<32 - 1, 266, "the index may be 0 to 4294967295, and there are 266 elements",
		}
		if k.Proved || !k.Claimed || len(k.Unproved) != 1 || k.Unproved[0] != want || len(k.Variants) != 2 {
			t.Errorf("%+v", k)
		}
	}
}
