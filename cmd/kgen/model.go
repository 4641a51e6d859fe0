package main

import (
	"context"
	"fmt"

	"github.com/kgen-wgsl/kgen"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// deviceFlags choose what a model runs on.
type deviceFlags struct {
	flags
	Model    string `arg:"" help:"A GGUF file."`
	Device   string `default:"auto" enum:"auto,native,cpu,sim" help:"Where to run: auto, native, cpu, or sim, which judges each kernel as it runs it, slowly."`
	Adapter  string `placeholder:"TEXT" help:"Take the adapter with this index or with this in its name (KGEN_ADAPTER)."`
	Profile  string `placeholder:"NAME" help:"Make kernels for this device profile; the default is what fits the device best, and subgroups with --device sim. There are ${profiles}."`
	Subgroup int    `placeholder:"N" help:"Invocations in a subgroup with --device sim: 4, 8, 16, 32, 64 or 128. The default is 32."`
	Ctx      int    `placeholder:"N" help:"Positions that fit: at most the model's. The default is the model's or 8192, whichever is less."`
	KV       string `name:"kv" placeholder:"TYPE" help:"How the KV cache stores values: f32 or f16. The default is f16, f32 with --exact."`
	Exact    bool   `help:"Keep activations in f32; without it products with quantised weights round them to 8 bits."`
}

// load applies the flags, opens the file, lets check look at it, and loads the model: what check refuses costs no device.
// Closing the model closes the file.
func (f *deviceFlags) load(ctx context.Context, t *terminal, opts kgen.Options, check func(*kgen.File) error) (*kgen.Model, error) {
	f.apply(t)
	file, err := kgen.OpenFile(f.Model)
	if err != nil {
		return nil, err
	}
	if err = check(file); err == nil {
		var m *kgen.Model
		if m, err = file.Load(ctx, f.options(t, opts)); err == nil {
			return m, nil
		}
	}
	file.Close()
	return nil, err
}

// checkIDs refuses ids outside the vocabulary, and more of them than the context holds; fed of them take a position.
func (f *deviceFlags) checkIDs(file *kgen.File, ids []uint32, fed int) error {
	vocab := file.Hyperparameters.Vocab
	for _, id := range ids {
		if int64(id) >= int64(vocab) {
			return &kgenrt.Error{Code: kgenrt.BadRequest, Message: fmt.Sprintf("token id %d is not below the vocabulary size, %d", id, vocab)}
		}
	}
	context, err := file.ChooseContext(f.Ctx)
	if err == nil && fed > context {
		err = &kgenrt.Error{Code: kgenrt.ContextFull, Message: fmt.Sprintf("%d tokens do not fit the context of %d", fed, context)}
	}
	return err
}

// options adds what the flags say to the options that a verb chose itself.
func (f *deviceFlags) options(t *terminal, opts kgen.Options) kgen.Options {
	opts.Device, opts.Adapter, opts.Profile = f.Device, f.Adapter, f.Profile
	opts.SubgroupSize, opts.Context, opts.KV, opts.Exact = f.Subgroup, f.Ctx, f.KV, f.Exact
	opts.Progress, opts.Log = t.progress(), func(message string) { t.note("%s", message) }
	return opts
}
