package sim

import "github.com/kgen-wgsl/kgen/runtime/plan"

// bind finds the memory of each binding that the program uses.
func (d *dispatch) bind(bindings []Binding) error {
	d.bound = make([]bound, len(d.program.bindings))
	for _, b := range bindings {
		if err := checkBinding(b); err != nil {
			return err
		}
	}
	for i, want := range d.program.bindings {
		found := false
		for _, b := range bindings {
			if b.Group != want.Group || b.Binding != want.Binding {
				continue
			}
			if b.Bytes < want.Bytes {
				return &plan.PlanError{Subject: "binding " + want.Name, Detail: decimal(int64(b.Bytes)) + " bytes are bound, the text asks for " + decimal(int64(want.Bytes))}
			}
			found = true
			d.bound[i] = bound{
				name: want.Name, buffer: b.Buffer, base: int(b.Offset / 4), words: b.Buffer.words[b.Offset/4:][:b.Bytes/4],
				writable: want.Access == plan.ReadWrite,
			}
			d.bound[i].plain = want.Access != plan.ReadWrite && b.Buffer.written == nil
		}
		if !found {
			return &plan.PlanError{Subject: "binding " + want.Name, Detail: "nothing is bound to binding " + decimal(int64(want.Binding)) + " of group " + decimal(int64(want.Group))}
		}
	}
	return nil
}

func checkBinding(b Binding) error {
	subject := "binding " + decimal(int64(b.Binding))
	switch {
	case b.Buffer == nil:
		return &plan.PlanError{Subject: subject, Detail: "it has no buffer"}
	case b.Offset%4 != 0 || b.Bytes%4 != 0:
		return &plan.PlanError{Subject: subject, Detail: "offset and length must be multiples of 4"}
	case b.Offset > b.Buffer.Size() || b.Bytes > b.Buffer.Size()-b.Offset:
		return &plan.PlanError{Subject: subject, Detail: "the range ends beyond the buffer's " + decimal(int64(b.Buffer.Size())) + " bytes"}
	}
	return nil
}

// limits reports what is more than the device grants.
func (d *dispatch) limits() {
	p, l := d.program, d.options.Limits.WithDefaults()
	storage, uniform := 0, 0
	of := func(n int) uint64 { return uint64(n) }
	for i, b := range p.bindings {
		bytes, offset := uint64(len(d.bound[i].words))*4, uint64(d.bound[i].base)*4
		d.exceeds(b.Name, "maxBindGroups", of(b.Group+1), 4)
		d.exceeds(b.Name, "maxBindingsPerBindGroup", of(b.Binding+1), 1000)
		d.exceeds(b.Name, plan.LimitBufferBytes, d.bound[i].buffer.Size(), l.BufferBytes)
		if offset%of(l.OffsetAlignment) != 0 {
			d.limit(b.Name, plan.LimitOffsetAlignment+": the offset "+decimal(int64(offset))+" is no multiple of "+decimal(int64(l.OffsetAlignment)))
		}
		if b.Access == plan.Uniform {
			uniform++
			d.exceeds(b.Name, plan.LimitUniformBytes, bytes, l.UniformBytes)
		} else {
			storage++
			d.exceeds(b.Name, plan.LimitBindingBytes, bytes, l.BindingBytes)
		}
	}
	name := p.entry.Name
	d.exceeds(name, "bytes of private variables", of(p.private), variableBytes)
	if f := p.function; f.of != nil {
		d.exceeds(f.of.Name, "bytes of a function's variables", of(f.bytes), variableBytes)
	}
	d.exceeds(name, plan.LimitStorageBuffers, of(storage), of(l.StorageBuffers))
	d.exceeds(name, plan.LimitUniformBuffers, of(uniform), of(l.UniformBuffers))
	d.exceeds(name, plan.LimitWorkgroupBytes, of(p.WorkgroupBytes()), of(l.WorkgroupBytes))
	d.exceeds(name, plan.LimitInvocations, of(p.invocations), of(l.Invocations))
	for i, limit := range []struct {
		name string
		have int
	}{{plan.LimitWorkgroupX, l.WorkgroupX}, {plan.LimitWorkgroupY, l.WorkgroupY}, {plan.LimitWorkgroupZ, l.WorkgroupZ}} {
		d.exceeds(name, limit.name, of(p.size[i]), of(limit.have))
		d.exceeds(name, plan.LimitWorkgroups, of(d.grid[i]), of(l.Workgroups))
	}
}

// variableBytes is what compilers take at least of private variables, and of the variables of a function: WGSL, "Limits".
const variableBytes = 8192

func (d *dispatch) exceeds(subject, limit string, need, have uint64) {
	if need > have {
		d.limit(subject, limit+": "+decimal(int64(need))+" needed, "+decimal(int64(have))+" granted")
	}
}

func (d *dispatch) limit(subject, detail string) {
	at := d.program.entry.Pos
	d.merge.findings.add(Finding{
		Kind: Limit, Kernel: d.kernel, File: at.File, Line: at.Line, Column: at.Column, Variable: subject, Index: -1, Detail: detail,
	})
}

// aliases reports buffers that are bound to be written and by another binding too. WebGPU refuses any second use of a buffer that is
// written, but for ranges that are written and don't overlap.
func (d *dispatch) aliases(bindings []Binding) {
	for i := range d.bound {
		for j := range d.bound[:i] {
			a, b := &d.bound[i], &d.bound[j]
			apart := a.base+len(a.words) <= b.base || b.base+len(b.words) <= a.base
			if a.buffer != b.buffer || !a.writable && !b.writable || a.writable && b.writable && apart {
				continue
			}
			at := d.program.bindings[i].symbol.Pos
			d.merge.findings.add(Finding{
				Kind: Alias, Kernel: d.kernel, File: at.File, Line: at.Line, Column: at.Column, Variable: a.name, Index: -1,
				Detail: "it has the buffer of " + b.name + ", and one of them is written",
			})
		}
	}
}
