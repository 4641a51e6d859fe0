//go:build nogpu || !(linux || darwin || windows) || !(amd64 || arm64) || android

package webgpu

import (
	"context"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// This file stands for the binding in builds without it: tag nogpu, a browser, a platform that is not bound.

func absent() error {
	return &plan.DeviceError{Fault: plan.NoLibrary, Call: "find a WebGPU library", Detail: "this program was built without the native binding"}
}

// Library is a loaded WebGPU library.
type Library struct{}

// Find fails: this build has no binding.
func Find(Options) (*Library, error) { return nil, absent() }

// Candidate is a place in which a library was looked for.
type Candidate struct {
	Path    string   // empty in this build
	Library *Library // nil in this build
	Err     error    // that this build has no binding
}

// Survey returns one entry: this build has no binding.
func Survey(Options) []Candidate { return []Candidate{{Err: absent()}} }

// VulkanLoader names none: this build has no binding.
func VulkanLoader() (string, error) { return "", nil }

// Name returns nothing.
func (l *Library) Name() string { return "" }

// Path returns nothing.
func (l *Library) Path() string { return "" }

// Adapters fails: this build has no binding.
func (l *Library) Adapters() ([]*Adapter, error) { return nil, absent() }

// Naga returns false.
func (l *Library) Naga() bool { return false }

// Close does nothing.
func (l *Library) Close() {}

// Adapter is a device that a library offers.
type Adapter struct{}

// Info returns nothing.
func (a *Adapter) Info() plan.Device { return plan.Device{} }

// Measure fails: this build has no binding.
func (a *Adapter) Measure(context.Context) (plan.Device, error) { return plan.Device{}, absent() }

// Checks fails: this build has no binding.
func (a *Adapter) Checks(context.Context) ([]Check, error) { return nil, absent() }

// Open fails: this build has no binding.
func (a *Adapter) Open(context.Context, plan.Requires) (*Device, error) { return nil, absent() }

// OpenWhole fails: this build has no binding.
func (a *Adapter) OpenWhole(context.Context) (*Device, error) { return nil, absent() }

// Device would be a plan.Backend on a WebGPU device.
type Device struct{}

// Open fails: this build has no binding.
func Open(context.Context, Options, plan.Requires) (*Device, error) { return nil, absent() }

// Device returns nothing.
func (d *Device) Device() plan.Device { return plan.Device{} }

// NewBuffer fails: this build has no binding.
func (d *Device) NewBuffer(plan.Buffer) (plan.Handle, error) { return 0, absent() }

// Write fails: this build has no binding.
func (d *Device) Write(plan.Handle, uint64, []byte) error { return absent() }

// NewPipeline fails: this build has no binding.
func (d *Device) NewPipeline(*plan.Kernel, bool) (plan.Handle, error) { return 0, absent() }

// JudgeText fails: this build has no binding.
func (d *Device) JudgeText(name, text string) error { return absent() }

// JudgeKernel fails: this build has no binding.
func (d *Device) JudgeKernel(*plan.Kernel, bool) error { return absent() }

// NewGroup fails: this build has no binding.
func (d *Device) NewGroup([]plan.Access, []plan.Range) (plan.Handle, error) { return 0, absent() }

// Submit fails: this build has no binding.
func (d *Device) Submit(plan.Work) (plan.Ticket, error) { return 0, absent() }

// Wait fails: this build has no binding.
func (d *Device) Wait(context.Context, plan.Ticket) ([]byte, error) { return nil, absent() }

// Stats returns nothing.
func (d *Device) Stats() plan.Stats { return plan.Stats{} }

// Close does nothing.
func (d *Device) Close() error { return nil }
