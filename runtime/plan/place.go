package plan

// Place returns room for bytes, rounded up to 4, in the buffer of a kind that is being filled, or in a new one when it has
// no room left; the second buffer of a kind is called kind1. The range starts at a multiple of RangeAlignment. The same
// calls in the same order give the same ranges. Subject is what errors name: a range must fit one binding.
//
// Ranges of a KVBuffer are keys and values in turn, of one size. Those of a layer lie in one buffer where it has room for both, so
// that devices with few bindings can have them as one.
func (b *Builder) Place(kind BufferKind, subject string, bytes uint64) Range {
	room := bytes
	if kind == KVBuffer {
		if b.halves%2 == 0 {
			room = sideBySide(bytes, bytes)
		}
		b.halves++
	}
	return b.place(kind, subject, bytes, room)
}

// sideBySide is the room that ranges of the given bytes take in one buffer.
func sideBySide(sizes ...uint64) (end uint64) {
	for _, bytes := range sizes {
		end = aligned(end) + bytes
	}
	return end
}

func aligned(offset uint64) uint64 {
	return (offset + RangeAlignment - 1) / RangeAlignment * RangeAlignment
}

// place is Place that begins a new buffer also where the one being filled has too little room for what follows too, if a new one has
// enough.
func (b *Builder) place(kind BufferKind, subject string, bytes, room uint64) Range {
	bytes = (bytes + 3) &^ 3
	if room = (room + 3) &^ 3; room > b.limits.BufferBytes {
		room = bytes
	}
	switch {
	case bytes == 0:
		b.mistake(subject, "it has no bytes")
		return Range{}
	case bytes > b.limits.BindingBytes:
		b.fail(&LimitError{Subject: subject, Limit: LimitBindingBytes, Need: bytes, Have: b.limits.BindingBytes})
		return Range{}
	}
	number, last := 0, -1
	for i, u := range b.plan.Buffers {
		if u.Kind == kind {
			number, last = number+1, i
		}
	}
	// Outputs are alone in their buffers: a kernel may read one and write another.
	if last >= 0 && kind != OutputBuffer {
		offset := aligned(b.sizes[last])
		if offset+room <= b.limits.BufferBytes {
			b.sizes[last] = offset + bytes
			b.plan.Buffers[last].Bytes = offset + bytes
			return Range{Buffer: last, Offset: offset, Bytes: bytes}
		}
	}
	if bytes > b.limits.BufferBytes {
		b.fail(&LimitError{Subject: subject, Limit: LimitBufferBytes, Need: bytes, Have: b.limits.BufferBytes})
		return Range{}
	}
	name := kind.String()
	if number > 0 {
		name += itoa(number)
	}
	return Range{Buffer: b.Buffer(Buffer{Name: name, Kind: kind, Bytes: bytes}), Bytes: bytes}
}

// Rows names rows of a tensor of the model file: all, or some where the tensor is cut so that each part fits one binding.
type Rows struct {
	Tensor string
	Rows   int
	From   int // the first of them
}

// Stack places tensors one after another in the planes of their format, so that a kernel reads them as one matrix, and
// returns the range of each plane. Format is their recipe but for Rows and the planes' To. Where a tensor ends within a word
// of a plane none can follow it. The planes lie in one buffer where it has room for all of them, as keys and values do.
func (b *Builder) Stack(format Recipe, tensors ...Rows) []Range {
	rows := 0
	for _, t := range tensors {
		rows += t.Rows
	}
	if len(tensors) == 0 || rows <= 0 {
		b.mistake("stack of "+format.Type, "it has no rows")
		return make([]Range, len(format.Planes))
	}
	var sizes []uint64
	for _, p := range format.Planes {
		sizes = append(sizes, uint64(p.RowStride)*uint64(rows))
	}
	var places []Range
	for i, bytes := range sizes {
		places = append(places, b.place(WeightsBuffer, "weight "+tensors[0].Tensor, bytes, sideBySide(sizes[i:]...)))
	}
	first := 0
	for _, t := range tensors {
		r := format
		r.Rows, r.Planes = t.Rows, nil
		for i, p := range format.Planes {
			p.To = places[i]
			p.To.Offset += uint64(first) * uint64(p.RowStride)
			p.To.Bytes = (uint64(t.Rows)*uint64(p.RowStride) + 3) &^ 3
			r.Planes = append(r.Planes, p)
		}
		b.Weight(Weight{Tensor: t.Tensor, From: t.From, Recipe: r})
		first += t.Rows
	}
	return places
}

// Err returns the first mistake made so far.
func (b *Builder) Err() error { return b.err }

// Part returns the range of some bytes of r from offset on.
func (r Range) Part(offset, bytes uint64) Range {
	return Range{Buffer: r.Buffer, Offset: r.Offset + offset, Bytes: bytes}
}
