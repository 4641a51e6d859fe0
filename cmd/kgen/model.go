package main

import (
	"context"

	"github.com/kgen-wgsl/kgen"
)

// deviceFlags choose what a model runs on.
type deviceFlags struct {
	flags
	Model   string `arg:"" help:"A GGUF file."`
	Device  string `default:"auto" enum:"auto,native,cpu,sim" help:"Where to run: auto, native, cpu or sim."`
	Adapter string `placeholder:"TEXT" help:"Take the adapter with this index or with this in its name (KGEN_ADAPTER)."`
	Profile string `placeholder:"NAME" help:"Make kernels for this device profile; the default is what fits the device best."`
	Ctx     int    `placeholder:"N" help:"Positions that fit: at most the model's. The default is the model's or 8192, whichever is less."`
	KV      string `name:"kv" placeholder:"TYPE" help:"How the KV cache stores values: f32 or f16. The default is f16, f32 with --exact."`
	Exact   bool   `help:"Keep activations in f32."`
}

// load applies the flags and loads the model.
func (f *deviceFlags) load(ctx context.Context, t *terminal, trace bool) (*kgen.Model, error) {
	f.apply(t)
	return kgen.Load(ctx, f.Model, f.options(t, trace))
}

func (f *deviceFlags) options(t *terminal, trace bool) kgen.Options {
	return kgen.Options{
		Device: f.Device, Adapter: f.Adapter, Profile: f.Profile, Context: f.Ctx, KV: f.KV, Exact: f.Exact,
		Trace: trace, Progress: t.progress(), Log: func(message string) { t.note("%s", message) },
	}
}
