package sim

import (
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// bind finds the memory of each binding that the program uses.
func (d *dispatch) bind(bindings []Binding) error {
	d.bound = make([]bound, len(d.program.bindings))
	for i, b := range bindings {
		if err := checkBinding(b); err != nil {
			return err
		}
		if slices.ContainsFunc(bindings[:i], func(o Binding) bool { return o.Group == b.Group && o.Binding == b.Binding }) {
			return &plan.PlanError{Subject: "binding " + decimal(int64(b.Binding)), Detail: "it is given twice"}
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
	for i := range p.bindings {
		if p.bindings[i].Access == plan.Uniform {
			uniform++
		} else {
			storage++
		}
		d.bindingLimits(&p.bindings[i], &d.bound[i], l)
	}
	of := func(n int) uint64 { return uint64(n) }
	main := subject{p.entry.Name, p.entry.Pos}
	d.exceeds(main, plan.LimitStorageBuffers, of(storage), of(l.StorageBuffers))
	d.exceeds(main, plan.LimitUniformBuffers, of(uniform), of(l.UniformBuffers))
	d.exceeds(main, plan.LimitWorkgroupBytes, of(p.WorkgroupBytes()), of(l.WorkgroupBytes))
	d.exceeds(main, plan.LimitInvocations, of(p.invocations), of(l.Invocations))
	for i, limit := range []struct {
		name string
		have int
	}{{plan.LimitWorkgroupX, l.WorkgroupX}, {plan.LimitWorkgroupY, l.WorkgroupY}, {plan.LimitWorkgroupZ, l.WorkgroupZ}} {
		d.exceeds(main, limit.name, of(p.size[i]), of(limit.have))
		d.exceeds(main, plan.LimitWorkgroups, of(d.grid[i]), of(l.Workgroups))
	}
	d.exceeds(main, "bytes of private variables", of(p.private), variableBytes)
	if f := p.function; f.of != nil {
		d.exceeds(subject{f.of.Name, f.of.Pos}, "bytes of a function's variables", of(f.bytes), variableBytes)
	}
}

// What WebGPU grants by default of groups and of the numbers of bindings, and what compilers take at least of private variables and of the
// variables of a function: WGSL, "Limits".
const (
	bindGroups    = 4
	groupBindings = 1000
	variableBytes = 8192
)

// bindingLimits is limits for one binding.
func (d *dispatch) bindingLimits(v *Declared, b *bound, l plan.Limits) {
	at := subject{v.Name, v.symbol.Pos}
	bytes, offset, alignment := uint64(len(b.words))*4, uint64(b.base)*4, uint64(l.OffsetAlignment)
	d.exceeds(at, "maxBindGroups", uint64(v.Group+1), bindGroups)
	d.exceeds(at, "maxBindingsPerBindGroup", uint64(v.Binding+1), groupBindings)
	d.exceeds(at, plan.LimitBufferBytes, b.buffer.Size(), l.BufferBytes)
	if v.Access == plan.Uniform {
		d.exceeds(at, plan.LimitUniformBytes, bytes, l.UniformBytes)
	} else {
		d.exceeds(at, plan.LimitBindingBytes, bytes, l.BindingBytes)
	}
	if offset%alignment != 0 {
		d.limit(at, plan.LimitOffsetAlignment+": the offset "+decimal(int64(offset))+" is no multiple of "+decimal(int64(alignment)))
	}
}

// subject is what exceeds a limit, and where it is declared.
type subject struct {
	name string
	pos  wgsl.Pos
}

func (d *dispatch) exceeds(s subject, limit string, need, have uint64) {
	if need > have {
		d.limit(s, limit+": "+decimal(int64(need))+" needed, "+decimal(int64(have))+" granted")
	}
}

func (d *dispatch) limit(s subject, detail string) {
	d.merge.findings.add(Finding{
		Kind: Limit, Kernel: d.kernel, File: s.pos.File, Line: s.pos.Line, Column: s.pos.Column, Variable: s.name, Index: -1, Detail: detail,
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
