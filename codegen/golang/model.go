package golang

import (
	"strings"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/schedules"
)

// defaultContext is the longest context that a package is made for without asking: its caches are allocated whole.
const defaultContext = 8192

// ForModel returns the spec of a package for a model: for each profile, variants with exact and with fast activations, each
// with a cache of f16 and one of f32. About says in a line which model it is and what its file stores. The context is the
// model's or 8192 positions, whichever is less. Name and Command may be changed before Compile.
func ForModel(model, about string, h models.Hyperparameters, profiles []schedules.Profile) Spec {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.Name
	}
	return Spec{
		Name: PackageName(model), Model: model,
		About:   []string{about + ":", h.Shape() + "."},
		Command: "kgen gen --model " + model + " --profile " + strings.Join(names, ","),
		Context: min(h.Context, defaultContext),
		Graph:   func(kv ir.Elem) (*ir.Graph, error) { return models.Build(h, models.Options{KV: kv}) },
		Targets: Targets(profiles, []bool{false, true}, []ir.Elem{ir.F16, ir.F32}),
	}
}

// PackageName makes a name of a package from the name of a model: smollm2_135m of smollm2-135m.
func PackageName(model string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '_'
	}, model)
	if name = strings.Trim(name, "_"); name == "" || isDigit(name[0]) {
		name = "model_" + name
	}
	return name
}
