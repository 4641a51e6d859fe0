package plan

import (
	"math/bits"
	"strconv"
)

// Check returns the first limit of l that the kernel exceeds or rule that it breaks, or nil. Zero fields of l stand for
// WebGPU's defaults. It doesn't read the text.
func (k *Kernel) Check(l Limits) error {
	l = l.WithDefaults()
	subject := "kernel " + k.Name
	switch {
	case k.Name == "":
		return &PlanError{Subject: "kernel", Detail: "it has no name"}
	case k.Text == "":
		return &PlanError{Subject: subject, Detail: "it has no text"}
	case k.WorkgroupBytes < 0:
		return &PlanError{Subject: subject, Detail: "its workgroup memory is negative"}
	}
	if err := k.checkWorkgroup(subject, l); err != nil {
		return err
	}
	if err := k.checkBindings(subject, l); err != nil {
		return err
	}
	if k.WorkgroupBytes > l.WorkgroupBytes {
		return &LimitError{Subject: subject, Limit: LimitWorkgroupBytes, Need: uint64(k.WorkgroupBytes), Have: uint64(l.WorkgroupBytes)}
	}
	return nil
}

func (k *Kernel) checkWorkgroup(subject string, l Limits) error {
	names := [3]string{LimitWorkgroupX, LimitWorkgroupY, LimitWorkgroupZ}
	most := [3]int{l.WorkgroupX, l.WorkgroupY, l.WorkgroupZ}
	invocations := uint64(1)
	for i, n := range k.Workgroup {
		if n < 1 {
			return &PlanError{Subject: subject, Detail: "its workgroup is " + sizes(k.Workgroup[0], k.Workgroup[1], k.Workgroup[2])}
		}
		if n > most[i] {
			return &LimitError{Subject: subject, Limit: names[i], Need: uint64(n), Have: uint64(most[i])}
		}
		invocations *= uint64(n)
	}
	if invocations > uint64(l.Invocations) {
		return &LimitError{Subject: subject, Limit: LimitInvocations, Need: invocations, Have: uint64(l.Invocations)}
	}
	return nil
}

func (k *Kernel) checkBindings(subject string, l Limits) error {
	storage, uniform := 0, 0
	for _, b := range k.Bindings {
		at := subject + ", binding " + b.Name
		limit, most := LimitBindingBytes, l.BindingBytes
		switch b.Access {
		case Uniform:
			uniform++
			limit, most = LimitUniformBytes, l.UniformBytes
		case Read, ReadWrite:
			storage++
		default:
			return &PlanError{Subject: at, Detail: "its access is unknown"}
		}
		if b.Name == "" || b.Bytes == 0 {
			return &PlanError{Subject: at, Detail: "a binding needs a name and a size"}
		}
		if b.Bytes > most {
			return &LimitError{Subject: at, Limit: limit, Need: b.Bytes, Have: most}
		}
	}
	if storage > l.StorageBuffers {
		return &LimitError{Subject: subject, Limit: LimitStorageBuffers, Need: uint64(storage), Have: uint64(l.StorageBuffers)}
	}
	if uniform > l.UniformBuffers {
		return &LimitError{Subject: subject, Limit: LimitUniformBuffers, Need: uint64(uniform), Have: uint64(l.UniformBuffers)}
	}
	return nil
}

// Accesses returns the accesses of the kernel's bindings, which are the layout of its groups.
func (k *Kernel) Accesses() []Access {
	layout := make([]Access, len(k.Bindings))
	for i, b := range k.Bindings {
		layout[i] = b.Access
	}
	return layout
}

// checkFrom returns why a tensor of a file can't have the rows, or "". The recipe must have passed Check. How many rows the
// tensor has is for the source of weights to say.
func (w *Weight) checkFrom() string {
	if w.From < 0 {
		return "its first row, " + itoa(w.From) + ", is negative"
	}
	if hi, lo := bits.Mul64(uint64(w.From)+uint64(w.Recipe.Rows), uint64(w.Recipe.RowBytes())); hi != 0 || lo > 1<<48 {
		return "its first row, " + itoa(w.From) + ", lies beyond any file"
	}
	return ""
}

// Overlaps says whether two ranges share a byte.
func (r Range) Overlaps(o Range) bool {
	return r.Buffer == o.Buffer && r.Offset < o.Offset+o.Bytes && o.Offset < r.Offset+r.Bytes
}

// inside returns why r is not a part of a buffer of the given size, or "".
func (r Range) inside(bytes uint64) string {
	switch {
	case r.Bytes == 0 || r.Bytes%4 != 0:
		return "its range of " + utoa(r.Bytes) + " bytes is not a positive multiple of 4"
	case r.Offset%4 != 0:
		return "its offset " + utoa(r.Offset) + " is not a multiple of 4"
	case r.Bytes > bytes || r.Offset > bytes-r.Bytes:
		return "its range of " + utoa(r.Bytes) + " bytes at " + utoa(r.Offset) + " leaves the buffer of " + utoa(bytes)
	}
	return ""
}

// CheckRanges returns why the ranges can't be bound in one dispatch of a kernel with these bindings, or nil. Sizes are
// those of the buffers by number, or handle; limits that are zero stand for WebGPU's defaults. A binding's Bytes may be
// zero where the size of the text's array is not known.
//
// Within one dispatch a buffer is bound either only to be read, and uniform counts as that, or only as read_write, and
// then by ranges that share no byte.
func CheckRanges(subject string, bindings []Binding, ranges []Range, sizes []uint64, l Limits) error {
	l = l.WithDefaults()
	if len(ranges) != len(bindings) {
		return &PlanError{Subject: subject, Detail: itoa(len(bindings)) + " bindings and " + itoa(len(ranges)) + " ranges"}
	}
	for i, r := range ranges {
		if err := checkRange(subject+", binding "+bindingName(bindings, i), bindings[i], r, sizes, l); err != nil {
			return err
		}
		for j, o := range ranges[:i] {
			if why := clash(bindings[j].Access, bindings[i].Access, o, r); why != "" {
				return &PlanError{Subject: subject + ", bindings " + bindingName(bindings, j) + " and " + bindingName(bindings, i), Detail: why}
			}
		}
	}
	return nil
}

func checkRange(at string, b Binding, r Range, sizes []uint64, l Limits) error {
	if r.Buffer < 0 || r.Buffer >= len(sizes) {
		return &PlanError{Subject: at, Detail: "there is no buffer " + itoa(r.Buffer)}
	}
	if why := r.inside(sizes[r.Buffer]); why != "" {
		return &PlanError{Subject: at, Detail: why}
	}
	if align := uint64(max(l.OffsetAlignment, RangeAlignment)); r.Offset%align != 0 {
		return &PlanError{Subject: at, Detail: "its offset " + utoa(r.Offset) + " is not a multiple of " + utoa(align)}
	}
	if r.Bytes < b.Bytes {
		return &PlanError{Subject: at, Detail: "it needs " + utoa(b.Bytes) + " bytes, its range has " + utoa(r.Bytes)}
	}
	limit, most := LimitBindingBytes, l.BindingBytes
	if b.Access == Uniform {
		limit, most = LimitUniformBytes, l.UniformBytes
	}
	if r.Bytes > most {
		return &LimitError{Subject: at, Limit: limit, Need: r.Bytes, Have: most}
	}
	return nil
}

// clash returns why two ranges can't be bound together, or "".
func clash(a, b Access, r, o Range) string {
	switch {
	case r.Buffer != o.Buffer || a != ReadWrite && b != ReadWrite:
		return ""
	case a != b:
		return "they bind one buffer to be read and to be written"
	case r.Overlaps(o):
		return "they are written and overlap"
	}
	return ""
}

func bindingName(bindings []Binding, i int) string {
	if bindings[i].Name != "" {
		return bindings[i].Name
	}
	return itoa(i)
}

func itoa(n int) string    { return strconv.Itoa(n) }
func utoa(n uint64) string { return strconv.FormatUint(n, 10) }

func sizes(x, y, z int) string { return itoa(x) + "x" + itoa(y) + "x" + itoa(z) }
