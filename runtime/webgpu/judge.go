//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Naga says whether the library's compiler is naga, which gets plan.Naga's dialect of a text. Else it is Tint.
func (l *Library) Naga() bool { return l.api.flavour.naga }

// OpenWhole opens a device with every limit and feature that kgen knows and the adapter has, so that its compiler takes all
// it can. Nothing is measured. It is for judging kernels, not for running them.
func (a *Adapter) OpenWhole(ctx context.Context) (*Device, error) {
	return a.open(ctx, plan.Requires{Limits: a.info.Limits, Subgroups: a.info.Subgroups, F16: a.info.F16})
}

// JudgeText has the library's compiler read a WGSL text, and keeps nothing. What it refuses is a *plan.KernelError. A text of
// unknown origin may end the process or never come back: judge it in a child process.
func (d *Device) JudgeText(name, text string) error {
	return d.do("compile "+name, func() error {
		module, err := d.module(name, text, false)
		if err == nil {
			release(d.api, fnShaderModuleRelease, module)
		}
		return err
	})
}

// JudgeKernel compiles a kernel as NewPipeline does, and keeps nothing but the layout of its bindings.
func (d *Device) JudgeKernel(k *plan.Kernel, trusted bool) error {
	if k == nil {
		return noKernel()
	}
	return d.do("compile kernel "+k.Name, func() error {
		handle, _, err := d.pipeline(k, trusted)
		if err == nil {
			release(d.api, fnComputePipelineRelease, handle)
		}
		return err
	})
}
