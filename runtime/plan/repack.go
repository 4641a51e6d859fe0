package plan

import (
	"math/bits"
	"slices"
)

// RowBytes returns the length of a row in the file.
func (r *Recipe) RowBytes() int { return r.RowBlocks * r.BlockBytes }

// RowGroup returns the number of rows, 1, 2 or 4, whose multiples start at a multiple of 4 bytes in every plane. A weight
// is streamed in chunks of such multiples, because writes to a device are 4-byte aligned.
func (r *Recipe) RowGroup() int {
	group := 1
	for _, p := range r.Planes {
		group = max(group, 4>>min(2, bits.TrailingZeros(uint(p.RowStride)|4)))
	}
	return group
}

// Span returns where in a plane the given rows go: an offset from the start of the plane's range and a length, both
// multiples of 4 when firstRow and rows are multiples of RowGroup or reach the last row.
func (r *Recipe) Span(plane, firstRow, rows int) (offset, bytes uint64) {
	p := &r.Planes[plane]
	offset = uint64(firstRow) * uint64(p.RowStride)
	if firstRow+rows == r.Rows {
		return offset, r.planeBytes(p) - offset
	}
	return offset, uint64(rows) * uint64(p.RowStride)
}

// planeBytes returns the bytes that all rows take, with the last one rounded up to 4.
func (r *Recipe) planeBytes(p *Plane) uint64 {
	last := (uint64(r.RowBlocks)*uint64(p.BlockBits) + 7) / 8
	return (uint64(r.Rows-1)*uint64(p.RowStride) + last + 3) &^ 3
}

// Check returns a *PlanError unless every bit of a block goes to exactly one place, no place is used twice, and the
// planes' ranges hold their rows and do not overlap. Bits of a plane that no field fills are zero.
func (r *Recipe) Check() error {
	wrong := func(detail string) error { return &PlanError{Subject: "recipe of " + r.Type, Detail: detail} }
	if r.Rows < 1 || r.RowBlocks < 1 || r.BlockBytes < 1 || len(r.Planes) == 0 {
		return wrong("it needs rows, blocks and planes")
	}
	if hi, lo := bits.Mul64(uint64(r.RowBlocks), uint64(r.BlockBytes)*8); hi != 0 || lo > 1<<48 {
		return wrong("its rows are too long")
	}
	var taken []Field
	for i := range r.Planes {
		p := &r.Planes[i]
		if why := r.checkPlane(p); why != "" {
			return wrong("plane " + p.Name + ": " + why)
		}
		for _, o := range r.Planes[:i] {
			if p.To.Overlaps(o.To) {
				return wrong("planes " + o.Name + " and " + p.Name + " overlap")
			}
		}
		taken = append(taken, p.Fields...)
	}
	slices.SortFunc(taken, func(a, b Field) int { return a.From - b.From })
	next := 0
	for _, f := range taken {
		switch {
		case f.From > next:
			return wrong("bit " + itoa(next) + " of a block goes nowhere")
		case f.From < next:
			return wrong("bit " + itoa(f.From) + " of a block goes to two places")
		}
		next += f.Bits
	}
	if next != r.BlockBytes*8 {
		return wrong("bit " + itoa(next) + " of a block goes nowhere")
	}
	return nil
}

func (r *Recipe) checkPlane(p *Plane) string {
	if p.BlockBits < 1 || p.RowStride < 1 || len(p.Fields) == 0 {
		return "it needs bits, a row stride and fields"
	}
	if hi, lo := bits.Mul64(uint64(r.RowBlocks), uint64(p.BlockBits)); hi != 0 || lo > uint64(p.RowStride)*8 {
		return "its row stride of " + itoa(p.RowStride) + " bytes is less than a row"
	}
	if hi, lo := bits.Mul64(uint64(r.Rows), uint64(p.RowStride)); hi != 0 || lo > 1<<48 {
		return "it is too large"
	}
	if p.To.Offset%4 != 0 || p.To.Bytes%4 != 0 {
		return "its range is not a multiple of 4"
	}
	if need := r.planeBytes(p); p.To.Bytes < need {
		return "its range of " + utoa(p.To.Bytes) + " bytes is less than the " + utoa(need) + " of its rows"
	}
	fields := slices.Clone(p.Fields)
	slices.SortFunc(fields, func(a, b Field) int { return a.At - b.At })
	next := 0
	for _, f := range fields {
		switch {
		case f.Bits < 1 || f.From < 0 || f.At < 0 || f.Bits > r.BlockBytes*8 || f.From > r.BlockBytes*8-f.Bits || f.Bits > p.BlockBits || f.At > p.BlockBits-f.Bits:
			return "a field of " + itoa(f.Bits) + " bits from " + itoa(f.From) + " to " + itoa(f.At) + " leaves its block"
		case f.At < next:
			return "bit " + itoa(f.At) + " is filled twice"
		}
		next = f.At + f.Bits
	}
	return ""
}

// Repack fills dst with a plane's bytes of some rows: dst has the length that Span returns, src the rows as they are in
// the file, RowBytes each. The recipe must have passed Check.
func (r *Recipe) Repack(plane int, dst []byte, firstRow, rows int, src []byte) {
	p := &r.Planes[plane]
	dst = r.chunk(plane, firstRow, rows, dst)
	clear(dst)
	r.move(p, rows, func(row int, f Field) {
		from, to := src[row*r.RowBytes():][:r.RowBytes()], dst[row*p.RowStride:]
		copyField(to, f.At, p.BlockBits, from, f.From, r.BlockBytes*8, f.Bits, r.RowBlocks)
	})
}

// Restore is the inverse of Repack: it writes into dst, rows as they are in the file, the bits that the plane holds of
// them. With all planes restored, dst is complete.
func (r *Recipe) Restore(plane int, dst []byte, firstRow, rows int, src []byte) {
	p := &r.Planes[plane]
	src = r.chunk(plane, firstRow, rows, src)
	r.move(p, rows, func(row int, f Field) {
		from, to := src[row*p.RowStride:], dst[row*r.RowBytes():][:r.RowBytes()]
		copyField(to, f.From, r.BlockBytes*8, from, f.At, p.BlockBits, f.Bits, r.RowBlocks)
	})
}

// chunk cuts a buffer to what Span says.
func (r *Recipe) chunk(plane, firstRow, rows int, b []byte) []byte {
	_, n := r.Span(plane, firstRow, rows)
	return b[:n]
}

func (r *Recipe) move(p *Plane, rows int, field func(row int, f Field)) {
	for row := range rows {
		for _, f := range p.Fields {
			field(row, f)
		}
	}
}

// copyField copies one field of every block of a row. Bit at of the first block is the field's place; blocks lie stride
// bits apart. Whole bytes, and fields that lie in one byte on both sides such as nibbles, have loops of their own.
func copyField(dst []byte, at, stride int, src []byte, from, srcStride, n, blocks int) {
	switch {
	case (at|stride|from|srcStride|n)%8 == 0:
		copyBytes(dst, at/8, stride/8, src, from/8, srcStride/8, n/8, blocks)
	case (stride|srcStride)%8 == 0 && at%8+n <= 8 && from%8+n <= 8:
		left, right, mask := at%8, from%8, byte(1<<n-1)
		at, stride, from, srcStride = at/8, stride/8, from/8, srcStride/8
		for range blocks {
			dst[at] = dst[at]&^(mask<<left) | src[from]>>right&mask<<left
			at, from = at+stride, from+srcStride
		}
	default:
		for range blocks {
			copyBits(dst, at, src, from, n)
			at, from = at+stride, from+srcStride
		}
	}
}

// copyBytes is copyField in bytes.
func copyBytes(dst []byte, at, stride int, src []byte, from, srcStride, n, blocks int) {
	if n == stride && n == srcStride {
		copy(dst[at:at+n*blocks], src[from:])
		return
	}
	for range blocks {
		copy(dst[at:at+n], src[from:from+n])
		at, from = at+stride, from+srcStride
	}
}

// copyBits copies n bits, a byte of the destination at a time.
func copyBits(dst []byte, at int, src []byte, from, n int) {
	for n > 0 {
		low := at % 8
		take := min(8-low, n)
		value := uint(src[from/8]) >> (from % 8)
		if from%8+take > 8 {
			value |= uint(src[from/8+1]) << (8 - from%8)
		}
		mask := uint(1)<<take - 1
		dst[at/8] = byte(uint(dst[at/8])&^(mask<<low) | value&mask<<low)
		at, from, n = at+take, from+take, n-take
	}
}
