//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"strings"
	"unsafe"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// layoutObject is the layout of all kernels and groups with the same accesses. It sets no minimal binding sizes, so that
// it can be shared: the plan's Builder has checked the ranges against the kernels.
type layoutObject struct {
	accesses string // one byte each
	group    bindGroupLayout
	pipeline pipelineLayout
}

type pipelineObject struct {
	handle computePipeline
	layout int
	name   string
}

type groupObject struct {
	handle bindGroup
	layout int
}

// layout returns the number of the layout with these accesses.
func (d *Device) layout(accesses []plan.Access) (int, error) {
	key := make([]byte, len(accesses))
	for i, a := range accesses {
		key[i] = byte(a)
	}
	for i, l := range d.layouts {
		if l.accesses == string(key) {
			return i, nil
		}
	}
	entries := make([]bindGroupLayoutEntry, len(accesses))
	for i, a := range accesses {
		kind, ok := map[plan.Access]uint32{plan.Uniform: bindUniform, plan.Read: bindReadOnlyStorage, plan.ReadWrite: bindStorage}[a]
		if !ok {
			return 0, &plan.PlanError{Subject: "layout", Detail: "binding " + utoa(uint64(i)) + " has an unknown access"}
		}
		entries[i] = bindGroupLayoutEntry{binding: uint32(i), visibility: stageCompute, buffer: bufferBindingLayout{kind: kind}}
	}
	l := layoutObject{accesses: string(key)}
	err := d.scoped("create a layout of "+utoa(uint64(len(accesses)))+" bindings", func() {
		l.group = d.api.createBindGroupLayout(d.device, &bindGroupLayoutDescriptor{
			label: view(""), entryCount: uintptr(len(entries)), entries: unsafe.SliceData(entries),
		})
		if l.group != 0 {
			l.pipeline = d.api.createPipelineLayout(d.device, &pipelineLayoutDescriptor{label: view(""), layoutCount: 1, layouts: &l.group})
		}
	})
	if err == nil && l.pipeline == 0 {
		err = &plan.DeviceError{Fault: plan.Failed, Call: "create a layout", Detail: "the library made none"}
	}
	if err != nil {
		release(d.api, fnPipelineLayoutRelease, l.pipeline)
		release(d.api, fnBindGroupLayoutRelease, l.group)
		return 0, err
	}
	d.layouts = append(d.layouts, l)
	return len(d.layouts) - 1, nil
}

// NewPipeline compiles a kernel. Limits are checked here first: libraries don't check all, workgroup memory for one.
func (d *Device) NewPipeline(k *plan.Kernel, trusted bool) (h plan.Handle, err error) {
	if k == nil {
		return 0, noKernel()
	}
	err = d.do("compile kernel "+k.Name, func() error {
		handle, layout, err := d.pipeline(k, trusted)
		if err != nil {
			return err
		}
		h = plan.Handle(len(d.pipelines))
		d.pipelines = append(d.pipelines, pipelineObject{handle, layout, k.Name})
		return nil
	})
	return h, err
}

// pipeline makes a kernel's pipeline, and tells the number of its layout.
func (d *Device) pipeline(k *plan.Kernel, trusted bool) (handle computePipeline, layout int, err error) {
	if err = k.Check(d.info.Limits); err != nil {
		return 0, 0, err
	}
	if layout, err = d.layout(k.Accesses()); err != nil {
		return 0, 0, err
	}
	handle, err = d.compile(k, d.layouts[layout].pipeline, trusted && k.Proved && !d.checked)
	return handle, layout, err
}

func (d *Device) compile(k *plan.Kernel, layout pipelineLayout, trusted bool) (computePipeline, error) {
	module, err := d.module(k.Name, k.Text, trusted)
	if err != nil {
		return 0, err
	}
	defer release(d.api, fnShaderModuleRelease, module)
	var handle computePipeline
	err = d.kernelScope(k.Name, func() {
		handle = d.api.createComputePipeline(d.device, &computePipelineDescriptor{
			label: label(k.Name), layout: layout, compute: computeState{module: module, entryPoint: view("main")},
		})
	})
	if err != nil || handle == 0 {
		release(d.api, fnComputePipelineRelease, handle)
		return 0, orNone(err, k.Name)
	}
	return handle, nil
}

func noKernel() error { return &plan.PlanError{Subject: "kernel", Detail: "there is none"} }

// module has the library's compiler read a kernel's text. What is not UTF-8 never gets there: naga ends the process when it
// reports an error in such a text.
func (d *Device) module(name, text string, trusted bool) (shaderModule, error) {
	if valid := strings.ToValidUTF8(text, ""); len(valid) != len(text) {
		at := 0
		for at < len(valid) && valid[at] == text[at] {
			at++
		}
		line := 1 + strings.Count(text[:at], "\n")
		return 0, &plan.KernelError{Kernel: name, Detail: "its text is not UTF-8 at byte " + utoa(uint64(at)) + ", line " + utoa(uint64(line))}
	}
	if d.api.flavour.naga {
		text = plan.Naga(text)
	}
	desc := &shaderModuleDescriptor{
		next:  &sourceWGSL{chain: chain{sType: typeSourceWGSL}, code: view(text)},
		label: label(name),
	}
	var handle shaderModule
	err := d.kernelScope(name, func() {
		if trusted && d.api.flavour.trusted != nil {
			handle = d.api.flavour.trusted(d.api, d.device, desc)
		} else {
			handle = d.api.createShaderModule(d.device, desc)
		}
	})
	if err != nil || handle == 0 {
		release(d.api, fnShaderModuleRelease, handle)
		return 0, orNone(err, name)
	}
	return handle, nil
}

// kernelScope is scoped for a kernel: what is wrong with it becomes a KernelError with all lines of the message.
func (d *Device) kernelScope(kernel string, f func()) error {
	e := d.capture(f)
	if e.kind == 0 {
		return nil
	}
	if err := d.failure("compile kernel "+kernel, e); err.Fault != plan.Failed {
		return err
	}
	return &plan.KernelError{Kernel: kernel, Detail: strings.TrimSpace(e.text)}
}

func orNone(err error, kernel string) error {
	if err == nil {
		return &plan.KernelError{Kernel: kernel, Detail: "the library made no pipeline"}
	}
	return err
}

// NewGroup makes a bind group for kernels whose accesses are layout.
func (d *Device) NewGroup(accesses []plan.Access, ranges []plan.Range) (h plan.Handle, err error) {
	err = d.do("create a bind group", func() error {
		bindings := make([]plan.Binding, len(accesses))
		for i, a := range accesses {
			bindings[i].Access = a
		}
		if err := plan.CheckRanges("bind group "+utoa(uint64(len(d.groups))), bindings, ranges, d.sizes, d.info.Limits); err != nil {
			return err
		}
		g, err := d.createGroup(accesses, ranges)
		if err != nil {
			return err
		}
		h = plan.Handle(len(d.groups))
		d.groups = append(d.groups, g)
		return nil
	})
	return h, err
}

func (d *Device) createGroup(accesses []plan.Access, ranges []plan.Range) (groupObject, error) {
	layout, err := d.layout(accesses)
	if err != nil {
		return groupObject{}, err
	}
	entries := make([]bindGroupEntry, len(ranges))
	for i, r := range ranges {
		entries[i] = bindGroupEntry{binding: uint32(i), buffer: d.buffers[r.Buffer].handle, offset: r.Offset, size: r.Bytes}
	}
	g := groupObject{layout: layout}
	call := "create bind group " + utoa(uint64(len(d.groups)))
	err = d.scoped(call, func() {
		g.handle = d.api.createBindGroup(d.device, &bindGroupDescriptor{
			label: view(""), layout: d.layouts[layout].group, entryCount: uintptr(len(entries)), entries: unsafe.SliceData(entries),
		})
	})
	if err == nil && g.handle == 0 {
		err = &plan.DeviceError{Fault: plan.Failed, Call: call, Detail: "the library made none"}
	}
	if err != nil {
		release(d.api, fnBindGroupRelease, g.handle)
		return groupObject{}, err
	}
	return g, nil
}
