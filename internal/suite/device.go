package suite

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// device is a backend with what was made on it.
type device struct {
	plan.Backend
	pipelines map[string]plan.Handle
	free      map[freeKey][]plan.Handle              // buffers that no work uses any more
	ran       map[string]bool                        // texts
	describe  func(record []uint32, uses []plan.Use) // tells the simulator which operands a dispatch has; nil for a device
}

// freeKey is what a buffer was made for: its number in a kernel, and its size.
type freeKey struct {
	number int
	size   uint64
}

func newDevice(b plan.Backend) *device {
	return &device{Backend: b, pipelines: map[string]plan.Handle{}, free: map[freeKey][]plan.Handle{}, ran: map[string]bool{}}
}

// dispatch runs a kernel once on buffers of the given contents, and returns the contents after of those that are known whole or
// that the kernel may write to.
func (d *device) dispatch(ctx context.Context, k *Kernel, before map[int]image, unchecked bool) (map[int]image, error) {
	handles := map[int]plan.Handle{}
	var work plan.Work
	var order []int
	for _, number := range slices.Sorted(maps.Keys(before)) {
		im := before[number]
		h, err := d.buffer(number, im)
		if err != nil {
			return nil, err
		}
		handles[number] = h
		if im.size > large && !k.writes(number) {
			continue
		}
		order = append(order, number)
		for _, p := range im.parts {
			work.Reads = append(work.Reads, plan.Range{Buffer: int(h), Offset: p.Offset, Bytes: uint64(len(p.Data))})
		}
	}
	record, err := d.record(k, before, handles, unchecked)
	if err != nil {
		return nil, err
	}
	if d.describe != nil {
		d.describe(record, k.uses(handles))
	}
	work.Replays = [][]uint32{record}
	ticket, err := d.Submit(work)
	if err != nil {
		return nil, err
	}
	data, err := d.Wait(ctx, ticket)
	if err != nil {
		return nil, err
	}
	after := map[int]image{}
	for _, number := range order {
		im := image{size: before[number].size}
		for _, p := range before[number].parts {
			im.parts = append(im.parts, Part{p.Offset, data[:len(p.Data)]})
			data = data[len(p.Data):]
		}
		after[number] = im
	}
	for number, h := range handles {
		key := freeKey{number, before[number].size}
		d.free[key] = append(d.free[key], h)
	}
	return after, nil
}

// record binds the buffers: as a plan has it, or when unchecked from each range to the end of its buffer.
func (d *device) record(k *Kernel, before map[int]image, handles map[int]plan.Handle, unchecked bool) ([]uint32, error) {
	ranges := slices.Clone(k.Ranges)
	for i := range ranges {
		r := &ranges[i]
		if unchecked {
			r.Bytes = before[r.Buffer].size - r.Offset
		}
		r.Buffer = int(handles[r.Buffer])
	}
	pipeline, err := d.pipeline(k, unchecked)
	if err != nil {
		return nil, err
	}
	group, err := d.NewGroup(k.Plan.Accesses(), ranges)
	if err != nil {
		return nil, err
	}
	return []uint32{uint32(pipeline), uint32(group), uint32(k.Grid[0]), uint32(k.Grid[1]), uint32(k.Grid[2])}, nil
}

// uses lists what the operands are to the simulator: what is written may have been read before.
func (k *Kernel) uses(handles map[int]plan.Handle) []plan.Use {
	var all []plan.Use
	for _, o := range k.Operands {
		u := plan.Use{Tensor: o.Name, Range: o.Place, Access: plan.Read}
		u.Range.Buffer = int(handles[o.Place.Buffer])
		all = append(all, u)
		if o.Access == plan.ReadWrite {
			u.Access = plan.ReadWrite
			all = append(all, u)
		}
	}
	return all
}

func (k *Kernel) writes(buffer int) bool {
	for _, o := range k.Operands {
		if o.Place.Buffer == buffer && o.Access == plan.ReadWrite {
			return true
		}
	}
	return false
}

// buffer takes a buffer that is free, or makes one, and writes the contents.
func (d *device) buffer(number int, im image) (plan.Handle, error) {
	var h plan.Handle
	var err error
	key := freeKey{number, im.size}
	if free := d.free[key]; len(free) > 0 {
		h, d.free[key] = free[len(free)-1], free[:len(free)-1]
	} else {
		h, err = d.NewBuffer(plan.Buffer{Name: fmt.Sprint("b", number), Kind: plan.OutputBuffer, Bytes: im.size})
	}
	for _, p := range im.parts {
		err = cmp.Or(err, d.Write(h, p.Offset, p.Data))
	}
	return h, err
}

// pipeline compiles a text once.
func (d *device) pipeline(k *Kernel, unchecked bool) (plan.Handle, error) {
	key := fmt.Sprint(unchecked, k.Plan.Text)
	if h, made := d.pipelines[key]; made {
		return h, nil
	}
	compiled := k.Plan
	compiled.Proved = unchecked
	h, err := d.NewPipeline(&compiled, unchecked)
	if err == nil {
		d.pipelines[key] = h
	}
	return h, err
}
