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
	e, err := build(m, options, context)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func build(m *oracle.Model, options models.Options, context int) (*eval.Machine, error) {
	h, err := models.FromGGUF(m.File)
	if err != nil {
		return nil, err
	}
	g, err := models.Build(h, options)
	if err != nil {
		return nil, err
	}
	return eval.New(g, m.File, context)
}

// unsupported reports whether the error says that an architecture or a type of weights is not known yet.
func unsupported(err error) bool {
	var architecture *models.ArchitectureError
	var elem *quant.UnsupportedError
	return errors.As(err, &architecture) || errors.As(err, &elem)
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
				e, err := build(m, models.Options{AllLogits: true, KV: path.kv}, 128)
				switch {
				case err == nil:
					m.Check(t, e, path.limits)
				case m.Added && unsupported(err):
					t.Log("not compared: ", err)
				default:
					t.Fatal(err)
				}
			})
		}
	}
}

// TestSmolLM2 takes most of this package's time, about two minutes of one core. With -short, fewer prompts are put to
// the f16 cache and the text is left out.
func TestSmolLM2(t *testing.T) {
	m := oracle.LoadSmolLM2(t)
	full, half := m, *m
	half.Text = nil // the limits of the text are those of an f32 cache
	if testing.Short() {
		full, half = m.Only("one_token", "capital", "count", "chat_gravity"), *m.Only("capital")
	}
	t.Run("f32", func(t *testing.T) {
		full.Check(t, machine(t, m, models.Options{AllLogits: true}, 1024), oracle.CPU)
	})
	t.Run("f16", func(t *testing.T) {
		half.Check(t, machine(t, m, models.Options{AllLogits: true, KV: ir.F16}, 1024), oracle.KVF16)
	})
}
