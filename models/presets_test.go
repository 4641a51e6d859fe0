package models_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/gguf"
)

// The preset of SmolLM2 says what the header of the real file says, tensor for tensor.
func TestPresetIsTheFile(t *testing.T) {
	f, err := gguf.Open(oracle.Find(t, oracle.SmolLM2))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := models.FromGGUF(f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := models.LookupPreset("smollm2-135m")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got.Hyperparameters); d != "" {
		t.Errorf("preset (-file +preset):\n%s", d)
	}
}

// Presets build graphs, so their tensors are complete and have the right shapes.
func TestPresetsBuild(t *testing.T) {
	parameters := map[string]float64{"smollm2-135m": 135e6, "qwen3-0.6b": 0.6e9, "qwen3-8b": 8.2e9, "qwen3-1.7b": 1.72e9, "qwen3-4b": 4.02e9,
		"qwen2.5-0.5b": 0.494e9, "qwen2.5-1.5b": 1.54e9, "qwen2.5-7b": 7.62e9}
	for _, p := range models.Presets() {
		g, err := models.Build(p.Hyperparameters, models.Options{KV: ir.F16})
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if err := ir.Verify(g); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		var n float64
		for _, tensor := range p.Tensors {
			size := 1.0
			for _, d := range tensor.Shape {
				size *= float64(d)
			}
			n += size
		}
		// The names of the models round the numbers of their parameters.
		if want := parameters[p.Name]; n < 0.99*want || n > 1.01*want {
			t.Errorf("%s has %.0f parameters, want about %.0f", p.Name, n, want)
		}
	}
	var unknown *models.UnknownPresetError
	if _, err := models.LookupPreset("gpt-2"); !errors.As(err, &unknown) || len(unknown.Known) != len(parameters) {
		t.Errorf("an unknown preset: %v", err)
	}
}
