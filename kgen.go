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
	// Device is auto, native or cpu; empty means auto: a hardware adapter, else a software one, else the evaluator.
	Device string
	// Adapter selects an adapter by index or by part of its name.
	Adapter string
	// Library is the file of a WebGPU library; empty means to search.
	Library string
	// Profile names the device profile that kernels are made for; empty means the one that fits the device best.
	Profile string
	// Context is the number of positions that fit; 0 means the model's, 8192, or what fits, whichever is least.
	Context int
	// KV is how the cache stores keys and values, f32 or f16; empty means f16, or f32 with Exact.
	KV string
	// Exact keeps activations in f32. There is no other path yet, so it only chooses the default of KV.
	Exact bool
	// Trace keeps the residual stream readable, for comparisons layer by layer.
	Trace bool
	// Progress is called while the model loads; nil for none.
	Progress func(kgenrt.Progress)
	// Log gets a line about each choice that was made; nil for none.
	Log func(message string)
}

// defaultContext is the longest context that a model gets without asking: the KV cache is allocated whole.
const defaultContext = 8192

// Model is a loaded model. It runs one sequence and is not safe for concurrent use.
type Model struct {
	*File
	exec    kgenrt.Executor
	device  plan.Device
	backend plan.Backend // nil on the evaluator
	context int
	kv      ir.Elem
	session *Session
}

// Load opens a GGUF file, chooses a device, compiles the model's kernels for it and loads the weights. Errors have a code,
// see kgenrt.Error.
func Load(ctx context.Context, path string, opts Options) (*Model, error) {
	file, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	m := &Model{File: file}
	if err := m.load(ctx, &opts); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *Model) load(ctx context.Context, opts *Options) error {
	if opts.Progress == nil {
		opts.Progress = func(kgenrt.Progress) {}
	}
	if opts.Log == nil {
		opts.Log = func(string) {}
	}
	if err := m.chooseSizes(opts); err != nil {
		return err
	}
	target, err := chooseDevice(ctx, opts)
	if err != nil {
		return err
	}
	if target == nil {
		return m.loadEvaluator()
	}
	return m.loadNative(ctx, opts, target)
}

// chooseSizes fixes the context and the type of the KV cache.
func (m *Model) chooseSizes(opts *Options) error {
	switch opts.KV {
	case "f32":
		m.kv = ir.F32
	case "f16":
		m.kv = ir.F16
	case "":
		m.kv = ir.F16
		if opts.Exact {
			m.kv = ir.F32
		}
	default:
		return badRequest("the KV cache can be f32 or f16, not %q", opts.KV)
	}
	limit := m.Hyperparameters.Context
	switch {
	case opts.Context < 0:
		return badRequest("context %d is below 0", opts.Context)
	case opts.Context > limit:
		return &kgenrt.Error{Code: kgenrt.ContextFull, Message: fmt.Sprintf("context %d is longer than the model's, %d", opts.Context, limit)}
	case opts.Context == 0:
		m.context = min(limit, defaultContext)
	default:
		m.context = opts.Context
	}
	return nil
}

// Graph returns the model's graph: logits of the last token, or of all of them.
func (m *Model) Graph(all bool) (*ir.Graph, error) { return m.File.Graph(m.kv, all) }

// Graph returns the graph of the file's model with a KV cache of the given element type.
func (f *File) Graph(kv ir.Elem, all bool) (*ir.Graph, error) {
	g, err := models.Build(f.Hyperparameters, models.Options{AllLogits: all, KV: kv})
	return g, asError("build the graph", err)
}

func (m *Model) loadEvaluator() error {
	g, err := m.Graph(false)
	if err != nil {
		return err
	}
	machine, err := eval.New(g, m.gguf, m.context)
	if err != nil {
		return asError("prepare the evaluator", err)
	}
	m.exec, m.device = machine, plan.Device{Kind: "cpu", Name: "evaluator", Library: "kgen"}
	return nil
}

func (m *Model) loadNative(ctx context.Context, opts *Options, target *target) error {
	compiled, err := m.Compile(target.profile, m.context, m.kv, opts.Trace)
	if err != nil {
		return err
	}
	p := compiled.Plan
	backend, err := target.open(ctx, p.Requires)
	if err != nil {
		return asError("open the device", err)
	}
	m.backend, m.device = backend, backend.Device()
	m.exec, err = kgenrt.NewEngine(ctx, p, backend, m.gguf, kgenrt.EngineOptions{Progress: opts.Progress, Trusted: true})
	return asError("load the model", err)
}

// Compile compiles the file's model for a profile without opening a device. Context 0 means the model's or 8192, whichever is
// less; with trace set, the residual stream stays readable.
func (f *File) Compile(profile schedules.Profile, context int, kv ir.Elem, trace bool) (*codegen.Result, error) {
	if context == 0 {
		context = min(f.Hyperparameters.Context, defaultContext)
	}
	g, err := f.Graph(kv, false)
	if err != nil {
		return nil, err
	}
	opts := codegen.Options{Profile: profile, Context: context}
	if trace {
		for _, t := range models.LayerInputs(g) {
			opts.Keep = append(opts.Keep, t.Name)
		}
	}
	result, err := codegen.Compile(g, opts)
	return result, asError("compile the model", err)
}

// Device describes what the model runs on; its Kind is gpu, software or cpu.
func (m *Model) Device() plan.Device { return m.device }

// Path names the contract that results keep: exact until there is a faster one.
func (m *Model) Path() string { return "exact" }

// Context returns the number of positions that fit.
func (m *Model) Context() int { return m.context }

// Executor returns what runs the model, for work below the level of text. Whoever uses it must not use a Session too.
func (m *Model) Executor() kgenrt.Executor { return m.exec }

// Stats counts what the device did so far; all zero on the evaluator.
func (m *Model) Stats() plan.Stats {
	if m.backend == nil {
		return plan.Stats{}
	}
	return m.backend.Stats()
}

// Close frees the device and the file. It may be called twice.
func (m *Model) Close() error {
	var err error
	if m.backend != nil {
		err = m.backend.Close()
	}
	return asError("close", firstError(err, m.File.Close()))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
