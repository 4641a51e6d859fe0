package kgen

import (
	"context"
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// Options says how to load a model. The zero value takes the best device there is and the model's own limits.
type Options struct {
	// Device is auto, native, cpu or sim; empty means auto: a hardware adapter, else a software one, else the evaluator. With sim,
	// kernels run in a simulator that judges them: see Model.Findings.
	Device string
	// Adapter selects an adapter by index or by part of its name.
	Adapter string
	// Library is the file of a WebGPU library; empty means to search.
	Library string
	// Profile names the device profile that kernels are made for; empty means the one that fits the device best.
	Profile string
	// SubgroupSize is how many invocations form a subgroup in the simulator: 4, 8, 16, 32, 64 or 128, and 0 for 32. Other devices
	// have a size of their own.
	SubgroupSize int
	// Context is the number of positions that fit; 0 means the model's, 8192, or what the device's limits allow, whichever
	// is least.
	Context int
	// KV is how the cache stores keys and values, f32 or f16; empty means f16, or f32 with Exact.
	KV string
	// Exact keeps activations in f32. Without it, a WebGPU device rounds them to 8 bits where it multiplies Q8_0, Q4_0 or Q4_1
	// weights with them; the evaluator never does. Model.Path says what came of it.
	Exact bool
	// Burst is the largest number of tokens in one submit, 0 for what suits the device. Greedy tokens come in groups of as
	// many, and cancellation takes effect between them.
	Burst int
	// Variants are those of a package that kgen generated for the model: one of them runs, and nothing is compiled. The file must
	// hold the model that the package was made for. The evaluator has no use for them.
	Variants []kgenrt.Variant
	// Trace keeps the residual stream readable, for comparisons layer by layer.
	Trace bool
	// Progress is called while the model loads, and while a prompt is fed that takes several submits; nil for none.
	Progress func(kgenrt.Progress)
	// Log gets a line about each choice that was made; nil for none.
	Log func(message string)
}

// defaultContext is the longest context that a model gets without asking: the KV cache is allocated whole.
const defaultContext = 8192

// Model is a loaded model. It runs one sequence and is not safe for concurrent use.
type Model struct {
	file    *File
	owns    bool // closing the model closes the file
	closed  bool
	exec    kgenrt.Executor
	device  plan.Device
	backend plan.Backend // nil on the evaluator
	context int
	kv      ir.Elem
	path    string
	burst   int
	session *Session
}

// Load opens a GGUF file and loads it as File.Load does. Closing the model closes the file.
func Load(ctx context.Context, path string, opts Options) (*Model, error) {
	file, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	m, err := file.Load(ctx, opts)
	if err != nil {
		file.Close()
		return nil, err
	}
	m.owns = true
	return m, nil
}

// Load chooses a device, compiles the file's model for it and loads the weights. The file may be closed before the model: its
// bytes stay mapped until every model of it is closed. Errors have a code, see Error.
func (f *File) Load(ctx context.Context, opts Options) (*Model, error) {
	if opts.Progress == nil {
		opts.Progress = func(kgenrt.Progress) {}
	}
	if opts.Log == nil {
		opts.Log = func(string) {}
	}
	for _, warning := range f.Warnings() {
		opts.Log("warning: " + warning)
	}
	m := &Model{file: f}
	var err error
	switch {
	case f.closed:
		return nil, &Error{Code: kgenrt.NoModel, Message: "the model file was closed"}
	case ctx.Err() != nil:
		return nil, asError("load the model", ctx.Err())
	case opts.Burst < 0:
		return nil, badRequest("a burst of %d tokens is below 0", opts.Burst)
	}
	if m.kv, err = ChooseKV(opts.KV, opts.Exact); err != nil {
		return nil, err
	}
	if m.context, err = f.ChooseContext(opts.Context); err != nil {
		return nil, err
	}
	target, err := chooseDevice(ctx, &opts)
	if err != nil {
		return nil, err
	}
	if target == nil {
		err = m.loadEvaluator(&opts)
	} else {
		err = m.loadNative(ctx, &opts, target)
	}
	if err != nil && m.backend != nil {
		m.backend.Close()
	}
	if err != nil {
		return nil, err
	}
	f.users++
	opts.Log(fmt.Sprintf("context: %d positions, KV cache %v, path %s", m.context, m.kv, m.path))
	return m, nil
}

// ChooseKV returns the element type of the KV cache for what was asked: f32 or f16; nothing asks for f16, or with exact for f32.
func ChooseKV(asked string, exact bool) (ir.Elem, error) {
	switch {
	case asked == "f32", asked == "" && exact:
		return ir.F32, nil
	case asked == "f16", asked == "":
		return ir.F16, nil
	}
	return 0, badRequest("the KV cache can be f32 or f16, not %q", asked)
}

// ChooseContext returns the number of positions that a model gets for what was asked: 0 asks for the model's or 8192,
// whichever is less.
func (f *File) ChooseContext(asked int) (int, error) {
	limit := f.Hyperparameters.Context
	switch {
	case asked < 0:
		return 0, badRequest("context %d is below 0", asked)
	case asked > limit:
		return 0, badRequest("context %d is longer than the model's, %d", asked, limit)
	case asked == 0:
		return min(limit, defaultContext), nil
	}
	return asked, nil
}

// Graph returns the graph of the file's model with a KV cache of the given element type.
func (f *File) Graph(kv ir.Elem, all bool) (*ir.Graph, error) {
	g, err := models.Build(f.Hyperparameters, models.Options{AllLogits: all, KV: kv})
	return g, asError("build the graph", err)
}

func (m *Model) loadEvaluator(opts *Options) error {
	if len(opts.Variants) > 0 {
		opts.Log("the evaluator runs the file's graph; it has no use for generated variants")
	}
	g, err := m.file.Graph(m.kv, false)
	if err != nil {
		return err
	}
	machine, err := eval.New(g, m.file.gguf, m.context)
	if err != nil {
		return asError("prepare the evaluator", err)
	}
	m.path = string(kgenrt.Exact) // whatever was asked
	m.exec, m.device = machine, plan.Device{Kind: "cpu", Name: "evaluator", Library: "kgen"}
	return nil
}

func (m *Model) loadNative(ctx context.Context, opts *Options, target *target) error {
	defer target.close()
	var p *plan.Plan
	var uses [][][]plan.Use // for the simulator; a generated package has none
	var err error
	if len(opts.Variants) > 0 {
		p, err = m.generated(opts, target.device)
	} else {
		p, uses, err = m.compile(opts, target.profile)
	}
	if err != nil {
		return err
	}
	backend, err := target.open(ctx, p, uses)
	if err != nil {
		return asError("open the device", err)
	}
	m.backend, m.device = backend, backend.Device()
	if m.burst = opts.Burst; m.burst == 0 {
		m.burst = kgenrt.DefaultBurst(m.device.Kind)
	}
	m.exec, err = kgenrt.NewEngine(ctx, p, backend, m.file.gguf, kgenrt.EngineOptions{Progress: opts.Progress, Burst: m.burst, Trusted: true})
	return asError("load the model", err)
}

// compile compiles the model. A context that nobody asked for is halved until the cache is within the limits.
func (m *Model) compile(opts *Options, profile schedules.Profile) (*plan.Plan, [][][]plan.Use, error) {
	const least = 256
	for {
		compiled, err := m.file.Compile(CompileOptions{
			Profile: profile, Context: m.context, KV: m.kv, Fast: !opts.Exact, Trace: opts.Trace,
		})
		if err == nil {
			m.path = compiled.Path
			return compiled.Plan, compiled.Uses, nil
		}
		if !is[*plan.LimitError](err) || opts.Context != 0 || m.context/2 < least {
			return nil, nil, err
		}
		m.context /= 2
		opts.Log(fmt.Sprintf("context: %d positions, as more are beyond the limits: %v", m.context, err))
	}
}

// CompileOptions says what to compile a file's model to.
type CompileOptions struct {
	Profile schedules.Profile
	Context int     // positions that fit; 0 means the model's or 8192, whichever is less
	KV      ir.Elem // how the cache stores keys and values
	Fast    bool    // activations of 8 bits where weights have kernels for it
	Trace   bool    // the residual stream stays readable
}

// Compile compiles the file's model without opening a device. The result's path is fast only if some product takes activations
// of 8 bits.
func (f *File) Compile(opts CompileOptions) (*codegen.Result, error) {
	context, err := f.ChooseContext(opts.Context)
	if err != nil {
		return nil, err
	}
	g, err := f.Graph(opts.KV, false)
	if err != nil {
		return nil, err
	}
	o := codegen.Options{Profile: opts.Profile, Context: context, Fast: opts.Fast}
	if opts.Trace {
		for _, t := range models.LayerInputs(g) {
			o.Keep = append(o.Keep, t.Name)
		}
	}
	result, err := codegen.Compile(g, o)
	return result, asError("compile the model", err)
}

// Device describes what the model runs on; its Kind is gpu, software, cpu or sim.
func (m *Model) Device() plan.Device { return m.device }

// Path names the contract that results keep: exact, with activations in f32 throughout, or fast, where products round them to
// 8 bits.
func (m *Model) Path() string { return m.path }

// Context returns the number of positions that fit.
func (m *Model) Context() int { return m.context }

// File returns the file that the model was loaded from.
func (m *Model) File() *File { return m.file }

// Executor returns what runs the model, for work below the level of text. Whoever uses it must not use a Session too.
func (m *Model) Executor() kgenrt.Executor { return guarded{m} }

// Stats counts what the device did so far; all zero on the evaluator.
func (m *Model) Stats() plan.Stats {
	if m.backend == nil {
		return plan.Stats{}
	}
	return m.backend.Stats()
}

// Close frees the device, and the file when Load opened it. It may be called twice; what uses the model afterwards gets an
// error.
func (m *Model) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	var err error
	if m.backend != nil {
		err = m.backend.Close()
	}
	if m.owns {
		m.file.closed = true
	}
	m.file.users--
	return asError("close the model", firstError(err, m.file.unmap()))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
