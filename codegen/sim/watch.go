package sim

import (
	"slices"
	"sync/atomic"
)

// bound is a binding with its memory, for one dispatch.
type bound struct {
	name     string
	buffer   *Buffer
	base     int // first word in the buffer
	words    []uint32
	plain    bool // only read, all of it written, and nothing known of tensors: reads need no note
	writable bool
	segments []segment // nil when nothing is known of tensors
}

// segment is an operand within a buffer: words [from, to), the tensors that may be read there and the one that is written.
type segment struct {
	from, to int
	reads    []uint32 // several where the first was made in place of the next, of which some words stay
	write    uint32   // 0 is none
}

// named is the tensor that findings speak of.
func (s *segment) named() uint32 {
	if len(s.reads) > 0 {
		return s.reads[0]
	}
	return s.write
}

// touch is a location of a binding that a workgroup touched.
type touch struct{ root, location int }

// segment returns the operand that a word of the buffer belongs to, or nil.
func (b *bound) segment(word int) *segment {
	for i := range b.segments {
		if s := &b.segments[i]; word >= s.from && word < s.to {
			return s
		}
	}
	return nil
}

// noteRead judges a read of a byte of a binding.
func (m *machine) noteRead(x *access, b *bound, lane, at int, p part) {
	if m.stray(x.dynamic, lane) {
		return
	}
	own := false
	if b.writable {
		cell := m.cell(x.root, at/2)
		own = cell.value >= m.start
		if with, where := cell.reads(int32(lane), m.epoch, m.synced[inStorage], x.at.number); with >= 0 {
			m.race(x, at, int(with), where, lane, "reads")
		}
	}
	word := b.base + at/4
	if !own && !b.buffer.isWritten(2*b.base+at/2, p.halves()) {
		m.unwritten(x, lane, at)
	}
	if b.segments != nil && !own {
		m.judgeTensor(x, b, lane, at, word)
	}
}

// noteWrite judges a write.
func (m *machine) noteWrite(x *access, b *bound, lane, at int) {
	if m.stray(x.dynamic, lane) {
		return
	}
	c := m.cell(x.root, at/2)
	with, where := c.writes(int32(lane), m.epoch, m.synced[inStorage], x.at.number)
	c.value = m.epoch
	for _, other := range x.siblings(at) {
		if w, s := m.cell(x.root, other/2).writes(int32(lane), m.epoch, m.synced[inStorage], x.at.number); with < 0 {
			with, where = w, s
		}
	}
	if with >= 0 {
		m.race(x, at, int(with), where, lane, "writes")
	}
	if b.segments == nil {
		return
	}
	if s := b.segment(b.base + at/4); s == nil || s.write == 0 {
		m.report(OutOfBounds, x.at, x.name, elementAt(x.whole, int64(at)), func() string { return "the write is outside of the tensors that the dispatch writes" }, lane)
	}
}

// cell returns the cell of a location of a binding, and notes that it was touched.
func (m *machine) cell(root, location int) *cell {
	c := m.local[root].at(location)
	if c.write < m.start && c.read < m.start {
		m.touched = append(m.touched, touch{root, location})
	}
	return c
}

// judgeTensor tells of a read that gets another tensor than it should.
func (m *machine) judgeTensor(x *access, b *bound, lane, at, word int) {
	s := b.segment(word)
	if s == nil {
		m.report(OutOfBounds, x.at, x.name, elementAt(x.whole, int64(at)), func() string { return "the read is outside of the dispatch's tensors" }, lane)
		return
	}
	if b.buffer.stamps == nil {
		return
	}
	if have := atomic.LoadUint32(&b.buffer.stamps[word]); have == 0 || have != s.write && !slices.Contains(s.reads, have) {
		m.report(Uninitialized, x.at, x.name, elementAt(x.whole, int64(at)), func() string { return m.holds(have, s) }, lane)
	}
}

// holds says what a segment has instead of its tensor.
func (m *machine) holds(have uint32, s *segment) string {
	if have == 0 {
		return "nothing wrote " + m.tensor(s.named()) + " here in this replay"
	}
	return "the memory of " + m.tensor(s.named()) + " holds " + m.tensor(have) + " by now"
}

func (m *machine) unwritten(x *access, lane, at int) {
	m.report(Uninitialized, x.at, x.name, elementAt(x.whole, int64(at)), func() string { return "nothing was written here before it is read" }, lane)
}

// race reports two accesses of a workgroup.
func (m *machine) race(x *access, at, first int, where int32, second int, does string) {
	m.report(Race, x.at, x.name, elementAt(x.whole, int64(at)), func() string {
		other := m.program.sites[where]
		return "invocation " + decimal(int64(second)) + " " + does + " what invocation " + decimal(int64(first)) + " " + other.what + "s in line " + decimal(int64(other.pos.Line)) +
			", with no barrier between" + besides(x.at, other)
	}, first, second)
}
