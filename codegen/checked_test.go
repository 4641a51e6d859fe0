package codegen_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
)

// A model gives the same with its kernels unchecked, as they are by default, and with KGEN_GPU_CHECKS=1.
func TestCheckedAndUnchecked(t *testing.T) {
	gpu.Adapter(t) // or the test is skipped
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(path, oracle.Bytes(t, "llama-q4_1.gguf"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, exact := range []bool{true, false} {
		unchecked, ids := checkedRun(t, path, exact, "0")
		checked, same := checkedRun(t, path, exact, "1")
		if !slices.Equal(ids, same) {
			t.Errorf("exact %v: the ids are %v unchecked and %v checked", exact, ids, same)
		}
		wrong, all := 0.0, 0.0
		for i, x := range checked {
			wrong += math.Pow(float64(unchecked[i]-x), 2)
			all += float64(x) * float64(x)
		}
		if !(wrong <= 1e-12*all) {
			t.Errorf("exact %v: the logits differ by an NMSE of %g", exact, wrong/all)
		}
	}
}

// checkedRun returns the logits after a prompt, and the ids that follow it.
func checkedRun(t *testing.T, path string, exact bool, checks string) ([]float32, []uint32) {
	t.Helper()
	t.Setenv("KGEN_GPU_CHECKS", checks)
	m, err := kgen.Load(t.Context(), path, kgen.Options{Device: "native", Exact: exact, Context: 100, Burst: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e := m.Executor()
	prompt := make([]uint32, 70) // more than a tile of keys, and a page that isn't full
	for i := range prompt {
		prompt[i] = uint32(i*37+5) % uint32(e.Vocab())
	}
	if err := e.Prefill(t.Context(), 0, prompt); err != nil {
		t.Fatal(err)
	}
	logits := make([]float32, e.Vocab())
	if err := e.Logits(t.Context(), len(prompt), 3, logits); err != nil {
		t.Fatal(err)
	}
	ids, err := e.Step(t.Context(), len(prompt), 3, 100-len(prompt))
	if err != nil {
		t.Fatal(err)
	}
	return logits, ids
}
