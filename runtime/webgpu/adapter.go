//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Adapter is a device that a library offers. Its methods are for one goroutine at a time.
type Adapter struct {
	library  *Library
	handle   adapter
	info     plan.Device
	kind     uint32 // adapterDiscrete and so on
	limits   limits
	measured bool
	checks   []Check // what Measure found
	refused  error   // why Measure refused it
	canaries []canary
}

// Adapters returns the adapters that the options select, best first: discrete, integrated and other GPUs, then software.
// It asks the library once. With none it returns a *plan.DeviceError with fault NoAdapter.
func (l *Library) Adapters() ([]*Adapter, error) {
	if l.instance == 0 {
		return nil, &plan.DeviceError{Fault: plan.Closed, Call: "list adapters", Detail: "the library was closed"}
	}
	if l.adapters == nil {
		handles, why := l.api.flavour.adapters(l.api, l.instance)
		if len(handles) == 0 {
			return nil, &plan.DeviceError{Fault: plan.NoAdapter, Call: "list the adapters of " + l.Name(), Detail: cmp.Or(why, "the library lists none") + "; is a driver installed? " + SetupHint}
		}
		for _, h := range handles {
			l.adapters = append(l.adapters, l.describe(h))
		}
		sortAdapters(l.adapters)
	}
	return selectAdapters(l.adapters, cmp.Or(l.options.Adapter, os.Getenv("KGEN_ADAPTER")))
}

// sortAdapters puts the best first: discrete, integrated and other GPUs, then software. Equals keep the library's order.
func sortAdapters(list []*Adapter) {
	rank := func(a *Adapter) int {
		return slices.Index([]uint32{adapterDiscrete, adapterIntegrated, adapterUnknown, adapterCPU}, a.kind)
	}
	slices.SortStableFunc(list, func(a, b *Adapter) int { return cmp.Compare(rank(a), rank(b)) })
}

// selectAdapters keeps those that a selector, an index or a part of the name, names.
func selectAdapters(all []*Adapter, selector string) ([]*Adapter, error) {
	if selector == "" {
		return all, nil
	}
	index, err := strconv.Atoi(selector)
	if err == nil && index >= 0 && index < len(all) {
		return all[index : index+1], nil
	}
	var some []*Adapter
	names := ""
	for i, a := range all {
		names += ", " + strconv.Itoa(i) + " = " + a.info.Name
		if err != nil && strings.Contains(strings.ToLower(a.info.Name), strings.ToLower(selector)) ||
			err == nil && slices.Contains(strings.Fields(a.info.Name), selector) { // an index that there isn't may be a model's number
			some = append(some, a)
		}
	}
	if len(some) == 0 {
		return nil, &plan.DeviceError{Fault: plan.NoAdapter, Call: "select adapter " + strconv.Quote(selector), Detail: "the adapters are " + names[2:]}
	}
	return some, nil
}

// describe reads what the library says about an adapter.
func (l *Library) describe(h adapter) *Adapter {
	a := &Adapter{library: l, handle: h, canaries: canaries(0, 0)}
	features := l.api.adapterFeatures(h)
	a.info = plan.Device{
		Kind:      "gpu",
		Library:   l.Name(),
		Subgroups: slices.Contains(features, l.api.flavour.subgroups),
		F16:       slices.Contains(features, l.api.flavour.f16),
	}
	info := new(adapterInfo)
	if l.api.adapterInfo(h, info) {
		a.info.Name, a.info.Driver = info.device.String(), info.description.String()
		a.info.API = map[uint32]string{4: "d3d12", 5: "metal", 6: "vulkan", 7: "opengl", 8: "opengles"}[info.backendType]
		if info.adapterType == adapterCPU {
			a.info.Kind = "software"
		}
		a.kind = info.adapterType
		a.canaries = canaries(int(info.subgroupMin), int(info.subgroupMax))
		l.api.adapterInfoFree(*info)
	}
	l.api.adapterLimits(h, &a.limits)
	a.info.Limits = a.limits.plan()
	return a
}

// plan returns the limits that kernels can exceed.
func (l *limits) plan() plan.Limits {
	return plan.Limits{
		StorageBuffers:   int(l.storageBuffers),
		UniformBuffers:   int(l.uniformBuffers),
		BindingBytes:     l.storageBindingSize,
		UniformBytes:     l.uniformBindingSize,
		BufferBytes:      l.bufferSize,
		WorkgroupBytes:   int(l.workgroupStorage),
		Invocations:      int(l.workgroupInvocations),
		WorkgroupX:       int(l.workgroupX),
		WorkgroupY:       int(l.workgroupY),
		WorkgroupZ:       int(l.workgroupZ),
		Workgroups:       int(l.workgroupsPerDimension),
		OffsetAlignment:  int(max(l.storageOffsetAlignment, l.uniformOffsetAlignment)),
		DispatchesInPass: plan.DefaultLimits().DispatchesInPass,
	}
}

// request returns the limits to ask for: what the plan needs, else WebGPU's default or the adapter's if that is less. What
// has no part in compute is left to the library.
func (have *limits) request(need plan.Limits) *limits {
	const undefined = 1<<32 - 1
	l := &limits{
		textureDimension1D: undefined, textureDimension2D: undefined, textureDimension3D: undefined, textureArrayLayers: undefined,
		bindGroups: undefined, bindGroupsAndVertexBuffers: undefined, bindingsPerBindGroup: undefined,
		dynamicUniformBuffers: undefined, dynamicStorageBuffers: undefined, sampledTextures: undefined, samplers: undefined,
		storageTextures: undefined, uniformOffsetAlignment: undefined, storageOffsetAlignment: undefined, vertexBuffers: undefined,
		vertexAttributes: undefined, vertexArrayStride: undefined, interStageVariables: undefined, colorAttachments: undefined,
		colorAttachmentBytes: undefined, immediateSize: undefined,
	}
	d, most := plan.DefaultLimits(), have.plan()
	l.storageBuffers = uint32(ask(need.StorageBuffers, d.StorageBuffers, most.StorageBuffers))
	l.uniformBuffers = uint32(ask(need.UniformBuffers, d.UniformBuffers, most.UniformBuffers))
	l.storageBindingSize = ask(need.BindingBytes, d.BindingBytes, most.BindingBytes)
	l.uniformBindingSize = ask(need.UniformBytes, d.UniformBytes, most.UniformBytes)
	l.bufferSize = ask(need.BufferBytes, d.BufferBytes, most.BufferBytes)
	l.workgroupStorage = uint32(ask(need.WorkgroupBytes, d.WorkgroupBytes, most.WorkgroupBytes))
	l.workgroupInvocations = uint32(ask(need.Invocations, d.Invocations, most.Invocations))
	l.workgroupX = uint32(ask(need.WorkgroupX, d.WorkgroupX, most.WorkgroupX))
	l.workgroupY = uint32(ask(need.WorkgroupY, d.WorkgroupY, most.WorkgroupY))
	l.workgroupZ = uint32(ask(need.WorkgroupZ, d.WorkgroupZ, most.WorkgroupZ))
	l.workgroupsPerDimension = uint32(ask(need.Workgroups, d.Workgroups, most.Workgroups))
	return l
}

func ask[T int | uint64](need, otherwise, most T) T {
	if need != 0 {
		return need
	}
	return min(otherwise, most)
}

// Info returns what the library says of the adapter, and what Measure found once it was called.
func (a *Adapter) Info() plan.Device { return a.info }

// Measure returns Info with what canaries found when they ran, which they do the first time: the size of subgroups, a cap of loops,
// and features that do not work and are therefore left out. A line of the log tells each trouble. When kernels that every
// plan needs come out wrong, the error is a *plan.DeviceError with fault Miscomputes, now and on every later call.
func (a *Adapter) Measure(ctx context.Context) (plan.Device, error) {
	if a.measured {
		return a.info, a.refused
	}
	d, err := a.open(ctx, plan.Requires{Subgroups: a.info.Subgroups, F16: a.info.F16})
	if err != nil {
		return a.info, err
	}
	defer d.Close()
	info, checks, err := examine(ctx, d, a.info, a.canaries)
	var fault *plan.DeviceError
	if err != nil && !(errors.As(err, &fault) && fault.Fault == plan.Miscomputes) {
		return a.info, err
	}
	a.info, a.checks, a.refused, a.measured = info, checks, err, true
	for _, c := range checks {
		if !c.OK {
			a.library.options.Log("adapter " + info.Name + ": " + c.Name + ": " + c.Detail + "; " + c.Effect)
		}
	}
	if info.SubgroupSize != 0 {
		a.library.options.Log("subgroups of " + info.Name + ": measured size " + strconv.Itoa(info.SubgroupSize))
	}
	return a.info, a.refused
}

// Checks returns what came of each canary that concerns the adapter. They run the first time that Measure, Open or Checks is
// called. The error is Measure's: with it, the checks show what is wrong.
func (a *Adapter) Checks(ctx context.Context) ([]Check, error) {
	_, err := a.Measure(ctx)
	return a.checks, err
}

// Open opens a device with the limits and features that requires asks for and no others. The adapter is measured first, and not
// opened when that refused it.
func (a *Adapter) Open(ctx context.Context, requires plan.Requires) (*Device, error) {
	if _, err := a.Measure(ctx); err != nil {
		return nil, err
	}
	if err := requires.Check(a.info); err != nil {
		return nil, err
	}
	return a.open(ctx, requires)
}

// Open finds a library and opens the first adapter that offers what requires asks for. Closing the device closes the
// library too.
func Open(ctx context.Context, o Options, requires plan.Requires) (*Device, error) {
	l, err := Find(o)
	if err != nil {
		return nil, err
	}
	d, err := l.openFirst(ctx, requires)
	if err != nil {
		l.Close()
		return nil, err
	}
	d.library = l
	return d, nil
}

func (l *Library) openFirst(ctx context.Context, requires plan.Requires) (*Device, error) {
	adapters, err := l.Adapters()
	if err != nil {
		return nil, err
	}
	var first error
	for _, a := range adapters {
		d, err := a.Open(ctx, requires)
		if err == nil {
			l.options.Log("adapter " + a.info.Name + " (" + a.info.Kind + ", " + a.info.API + ")")
			return d, nil
		}
		l.options.Log("adapter " + a.info.Name + " is passed over: " + err.Error())
		first = cmp.Or(first, err)
	}
	return nil, first
}
