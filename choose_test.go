package kgen

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
	"github.com/kgen-wgsl/kgen/schedules"
)

func TestChooseProfile(t *testing.T) {
	small := plan.DefaultLimits() // of a device in compatibility mode
	small.StorageBuffers, small.Invocations, small.WorkgroupX, small.WorkgroupY = 4, 128, 128, 128
	small.UniformBytes = 16 << 10
	none := small
	none.StorageBuffers = 3
	device := func(kind string, limits plan.Limits, subgroup int) plan.Device {
		return plan.Device{Kind: kind, Name: kind, Limits: limits, Subgroups: subgroup > 0, SubgroupSize: subgroup}
	}
	full := plan.DefaultLimits()
	for _, c := range []struct {
		name   string
		asked  string
		device plan.Device
		want   string   // empty for an error
		size   int      // of subgroups
		passed []string // part of what is said of each better profile
	}{
		{"a GPU with subgroups", "", device("gpu", full, 32), "subgroups", 32, nil},
		{"a GPU with others", "", device("gpu", full, 64), "subgroups", 64, nil},
		{"a GPU with subgroups of unknown size", "", plan.Device{Kind: "gpu", Limits: full, Subgroups: true}, "portable", 0,
			[]string{`profile subgroups does not fit device "": it needs a known subgroup size`}},
		{"a GPU without", "", device("gpu", full, 0), "portable", 0,
			[]string{`profile subgroups does not fit device "gpu": it needs subgroups, which it lacks`}},
		{"a small GPU with subgroups", "", device("gpu", small, 32), "compat", 0,
			[]string{`profile subgroups does not fit device "gpu": it needs maxStorageBuffersPerShaderStage 8, has 4; `, "profile portable does not"}},
		{"software with subgroups", "", device("software", full, 8), "portable", 0, nil},
		{"software without", "", device("software", full, 0), "portable", 0, nil},
		{"small software", "", device("software", small, 8), "compat", 0, []string{`profile portable does not fit device "software"`}},
		{"a GPU on which nothing fits", "", device("gpu", none, 32), "", 0, nil},
		{"software on which nothing fits", "", device("software", none, 0), "", 0, nil},
		{"what was asked for", "compat", device("gpu", full, 32), "compat", 0, nil},
		{"subgroups that were asked for", "subgroups", device("software", full, 8), "subgroups", 8, nil},
		{"subgroups that were asked for and are not there", "subgroups", device("gpu", full, 0), "", 0, nil},
		{"what was asked for and does not fit", "portable", device("gpu", small, 32), "", 0, nil},
		{"what was asked for and is none", "portible", device("gpu", full, 32), "", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, passed, err := chooseProfile(c.asked, c.device)
			var fit *schedules.FitError
			var unknown *schedules.UnknownError
			switch {
			case c.want == "" && !errors.As(err, &fit) && !errors.As(err, &unknown):
				t.Errorf("chose %q, %v", p.Name, err)
			case c.want == "":
			case err != nil || p.Name != c.want || p.SubgroupSize != c.size:
				t.Errorf("chose %q with subgroups of %d, %v; want %q with %d", p.Name, p.SubgroupSize, err, c.want, c.size)
			case len(passed) != len(c.passed):
				t.Errorf("passed over: %q, want %q", passed, c.passed)
			default:
				for i, part := range c.passed {
					if !strings.Contains(passed[i].Error(), part) {
						t.Errorf("passed over: %q, want %q", passed[i], part)
					}
				}
			}
		})
	}
}

// TestMissingFeatures compiles for GPUs that lack features, each alone and together: what comes uses none of them.
func TestMissingFeatures(t *testing.T) {
	f, err := OpenFile(oraclePath(t, "llama-q4_1.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, f16 := range []bool{false, true} {
		for _, subgroups := range []bool{false, true} {
			for _, badDot := range []bool{false, true} {
				for _, trips := range []int{0, 65535} {
					d := plan.Device{Kind: "gpu", Limits: plan.DefaultLimits(), F16: f16, Subgroups: subgroups, BadPackedDot: badDot, LoopTrips: trips}
					if subgroups {
						d.SubgroupSize = 32
					}
					p, passed, err := chooseProfile("", d)
					if err != nil {
						t.Fatal(err)
					}
					r, err := f.Compile(CompileOptions{Profile: p, Context: 256, KV: ir.F16, Fast: true})
					if err != nil {
						t.Fatal(err)
					}
					uses := func(what string) bool {
						return slices.ContainsFunc(r.Plan.Kernels, func(k plan.Kernel) bool { return strings.Contains(k.Text, what) })
					}
					if uses("enable f16") || uses("subgroupAdd") != subgroups || uses("dot4I8Packed") == badDot {
						t.Errorf("%+v: f16 %v, subgroups %v, packed dot %v", d, uses("enable f16"), uses("subgroupAdd"), uses("dot4I8Packed"))
					}
					if err := r.Plan.Requires.Check(d); err != nil || r.Plan.Requires.LoopTrips == 0 {
						t.Errorf("%+v: %v, requires %+v", d, err, r.Plan.Requires)
					}
					if subgroups == (len(passed) > 0) {
						t.Errorf("%+v: passed over %q", d, passed)
					}
				}
			}
		}
	}
}

// TestFirstSound passes over adapters that compute wrong, and no others.
func TestFirstSound(t *testing.T) {
	wrong := &plan.DeviceError{Fault: plan.Miscomputes, Call: "check adapter broken", Detail: "it computes wrong results: copy: word 1 is 3, not 0"}
	lost := &plan.DeviceError{Fault: plan.Lost}
	for _, c := range []struct {
		measured []error
		want     int
		err      error
		lines    int
	}{
		{[]error{nil, nil}, 0, nil, 0},
		{[]error{wrong, nil}, 1, nil, 1},
		{[]error{wrong, wrong, nil}, 2, nil, 2},
		{[]error{wrong, wrong}, 0, wrong, 2},
		{[]error{lost, nil}, 0, lost, 0},
		{[]error{wrong, context.Canceled}, 1, context.Canceled, 1},
	} {
		var log []string
		adapters, next := make([]*webgpu.Adapter, len(c.measured)), 0
		for i := range adapters {
			adapters[i] = &webgpu.Adapter{}
		}
		n, err := firstSound(adapters, func(*webgpu.Adapter) error { next++; return c.measured[next-1] }, func(line string) { log = append(log, line) })
		if n != c.want || err != c.err || len(log) != c.lines {
			t.Errorf("%v: adapter %d, %v, log %q", c.measured, n, err, log)
		}
		for _, line := range log {
			if !strings.HasPrefix(line, "adapter ") || !strings.HasSuffix(line, " is passed over: "+wrong.Error()) {
				t.Errorf("log %q", line)
			}
		}
	}
	adapters := make([]*webgpu.Adapter, 2)
	if got := reason(adapters, 1, false); got != "the best of 2 adapters but for those that compute wrong" {
		t.Error(got)
	}
}

// With no adapter that computes right, auto goes on without one and says why, as it does where there is none; whoever asked
// for a device gets the error.
func TestNoDevice(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&plan.DeviceError{Fault: plan.NoLibrary}, "there is no WebGPU"},
		{&plan.DeviceError{Fault: plan.NoAdapter}, "there is no WebGPU"},
		{&plan.DeviceError{Fault: plan.Miscomputes}, "no adapter computes right"},
		{&plan.DeviceError{Fault: plan.Lost}, ""},
		{context.Canceled, ""},
	} {
		if got := noDevice(c.err); got != c.want {
			t.Errorf("%v: %q", c.err, got)
		}
	}
}

// Whoever doesn't ask for the simulator gets an adapter or the evaluator, whether there is a library or not.
func TestAutoIsNoSimulator(t *testing.T) {
	for _, cache := range []string{os.Getenv("KGEN_CACHE"), t.TempDir()} {
		t.Setenv("KGEN_CACHE", cache)
		for _, device := range []string{"", "auto", "native"} {
			found, err := chooseDevice(t.Context(), &Options{Device: device, Log: func(string) {}})
			if err == nil && found != nil {
				if found.adapter == nil || found.device.Kind == simKind {
					t.Errorf("device %q: %+v", device, found.device)
				}
				found.close()
			}
		}
	}
}

func oraclePath(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, oracle.Bytes(t, name), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
