package kgen_test

import (
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"
)

// A device rounds activations unless told otherwise or no weight has kernels for it; the evaluator never does. The logits show
// that the path is what runs.
func TestPath(t *testing.T) {
	for _, c := range []struct {
		name, model string
		opts        kgen.Options
		path        string
		limits      oracle.Limits
	}{
		{"native", "llama-q4_1", kgen.Options{Device: "native", KV: "f32"}, "fast", oracle.FastTiny},
		{"native, exact", "llama-q4_1", kgen.Options{Device: "native", Exact: true}, "exact", oracle.GPU},
		{"native, f16 weights", "llama-f16", kgen.Options{Device: "native", KV: "f32"}, "exact", oracle.GPU},
		{"cpu", "llama-q4_1", kgen.Options{Device: "cpu", KV: "f32"}, "exact", oracle.CPU},
		{"cpu, exact", "llama-q4_1", kgen.Options{Device: "cpu", Exact: true}, "exact", oracle.CPU},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.opts.Device == "native" {
				gpu.Adapter(t)
			}
			model, err := kgen.Load(t.Context(), write(t, "tiny.gguf", oracle.Bytes(t, c.model+".gguf")), c.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer model.Close()
			if model.Path() != c.path {
				t.Errorf("the path is %q, want %q", model.Path(), c.path)
			}
			figures := oracle.Load(t, c.model).CheckLogits(t, model.Executor().(oracle.Executor), c.limits)
			if c.path == "fast" && figures.NMSE < 1e-7 {
				t.Errorf("logits differ by an NMSE of %.1e: activations are not rounded", figures.NMSE)
			}
		})
	}
}
