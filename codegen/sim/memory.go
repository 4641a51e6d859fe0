package sim

import (
	"math"
	"sync/atomic"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// load reads the scalars of a place.
func (c *compiler) load(r ref, into []int, pos wgsl.Pos) []int {
	list := parts(r.typ)
	if len(list) == 0 {
		c.fail(pos, "%s: a value of type %s is too large to be simulated", r.name, r.typ)
	}
	if r.registers() {
		return c.loadRegisters(r, len(list))
	}
	out := c.take(len(list), into)
	if r.dynamic >= 0 && contains(out, r.dynamic) {
		out = c.take(len(list), nil)
	}
	x := access{ref: r, at: c.site(pos, "read"), parts: list, slots: out}
	for i, p := range list {
		if isFloat(p.scalar) {
			x.floats = append(x.floats, out[i])
		}
	}
	if r.space == wgsl.WorkgroupSpace {
		c.emit(x.readShared)
	} else {
		c.emit(x.readBound)
	}
	return out
}

func contains(list []int, x int) bool {
	for _, v := range list {
		if v == x {
			return true
		}
	}
	return false
}

func (c *compiler) loadRegisters(r ref, n int) []int {
	if r.dynamic < 0 {
		out := make([]int, n)
		for i := range out {
			out[i] = r.static + i
		}
		return out
	}
	out := c.take(n, nil)
	c.emit(func(m *machine, a *lanes) {
		at := m.regs[r.dynamic]
		for j, d := range out {
			to := m.regs[d]
			for i := a.lo; i < a.hi; i++ {
				to[i] = m.regs[r.static+j+int(at[i])][i]
			}
			if m.made.taint {
				m.gathered(a, d, func(i int) int { return r.static + j + int(at[i]) })
			}
		}
	})
	return out
}

// store writes the scalars of a place.
func (c *compiler) store(r ref, from []int, pos wgsl.Pos) {
	if r.registers() {
		c.storeRegisters(r, from)
		return
	}
	x := access{ref: r, at: c.site(pos, "write"), parts: parts(r.typ), slots: from}
	x.at.component = r.vector != nil
	c.sites[x.at.number] = x.at
	if r.space == wgsl.WorkgroupSpace {
		c.emit(x.writeShared)
	} else {
		c.emit(x.writeBound)
	}
}

func (c *compiler) storeRegisters(r ref, from []int) {
	if c.overlaps(r, from) {
		from = c.copyOf(from)
	}
	c.emit(func(m *machine, a *lanes) {
		if r.dynamic < 0 {
			for j, s := range from {
				a.move(m.regs[r.static+j], m.regs[s])
				if m.made.taint {
					m.moved(a, r.static+j, s)
				}
			}
			return
		}
		at := m.regs[r.dynamic]
		for j, s := range from {
			for i := a.lo; i < a.hi; i++ {
				if a.dense || a.on[i] {
					m.regs[r.static+j+int(at[i])][i] = m.regs[s][i]
					if m.made.taint {
						m.note(r.static+j+int(at[i]), i, m.made.of(s, i))
					}
				}
			}
		}
	})
}

// overlaps reports whether a value may have registers of the variable itself, which a store would overwrite before it reads them.
func (c *compiler) overlaps(r ref, from []int) bool {
	if len(from) == 1 {
		return false
	}
	around := len(from)
	if r.dynamic >= 0 {
		around = len(parts(r.whole)) // the place may be anywhere in the variable
	}
	for i, s := range from {
		if s > r.static-around && s < r.static+around && (r.dynamic >= 0 || s != r.static+i) {
			return true
		}
	}
	return false
}

// access is a read or write of a place outside of registers.
type access struct {
	ref
	at     site
	parts  []part
	slots  []int
	floats []int // those of a read that get floats
}

// siblings returns the bytes of the other components of the vector, for a write to one of them at a byte: it may access them all, says
// WGSL, "Component Reference from Vector Memory View".
func (x *access) siblings(at int) []int {
	v, ok := x.vector.(wgsl.Vector)
	if !ok {
		return nil
	}
	size := wgsl.SizeOf(v.Elem)
	list := make([]int, 0, 3)
	for i, first := 0, at&^(wgsl.AlignOf(v)-1); i < v.Width; i++ {
		if other := first + i*size; other != at {
			list = append(list, other)
		}
	}
	return list
}

// byteAt returns the byte of the variable that an invocation gets to.
func (x *access) byteAt(m *machine, lane int) int {
	if x.dynamic < 0 {
		return x.static
	}
	return x.static + 2*int(m.regs[x.dynamic][lane])
}

// unpackWord returns a scalar that lies at a byte of a word.
func unpackWord(word uint32, p part, at int) uint32 {
	switch {
	case p.scalar == wgsl.F16:
		return math.Float32bits(halfFloat(uint16(word >> (at % 4 * 8))))
	case p.scalar == wgsl.Bool:
		return truth(word != 0)
	}
	return word
}

// packWord returns the word with a scalar in it.
func packWord(old, bits uint32, p part, at int) uint32 {
	if p.scalar != wgsl.F16 {
		return bits
	}
	shift := at % 4 * 8
	return old&^(0xffff<<shift) | uint32(halfBits(math.Float32frombits(bits)))<<shift
}

// Workgroup memory.

func (x access) readShared(m *machine, a *lanes) {
	if m.made.taint {
		m.given(a, x.floats)
	}
	for i := a.lo; i < a.hi; i++ {
		if !a.dense && !a.on[i] {
			continue
		}
		base := x.byteAt(m, i)
		watched := !m.stray(x.dynamic, i)
		for j, p := range x.parts {
			at := base + p.bytes
			if watched {
				m.noteSharedRead(&x, i, at)
			}
			m.regs[x.slots[j]][i] = unpackWord(m.shared[at/4], p, at)
		}
	}
}

func (m *machine) noteSharedRead(x *access, lane, at int) {
	cell := m.cells.at(at / 2)
	if cell.value < m.start && !m.options.ZeroWorkgroup {
		m.unwritten(x, lane, at-x.origin(m))
	}
	if with, where := cell.reads(int32(lane), m.epoch, m.synced[inWorkgroup], x.at.number); with >= 0 {
		m.race(x, at-x.origin(m), int(with), where, lane, "reads")
	}
}

func (x access) writeShared(m *machine, a *lanes) {
	for i := a.lo; i < a.hi; i++ {
		if !a.dense && !a.on[i] {
			continue
		}
		base := x.byteAt(m, i)
		watched := !m.stray(x.dynamic, i)
		for j, p := range x.parts {
			at := base + p.bytes
			if watched {
				m.noteSharedWrite(&x, i, at)
			}
			bits := m.regs[x.slots[j]][i]
			m.noteStored(&x, i, j, bits)
			m.shared[at/4] = packWord(m.shared[at/4], bits, p, at)
		}
	}
}

func (m *machine) noteSharedWrite(x *access, lane, at int) {
	c := m.cells.at(at / 2)
	with, where := c.writes(int32(lane), m.epoch, m.synced[inWorkgroup], x.at.number)
	c.value = m.epoch
	for _, other := range x.siblings(at) {
		if w, s := m.cells.at(other/2).writes(int32(lane), m.epoch, m.synced[inWorkgroup], x.at.number); with < 0 {
			with, where = w, s
		}
	}
	if with >= 0 {
		m.race(x, at-x.origin(m), int(with), where, lane, "writes")
	}
}

// noteStored tells of an infinity or NaN that was made and is stored where others see it.
func (m *machine) noteStored(x *access, lane, part int, bits uint32) {
	if m.made.taint && !finite(bits) && isFloat(x.parts[part].scalar) {
		m.spent(x.slots[part], lane, x.at)
	}
}

// origin returns the byte at which the variable begins in its memory.
func (x *access) origin(m *machine) int {
	if x.space == wgsl.WorkgroupSpace {
		return m.program.sharedAt[x.name]
	}
	return 0
}

// Bindings.

func (x access) readBound(m *machine, a *lanes) {
	if m.made.taint {
		m.given(a, x.floats)
	}
	b := &m.bound[x.root]
	words := b.words
	if b.plain {
		for i := a.lo; i < a.hi; i++ {
			if !a.dense && !a.on[i] {
				continue
			}
			base := x.byteAt(m, i)
			for j, p := range x.parts {
				at := base + p.bytes
				w := at / 4
				if w >= len(words) { // the binding is shorter than the text says, which was told
					m.regs[x.slots[j]][i] = 0
				} else if p.scalar == wgsl.F16 {
					m.regs[x.slots[j]][i] = unpackWord(words[w], p, at)
				} else {
					m.regs[x.slots[j]][i] = words[w]
				}
			}
		}
		return
	}
	for i := a.lo; i < a.hi; i++ {
		if !a.dense && !a.on[i] {
			continue
		}
		base := x.byteAt(m, i)
		for j, p := range x.parts {
			at := base + p.bytes
			if at/4 >= len(words) {
				m.regs[x.slots[j]][i] = 0
				continue
			}
			m.noteRead(&x, b, i, at, p)
			m.regs[x.slots[j]][i] = unpackWord(atomic.LoadUint32(&words[at/4]), p, at)
		}
	}
}

func (x access) writeBound(m *machine, a *lanes) {
	b := &m.bound[x.root]
	for i := a.lo; i < a.hi; i++ {
		if !a.dense && !a.on[i] {
			continue
		}
		base := x.byteAt(m, i)
		for j, p := range x.parts {
			at := base + p.bytes
			w := at / 4
			if w >= len(b.words) {
				continue
			}
			m.noteWrite(&x, b, i, at)
			bits := m.regs[x.slots[j]][i]
			m.noteStored(&x, i, j, bits)
			if p.scalar == wgsl.F16 {
				m.storeHalf(&b.words[w], bits, p, at)
			} else {
				atomic.StoreUint32(&b.words[w], bits)
			}
		}
	}
}

// storeHalf writes half a word whose other half another workgroup may write at the same time.
func (m *machine) storeHalf(word *uint32, bits uint32, p part, at int) {
	for {
		old := atomic.LoadUint32(word)
		if atomic.CompareAndSwapUint32(word, old, packWord(old, bits, p, at)) {
			return
		}
	}
}
