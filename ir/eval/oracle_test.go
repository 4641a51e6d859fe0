package eval_test

import (
	"errors"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/quant"
)

// machine builds the model's graph and an evaluator for it.
func machine(t testing.TB, m *oracle.Model, options models.Options, context int) *eval.Machine {
	t.Helper()
	h, err := models.FromGGUF(m.File)
	var unknown *models.ArchitectureError
	if errors.As(err, &unknown) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := models.Build(h, options)
	if err != nil {
		t.Fatal(err)
	}
	e, err := eval.New(g, m.File, context)
	var unsupported *quant.UnsupportedError
	if errors.As(err, &unsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// paths are the two ways to store keys and values.
var paths = []struct {
	name   string
	kv     ir.Elem
	limits oracle.Limits
}{
	{"f32", ir.F32, oracle.CPU},
	{"f16", ir.F16, oracle.KVF16},
}

func TestTinyModels(t *testing.T) {
	for _, name := range oracle.Tiny() {
		for _, path := range paths {
			t.Run(name+"/"+path.name, func(t *testing.T) {
				m := oracle.Load(t, name)
				m.Check(t, machine(t, m, models.Options{AllLogits: true, KV: path.kv}, 128), path.limits)
			})
		}
	}
}

// TestSmolLM2 takes most of this package's time, so the f16 cache gets only the prompts that say something about it
// within a second or two each.
func TestSmolLM2(t *testing.T) {
	m := oracle.LoadSmolLM2(t)
	t.Run("f32", func(t *testing.T) {
		m.Check(t, machine(t, m, models.Options{AllLogits: true}, 1024), oracle.CPU)
	})
	t.Run("f16", func(t *testing.T) {
		part := m.Only("capital", "count", "chat_gravity")
		part.Check(t, machine(t, m, models.Options{AllLogits: true, KV: ir.F16}, 1024), oracle.KVF16)
	})
}
