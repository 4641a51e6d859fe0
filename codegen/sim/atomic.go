package sim

import (
	"sync/atomic"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// atomic compiles the atomic operations: one invocation after another, and workgroups in any order.
func (c *compiler) atomic(e *wgsl.Call) []int {
	r := c.ref(e.Args[0])
	var operands []int
	for _, v := range c.several(e.Args[1:]...) {
		operands = append(operands, c.copyOf(v)...)
	}
	x := access{ref: r, at: c.site(e.Pos, e.Name), parts: parts(r.typ)}
	signed := component(r.typ) == wgsl.I32
	if e.Name == "atomicCompareExchangeWeak" {
		out := c.take(2, nil)
		c.emit(func(m *machine, a *lanes) {
			x.each(m, a, func(lane int, word *uint32) {
				want, value := m.regs[operands[0]][lane], m.regs[operands[1]][lane]
				old := exchange(word, func(old uint32) uint32 {
					if old == want {
						return value
					}
					return old
				})
				m.regs[out[0]][lane], m.regs[out[1]][lane] = old, truth(old == want)
			})
		})
		return out
	}
	f := atomicFunc(e.Name, signed)
	out := c.slot()
	c.emit(func(m *machine, a *lanes) {
		x.each(m, a, func(lane int, word *uint32) {
			var v uint32
			if len(operands) > 0 {
				v = m.regs[operands[0]][lane]
			}
			m.regs[out][lane] = exchange(word, func(old uint32) uint32 { return f(old, v) })
		})
	})
	if e.Type == nil {
		return nil
	}
	return []int{out}
}

// exchange replaces a word by f of it and returns what it was.
func exchange(word *uint32, f func(uint32) uint32) uint32 {
	for {
		old := atomic.LoadUint32(word)
		if atomic.CompareAndSwapUint32(word, old, f(old)) {
			return old
		}
	}
}

func atomicFunc(name string, signed bool) func(old, v uint32) uint32 {
	switch name {
	case "atomicLoad":
		return func(old, v uint32) uint32 { return old }
	case "atomicStore", "atomicExchange":
		return func(old, v uint32) uint32 { return v }
	case "atomicAdd":
		return func(old, v uint32) uint32 { return old + v }
	case "atomicSub":
		return func(old, v uint32) uint32 { return old - v }
	case "atomicMax":
		return integerBinary("max", signed)
	case "atomicMin":
		return integerBinary("min", signed)
	case "atomicAnd":
		return func(old, v uint32) uint32 { return old & v }
	case "atomicOr":
		return func(old, v uint32) uint32 { return old | v }
	}
	return func(old, v uint32) uint32 { return old ^ v } // atomicXor
}

// each calls f with the word of each invocation.
func (x *access) each(m *machine, a *lanes, f func(lane int, word *uint32)) {
	for i := a.lo; i < a.hi; i++ {
		if !a.dense && !a.on[i] {
			continue
		}
		at := x.byteAt(m, i)
		words := m.shared
		if x.space != wgsl.WorkgroupSpace {
			words = m.bound[x.root].words
		}
		if at/4 >= len(words) {
			continue
		}
		if !m.stray(x.dynamic, i) {
			m.noteAtomic(x, i, at)
		}
		f(i, &words[at/4])
	}
}

// noteAtomic judges an atomic operation. It races with nothing, as the memory of atomics has no other accesses; only storing needs
// no value before.
func (m *machine) noteAtomic(x *access, lane, at int) {
	stores := x.at.what == "atomicStore"
	var c *cell
	if x.space == wgsl.WorkgroupSpace {
		if c = m.cells.at(at / 2); c.value < m.start && !m.options.ZeroWorkgroup && !stores {
			m.unwritten(x, lane, at-x.origin(m))
		}
	} else {
		b := &m.bound[x.root]
		if c = m.cell(x.root, at/2); c.value < m.start && !stores && !b.buffer.isWritten(2*b.base+at/2, 2) {
			m.unwritten(x, lane, at)
		}
	}
	c.write, c.value, c.writer, c.writeSite = m.epoch, m.epoch, -1, x.at.number
}
