package kgenrt

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Variant is one of the plans that a generated package holds for its model.
type Variant struct {
	Name        string // portable_exact_f16
	Model       string
	Graph       string // the hash of the graph that it was compiled from
	Profile     string // the device profile that its kernels were made for
	Activations Activations
	KV          string // how the cache stores keys and values: f32 or f16
	Context     int    // positions that the cache holds
	Requires    plan.Requires
	Build       func(*plan.Builder) // makes the calls that the plan consists of
}

// Activations says in what numbers a variant computes.
type Activations string

// The two contracts.
const (
	Exact Activations = "exact" // activations stay f32
	Fast  Activations = "fast"  // products with quantised weights take activations of 8 bits
)

// Plan builds the variant's plan. An error is a mistake of whoever generated the package.
func (v *Variant) Plan() (*plan.Plan, error) {
	if v.Build == nil {
		return nil, newError(BadRequest, "variant "+v.Name+" has nothing that builds its plan", nil)
	}
	b := plan.NewBuilder(v.Model, v.Profile, v.Requires)
	v.Build(b)
	return b.Plan()
}

// Wish says which variants will do. Empty fields leave the choice open.
type Wish struct {
	Profile     string
	Activations Activations
	KV          string
}

// Choice is the variant that was chosen, and why: a line for each that was passed over, then one for the chosen.
type Choice struct {
	Variant Variant
	Why     []string
}

// Choose returns the variant that serves a wish best on a device. It looks at its arguments alone, so the same ones give the
// same choice.
//
// What was wished for and what the variant requires of the device decide first. Among the rest, fast goes before exact, then a
// cache of f16 before f32, but f32 first where exact was wished for. On a GPU, variants with subgroups then go first; on
// software adapters, where one row per thread is faster, those without. The order of variants decides last.
//
// The error is an *Error: BadRequest when no variant is as wished, LimitExceeded when the device can run none of those.
func Choose(variants []Variant, d plan.Device, wish Wish) (Choice, error) {
	var wished, fit []Variant
	var why []string
	var refusal error
	for _, v := range variants {
		if !wish.allows(&v) {
			continue
		}
		wished = append(wished, v)
		if err := v.Requires.Check(d); err != nil {
			why = append(why, "variant "+v.Name+" is passed over: "+err.Error())
			refusal = cmp.Or(refusal, err)
			continue
		}
		fit = append(fit, v)
	}
	switch {
	case len(wished) == 0:
		return Choice{}, newError(BadRequest, "no variant is as asked for; there are "+variantNames(variants), nil)
	case len(fit) == 0:
		return Choice{Why: why}, newError(LimitExceeded, "the device can run none of "+variantNames(wished), refusal)
	}
	rank := func(v *Variant) int { return wish.rank(v, d.Kind == "gpu") }
	slices.SortStableFunc(fit, func(a, b Variant) int { return cmp.Compare(rank(&a), rank(&b)) })
	why = append(why, "variant "+fit[0].Name+" for "+d.Name)
	return Choice{fit[0], why}, nil
}

func (w Wish) allows(v *Variant) bool {
	return (w.Profile == "" || w.Profile == v.Profile) &&
		(w.Activations == "" || w.Activations == v.Activations) &&
		(w.KV == "" || w.KV == v.KV)
}

// rank is lower for what is chosen first.
func (w Wish) rank(v *Variant, gpu bool) int {
	kv := "f16"
	if w.Activations == Exact {
		kv = "f32"
	}
	rank := 0
	for _, last := range []bool{v.Activations == Exact, v.KV != kv, v.Requires.Subgroups != gpu} {
		rank *= 2
		if last {
			rank++
		}
	}
	return rank
}

func variantNames(variants []Variant) string {
	var names []string
	for _, v := range variants {
		names = append(names, v.Name)
	}
	return strings.Join(names, ", ")
}

// LoadOptions chooses a variant and how it runs.
type LoadOptions struct {
	EngineOptions
	Wish
	// Log gets a line about each variant that was looked at; nil for none.
	Log func(message string)
}

// LoadVariant chooses among the variants of a package for the backend's device and loads the weights. It is what the
// function Load of generated packages calls. A backend that was opened for one variant's requirements can run that variant
// and those that ask for less: Choose comes before the opening.
func LoadVariant(ctx context.Context, variants []Variant, b plan.Backend, weights WeightSource, opts LoadOptions) (*Engine, error) {
	choice, err := Choose(variants, b.Device(), opts.Wish)
	if opts.Log != nil {
		for _, line := range choice.Why {
			opts.Log(line)
		}
	}
	if err != nil {
		return nil, err
	}
	p, err := choice.Variant.Plan()
	if err != nil {
		return nil, Wrap("build the plan of variant "+choice.Variant.Name, err)
	}
	return NewEngine(ctx, p, b, weights, opts.EngineOptions)
}
