package kgen

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// generated chooses among the variants of a generated package for a device with what was measured on it, and builds the plan.
// It refuses a file that the package was not made for.
func (m *Model) generated(opts *Options, d plan.Device) (*plan.Plan, error) {
	if opts.Trace {
		return nil, badRequest("variants of a generated package keep no residual stream to trace")
	}
	wish := kgenrt.Wish{Profile: opts.Profile, KV: opts.KV}
	if opts.Exact {
		wish.Activations = kgenrt.Exact
	}
	if d.Kind == simKind {
		d.Kind = "gpu" // which it stands for: what is right with subgroups is what GPUs run
	}
	choice, err := kgenrt.Choose(opts.Variants, d, wish)
	for _, line := range choice.Why {
		opts.Log(line)
	}
	if err != nil {
		return nil, asError("choose a variant", err)
	}
	v := choice.Variant
	if opts.Context > v.Context {
		return nil, badRequest("context %d is longer than that of variant %s, %d", opts.Context, v.Name, v.Context)
	}
	if m.kv, err = ChooseKV(v.KV, opts.Exact); err != nil {
		return nil, err
	}
	if err := m.checkModel(&v); err != nil {
		return nil, err
	}
	if m.context = opts.Context; m.context == 0 {
		m.context = v.Context
	}
	m.path = string(v.Activations)
	p, err := v.Plan()
	if err != nil {
		return nil, asError("build the plan of variant "+v.Name, err)
	}
	keepProofs(p, opts.Log)
	return p, nil
}

// checkModel refuses a file whose graph is not the one that a variant was compiled from: tensor types, shapes, constants.
func (m *Model) checkModel(v *kgenrt.Variant) error {
	g, err := m.file.Graph(m.kv, false)
	if err != nil {
		return err
	}
	if v.Graph != ir.Hash(g) {
		return &Error{
			Code: kgenrt.UnsupportedModel,
			Message: fmt.Sprintf("the generated package was made for another model, or by another version of kgen: it is for %s, the file holds %s; "+
				"make a package for the file with kgen gen --gguf", v.Model, m.file.Hyperparameters.Name),
		}
	}
	return nil
}
