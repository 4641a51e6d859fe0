package sim

import (
	"slices"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// described is a list whose operands are known: segments of each buffer for each dispatch.
type described struct {
	records  []uint32
	segments []map[int][]segment // by buffer
}

// Describe tells the device of a plan whose lists it will replay: which operands lie where, so that reads of what another tensor
// overwrote are found, and accesses beyond an operand within a wider binding. uses[i][j] is of dispatch j of list i, as
// codegen.Result.Uses has them. Lists are known by their records, and the device's buffers must be those of the plan, in its order.
func (d *Device) Describe(p *plan.Plan, uses [][][]Use) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	numbers := map[string]uint32{}
	d.tensors = []string{""}
	id := func(name string) uint32 {
		n, ok := numbers[name]
		if !ok {
			n = uint32(len(d.tensors))
			numbers[name] = n
			d.tensors = append(d.tensors, name)
		}
		return n
	}
	d.described = nil
	for i, list := range p.Lists {
		known := described{records: list.Records}
		for _, dispatch := range uses[i] {
			known.segments = append(known.segments, segmentsOf(dispatch, id))
		}
		d.described = append(d.described, known)
	}
}

// segmentsOf sorts the operands of a dispatch by buffer. Operands of the same words, such as a value that is updated in place, are one.
func segmentsOf(uses []Use, id func(string) uint32) map[int][]segment {
	out := map[int][]segment{}
	for _, u := range uses {
		from, to := int(u.Range.Offset/4), int((u.Range.Offset+u.Range.Bytes+3)/4)
		list := out[u.Range.Buffer]
		n := slices.IndexFunc(list, func(o segment) bool { return o.from == from && o.to == to })
		if n < 0 {
			n = len(list)
			list = append(list, segment{from: from, to: to})
			out[u.Range.Buffer] = list
		}
		if u.Access == plan.ReadWrite {
			list[n].write = id(u.Tensor)
		} else {
			list[n].reads = append(list[n].reads, id(u.Tensor))
		}
	}
	return out
}

// knows returns what was told of a list, and makes the memory of activations one that nobody wrote: none outlives a replay.
func (d *Device) knows(records []uint32) *described {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for i := range d.described {
		if !slices.Equal(d.described[i].records, records) {
			continue
		}
		for n, b := range d.buffers {
			if d.kinds[n] != plan.ArenaBuffer {
				continue
			}
			if b.stamps == nil {
				b.stamps = make([]uint32, len(b.words))
			}
			clear(b.stamps)
		}
		return &d.described[i]
	}
	return nil
}

// tell gives a dispatch what is known of its operands.
func (d *Device) tell(run *dispatch, told *described, n int) {
	if told == nil || n >= len(told.segments) {
		return
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	run.tensors = d.tensors
	for i := range run.bound {
		b := &run.bound[i]
		number := slices.Index(d.buffers, b.buffer)
		b.segments = told.segments[n][number]
		if b.segments == nil || b.buffer.stamps == nil && b.covered() {
			b.segments = nil // nothing to judge
		} else {
			b.plain = false
		}
	}
}

// covered reports whether one operand has all of the binding.
func (b *bound) covered() bool {
	for _, s := range b.segments {
		if s.from <= b.base && s.to >= b.base+len(b.words) && (s.write != 0) == b.writable {
			return true
		}
	}
	return false
}
