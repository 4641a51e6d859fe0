package kgen

import (
	"context"
	"errors"
	"os"
	"strconv"

	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
	"github.com/kgen-wgsl/kgen/schedules"
)

// target is an adapter and the profile that kernels are made for.
type target struct {
	library *webgpu.Library
	adapter *webgpu.Adapter
	device  plan.Device // what was measured
	profile schedules.Profile
}

// chooseDevice returns the adapter to use, nil for the CPU evaluator. With device auto, a missing library or adapter means
// the evaluator, unless the caller named one of them.
func chooseDevice(ctx context.Context, opts *Options) (*target, error) {
	switch opts.Device {
	case "cpu":
		if opts.Profile != "" || opts.Adapter != "" || opts.Library != "" {
			return nil, badRequest("profile, adapter and library choose a device; the CPU evaluator has none of them")
		}
		opts.Log("device: the CPU evaluator, as asked")
		return nil, nil
	case "", "auto", "native":
	case "sim":
		return nil, badRequest("the simulator is not part of this version; use auto, native or cpu")
	default:
		return nil, badRequest("there is no device %q; use auto, native or cpu", opts.Device)
	}
	t, err := findAdapter(ctx, opts)
	if err == nil {
		return t, nil
	}
	var fault *plan.DeviceError
	missing := errors.As(err, &fault) && (fault.Fault == plan.NoLibrary || fault.Fault == plan.NoAdapter)
	if opts.Device == "native" || !missing || asked(opts) {
		return nil, asError("choose a device", err)
	}
	opts.Log("device: the CPU evaluator, since there is no WebGPU: " + err.Error())
	return nil, nil
}

// asked reports whether the caller named a library or adapter, so that there is no second choice.
func asked(opts *Options) bool {
	for _, s := range []string{opts.Library, opts.Adapter, os.Getenv("KGEN_WEBGPU_LIB"), os.Getenv("KGEN_ADAPTER")} {
		if s != "" {
			return true
		}
	}
	return false
}

func findAdapter(ctx context.Context, opts *Options) (*target, error) {
	library, err := webgpu.Find(webgpu.Options{Library: opts.Library, Adapter: opts.Adapter, Log: opts.Log})
	if err != nil {
		return nil, err
	}
	t := &target{library: library}
	if err := t.choose(ctx, opts); err != nil {
		library.Close()
		return nil, err
	}
	return t, nil
}

// choose takes the best adapter and the profile for it.
func (t *target) choose(ctx context.Context, opts *Options) error {
	adapters, err := t.library.Adapters()
	if err != nil {
		return err
	}
	t.adapter = adapters[0]
	info, err := t.adapter.Measure(ctx)
	if err != nil {
		return err
	}
	t.device = info
	why := reason(adapters, asked(opts))
	if len(opts.Variants) == 0 {
		if t.profile, err = chooseProfile(opts.Profile, info); err != nil {
			return err
		}
		why += "; profile " + t.profile.Name
	}
	opts.Log("device: " + info.Name + " (" + info.Kind + ", " + info.API + ", " + info.Library + "), " + why)
	return nil
}

// reason says why the first adapter was taken.
func reason(adapters []*webgpu.Adapter, asked bool) string {
	why := "the best of " + strconv.Itoa(len(adapters)) + " adapters"
	if len(adapters) == 1 {
		why = "the only adapter"
	}
	if asked {
		return why + " that fit what was asked for"
	}
	if adapters[0].Info().Kind == "software" {
		return why + ", as there is no hardware one"
	}
	return why
}

// chooseProfile returns the named profile, or the best that the device fits: subgroups on GPUs, where they pay, then
// portable, then compat. On software adapters one row per thread is faster.
func chooseProfile(name string, d plan.Device) (schedules.Profile, error) {
	if name != "" {
		p, err := schedules.Lookup(name)
		if err != nil {
			return p, err
		}
		return p.WithDevice(d)
	}
	names := []string{"portable", "compat"}
	if d.Kind == "gpu" {
		names = append([]string{"subgroups"}, names...)
	}
	var last error
	for _, name := range names {
		p, err := schedules.Lookup(name)
		if err != nil {
			return p, err
		}
		fitted, err := p.WithDevice(d)
		if err == nil {
			return fitted, nil
		}
		last = err
	}
	return schedules.Profile{}, last
}
