package kgen

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strconv"

	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
	"github.com/kgen-wgsl/kgen/schedules"
)

// target is an adapter, or the simulator, and the profile that kernels are made for.
type target struct {
	library *webgpu.Library
	adapter *webgpu.Adapter // nil for the simulator
	device  plan.Device     // what was measured
	profile schedules.Profile
}

// open opens a device for a plan.
func (t *target) open(ctx context.Context, p *plan.Plan, uses [][][]plan.Use) (plan.Backend, error) {
	if t.adapter == nil {
		return t.simulator(p, uses)
	}
	return t.adapter.Open(ctx, p.Requires)
}

// close gives up what open needs; a device outlives it.
func (t *target) close() {
	if t.library != nil {
		t.library.Close()
	}
}

// chooseDevice returns the adapter to use, or the simulator, and nil for the CPU evaluator. With device auto, a missing library or
// adapter means the evaluator, unless the caller named one of them.
func chooseDevice(ctx context.Context, opts *Options) (*target, error) {
	if opts.SubgroupSize != 0 && opts.Device != "sim" {
		return nil, badRequest("only the simulator takes a size of subgroups; devices have one of their own")
	}
	switch opts.Device {
	case "cpu":
		if opts.Profile != "" || opts.Adapter != "" || opts.Library != "" {
			return nil, badRequest("profile, adapter and library choose a device; the CPU evaluator has none of them")
		}
		opts.Log("device: the CPU evaluator, as asked")
		return nil, nil
	case "", "auto", "native":
	case "sim":
		return simulated(opts)
	default:
		return nil, badRequest("there is no device %q; use auto, native, cpu or sim", opts.Device)
	}
	t, err := findAdapter(ctx, opts)
	if err == nil {
		return t, nil
	}
	why := noDevice(err)
	if opts.Device == "native" || why == "" || asked(opts) {
		return nil, asError("choose a device", err)
	}
	opts.Log("device: the CPU evaluator, since " + why + ": " + err.Error())
	return nil, nil
}

// noDevice says what an error means if it is that there is no device to use, else nothing.
func noDevice(err error) string {
	var fault *plan.DeviceError
	if !errors.As(err, &fault) {
		return ""
	}
	switch fault.Fault {
	case plan.NoLibrary, plan.NoAdapter:
		return "there is no WebGPU"
	case plan.Miscomputes:
		return "no adapter computes right"
	}
	return ""
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

// choose takes the best adapter that computes right, and the profile for it.
func (t *target) choose(ctx context.Context, opts *Options) error {
	adapters, err := t.library.Adapters()
	if err != nil {
		return err
	}
	n, err := firstSound(adapters, func(a *webgpu.Adapter) (err error) { t.device, err = a.Measure(ctx); return err }, opts.Log)
	if err != nil {
		return err
	}
	t.adapter = adapters[n]
	why := reason(adapters, n, asked(opts))
	if len(opts.Variants) == 0 {
		profile, passed, err := chooseProfile(opts.Profile, t.device)
		if err != nil {
			return err
		}
		t.profile = profile
		why += "; profile " + profile.Name
		for _, p := range passed {
			why += "; " + p.Error()
		}
	}
	d := t.device
	opts.Log("device: " + d.Name + " (" + d.Kind + ", " + d.API + ", " + d.Library + "), " + why)
	return nil
}

// firstSound returns the number of the first adapter that measure does not find to compute wrong. Those before it are named in the
// log; with none left, the error is the first one's.
func firstSound(adapters []*webgpu.Adapter, measure func(*webgpu.Adapter) error, log func(string)) (int, error) {
	var first error
	for n, a := range adapters {
		err := measure(a)
		var fault *plan.DeviceError
		if err == nil || !errors.As(err, &fault) || fault.Fault != plan.Miscomputes {
			return n, err
		}
		log("adapter " + a.Info().Name + " is passed over: " + err.Error())
		first = cmp.Or(first, err)
	}
	return 0, first
}

// reason says why adapter n was taken.
func reason(adapters []*webgpu.Adapter, n int, asked bool) string {
	why := "the best of " + strconv.Itoa(len(adapters)) + " adapters"
	if len(adapters) == 1 {
		why = "the only adapter"
	}
	if asked {
		why += " that fit what was asked for"
	}
	if n > 0 {
		return why + " but for those that compute wrong"
	}
	if !asked && adapters[0].Info().Kind == "software" {
		return why + ", as there is no hardware one"
	}
	return why
}

// DeviceProfile returns the profile that Load makes kernels for on a device when none is named, and why better ones do not
// fit. It fails with a *schedules.FitError when the device offers less than every profile asks for.
func DeviceProfile(d plan.Device) (p schedules.Profile, passed []error, err error) {
	return chooseProfile("", d)
}

// chooseProfile returns the named profile, or the best that the device fits: subgroups on GPUs, where they pay, then
// portable, then compat. On software adapters one row per thread is faster. It also returns why better ones do not fit.
func chooseProfile(name string, d plan.Device) (schedules.Profile, []error, error) {
	names := []string{"portable", "compat"}
	if d.Kind == "gpu" {
		names = append([]string{"subgroups"}, names...)
	}
	if name != "" {
		names = []string{name}
	}
	var passed []error
	for _, name := range names {
		p, err := schedules.Lookup(name)
		if err != nil {
			return p, nil, err
		}
		fitted, err := p.WithDevice(d)
		if err == nil {
			return fitted, passed, nil
		}
		passed = append(passed, err)
	}
	return schedules.Profile{}, nil, passed[len(passed)-1]
}
