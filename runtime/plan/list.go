package plan

import "slices"

// ListBuilder adds dispatches to one list of a plan.
type ListBuilder struct {
	builder *Builder
	list    List
}

// List starts the list of a phase that feeds so many tokens of a sequence at once.
func (b *Builder) List(phase Phase, columns int) *ListBuilder {
	l := &ListBuilder{builder: b, list: List{Phase: phase, Columns: columns}}
	if phase < Prefill || phase > Forward || columns < 1 {
		b.mistake(l.subject(), "it needs a phase and at least one column")
	}
	b.lists = append(b.lists, l)
	return l
}

// Dispatch adds one run of a kernel over a grid of x by y by z workgroups, with a range for each of its bindings, in order.
func (l *ListBuilder) Dispatch(kernel int, x, y, z int, ranges ...Range) {
	b := l.builder
	if b.err != nil {
		return
	}
	subject := l.subject() + ", dispatch " + itoa(len(l.list.Records)/RecordWords)
	if kernel < 0 || kernel >= len(b.plan.Kernels) {
		b.mistake(subject, "there is no kernel "+itoa(kernel))
		return
	}
	k := &b.plan.Kernels[kernel]
	subject += ", kernel " + k.Name
	if err := CheckGrid(subject, x, y, z, b.limits); err != nil {
		b.fail(err)
		return
	}
	if err := CheckRanges(subject, k.Bindings, ranges, b.sizes, b.limits); err != nil {
		b.fail(err)
		return
	}
	l.list.Records = append(l.list.Records, uint32(kernel), b.group(k, ranges), uint32(x), uint32(y), uint32(z))
}

// Lists are lists that get the same dispatches.
type Lists []*ListBuilder

// Dispatch adds one run of a kernel to each list, see ListBuilder.Dispatch.
func (ls Lists) Dispatch(kernel int, x, y, z int, ranges ...Range) {
	for _, l := range ls {
		l.Dispatch(kernel, x, y, z, ranges...)
	}
}

// CheckGrid returns why a grid of x by y by z workgroups can't be dispatched, or nil.
func CheckGrid(subject string, x, y, z int, l Limits) error {
	if x < 1 || y < 1 || z < 1 {
		return &PlanError{Subject: subject, Detail: "its grid is " + sizes(x, y, z)}
	}
	if most := l.WithDefaults().Workgroups; max(x, y, z) > most {
		return &LimitError{Subject: subject, Limit: LimitWorkgroups, Need: uint64(max(x, y, z)), Have: uint64(most)}
	}
	return nil
}

// group returns the number of the group that binds ranges in the kernel's layout.
func (b *Builder) group(k *Kernel, ranges []Range) uint32 {
	key := make([]byte, 0, 32*len(ranges))
	for i, r := range ranges {
		key = append(key, byte(k.Bindings[i].Access))
		for _, v := range [3]uint64{uint64(r.Buffer), r.Offset, r.Bytes} {
			for shift := 0; shift < 64; shift += 8 {
				key = append(key, byte(v>>shift))
			}
		}
	}
	n, ok := b.groups[string(key)]
	if !ok {
		n = uint32(len(b.plan.Groups))
		b.plan.Groups = append(b.plan.Groups, Group{Layout: k.Accesses(), Ranges: slices.Clone(ranges)})
		b.groups[string(key)] = n
	}
	return n
}

func (l *ListBuilder) subject() string {
	return "list " + l.list.Phase.String() + " of " + itoa(l.list.Columns) + " columns"
}
