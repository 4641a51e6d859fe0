package sim

import (
	"math"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// subgroupCall compiles the operations of subgroups and quads. All invocations of a subgroup must come to them.
func (c *compiler) subgroupCall(e *wgsl.Call) []int {
	v := c.several(e.Args...)
	at := c.site(e.Pos, e.Name)
	if e.Name == "subgroupBallot" {
		out := c.take(4, nil)
		x := v[0][0]
		c.emit(func(m *machine, a *lanes) { m.ballot(a, at, x, out) })
		return out
	}
	if len(e.Args) == 0 { // subgroupElect, which naga doesn't know, is refused by Parse
		c.fail(e.Pos, "%s is not simulated", e.Name)
	}
	s := component(e.Args[0].Expression().Type)
	f := subgroupFunc(e.Name, s)
	if f == nil {
		c.fail(e.Pos, "%s is not simulated", e.Name)
	}
	lane := -1
	if len(v) > 1 {
		lane = v[1][0]
	}
	if e.Name == "subgroupShuffleUp" || e.Name == "subgroupShuffleDown" {
		at.lax = true
		c.sites[at.number] = at
	}
	out := c.take(len(v[0]), nil)
	for i, x := range v[0] {
		d := out[i]
		first := i == 0
		c.emit(func(m *machine, a *lanes) {
			for lo := 0; lo < m.n; lo += m.subgroup {
				hi := min(lo+m.subgroup, m.n)
				if a.count(lo, hi) == 0 {
					continue
				}
				if first {
					m.together(a, at, lo, hi)
				}
				f(m, group{a, at, lo, hi, d, x, lane, isFloat(s), first})
			}
		})
	}
	return out
}

// group is a subgroup at an operation: invocations [lo, hi) as far as they are in a; registers of the result, the value and the lane
// that is asked for.
type group struct {
	*lanes
	at     site
	lo, hi int
	d, x   int
	lane   int
	float  bool // the values are floats
	judged bool // findings of the operation are told here: of vectors, with the first component
}

func (g group) each(f func(i int)) {
	for i := max(g.lo, g.lanes.lo); i < min(g.hi, g.lanes.hi); i++ {
		if g.has(i) {
			f(i)
		}
	}
}

func (m *machine) ballot(a *lanes, at site, x int, out []int) {
	for lo := 0; lo < m.n; lo += m.subgroup {
		g := group{lanes: a, at: at, lo: lo, hi: min(lo+m.subgroup, m.n)}
		if a.count(g.lo, g.hi) == 0 {
			continue
		}
		m.together(a, at, g.lo, g.hi)
		var votes [4]uint32
		g.each(func(i int) { votes[(i-lo)/32] |= m.regs[x][i] << ((i - lo) % 32) })
		g.each(func(i int) {
			for w, d := range out {
				m.regs[d][i] = votes[w]
			}
		})
	}
}

// subgroupFunc returns what an operation does with one register of a subgroup.
func subgroupFunc(name string, s wgsl.Scalar) func(m *machine, g group) {
	base, inclusive := strings.CutPrefix(name, "subgroupInclusive")
	if inclusive {
		return scan(combine(base, s), identity(base, s), true)
	}
	if base, exclusive := strings.CutPrefix(name, "subgroupExclusive"); exclusive {
		return scan(combine(base, s), identity(base, s), false)
	}
	switch name {
	case "subgroupAll":
		return all(combine("And", wgsl.U32))
	case "subgroupAny":
		return all(combine("Or", wgsl.U32))
	case "subgroupBroadcastFirst":
		return func(m *machine, g group) {
			from := g.first(g.lo, g.hi, true)
			v, maker := m.regs[g.x][from], m.made.of(g.x, from)
			g.each(func(i int) { m.regs[g.d][i] = v; m.note(g.d, i, maker) })
		}
	case "subgroupBroadcast", "subgroupShuffle":
		return shuffle(true, func(i int, n uint32, _ int) int64 { return int64(n) })
	case "subgroupShuffleXor":
		return uniform(shuffle(true, func(i int, n uint32, _ int) int64 { return int64(uint32(i) ^ n) }))
	case "subgroupShuffleUp":
		return uniform(shuffle(false, func(i int, n uint32, _ int) int64 { return int64(i) - int64(n) }))
	case "subgroupShuffleDown":
		return uniform(shuffle(false, func(i int, n uint32, _ int) int64 { return int64(i) + int64(n) }))
	case "quadSwapX":
		return shuffle(true, func(i int, _ uint32, _ int) int64 { return int64(i ^ 1) })
	case "quadSwapY":
		return shuffle(true, func(i int, _ uint32, _ int) int64 { return int64(i ^ 2) })
	case "quadSwapDiagonal":
		return shuffle(true, func(i int, _ uint32, _ int) int64 { return int64(i ^ 3) })
	case "quadBroadcast":
		return shuffle(true, func(i int, n uint32, _ int) int64 { return int64(i&^3) + int64(n) })
	}
	if f := combine(strings.TrimPrefix(name, "subgroup"), s); f != nil {
		return all(f)
	}
	return nil
}

// combine returns how a reduction takes two values together.
func combine(name string, s wgsl.Scalar) func(a, b uint32) uint32 {
	arithmetic := func(op string) func(a, b uint32) uint32 {
		if isFloat(s) {
			f := floatLoop(op, s)
			return func(a, b uint32) uint32 {
				var out [1]uint32
				f(out[:], []uint32{a}, []uint32{b})
				return out[0]
			}
		}
		f := binaryLoop(op, s)
		return func(a, b uint32) uint32 {
			var out [1]uint32
			f(out[:], []uint32{a}, []uint32{b})
			return out[0]
		}
	}
	switch name {
	case "Add":
		return arithmetic("+")
	case "Mul":
		return arithmetic("*")
	case "And":
		return arithmetic("&")
	case "Or":
		return arithmetic("|")
	case "Xor":
		return arithmetic("^")
	case "Max", "Min":
		if isFloat(s) {
			return floatBinary(strings.ToLower(name), s == wgsl.F16)
		}
		return integerBinary(strings.ToLower(name), s == wgsl.I32)
	}
	return nil
}

// identity is what an exclusive sum or product begins with.
func identity(name string, s wgsl.Scalar) uint32 {
	switch {
	case name != "Mul":
		return 0
	case isFloat(s):
		return math.Float32bits(1)
	}
	return 1
}

// all gives each invocation the values of all of them, taken together in a tree, as devices do.
func all(f func(a, b uint32) uint32) func(m *machine, g group) {
	return func(m *machine, g group) {
		values := make([]uint32, 0, 128)
		g.each(func(i int) { values = append(values, m.regs[g.x][i]) })
		for len(values) > 1 {
			half := (len(values) + 1) / 2
			for i := range len(values) - half {
				values[i] = f(values[i], values[i+half])
			}
			values = values[:half]
		}
		clean := m.take(g)
		g.each(func(i int) { m.regs[g.d][i] = values[0]; m.combined(g, i, clean) })
	}
}

func scan(f func(a, b uint32) uint32, start uint32, inclusive bool) func(m *machine, g group) {
	return func(m *machine, g group) {
		sum := start
		clean := m.take(g)
		g.each(func(i int) {
			x := m.regs[g.x][i]
			if inclusive {
				sum = f(sum, x)
				m.regs[g.d][i] = sum
			} else {
				m.regs[g.d][i] = sum
				sum = f(sum, x)
			}
			m.combined(g, i, clean)
		})
	}
}

// take tells of infinities and NaN that invocations made, as others get them, and reports whether there are none at all.
func (m *machine) take(g group) (clean bool) {
	clean = true
	if !g.float {
		return clean
	}
	g.each(func(i int) {
		if !finite(m.regs[g.x][i]) {
			clean = false
			m.spent(g.x, i, g.at)
		}
	})
	return clean
}

// combined notes who made the result of an invocation.
func (m *machine) combined(g group, lane int, clean bool) {
	if g.float {
		m.results(g.at, g.d, lane, clean, 0)
	}
}

// shuffle gives an invocation the value of another of its subgroup. Where there is none the value is anything: with strict that is a
// finding; others leave it to their callers not to use it.
func shuffle(strict bool, from func(i int, n uint32, size int) int64) func(m *machine, g group) {
	return func(m *machine, g group) {
		var old, lanes [128]uint32
		var makers [128]int32
		size := copy(old[:], m.regs[g.x][g.lo:g.hi])
		if g.lane >= 0 {
			copy(lanes[:], m.regs[g.lane][g.lo:g.hi])
		}
		if m.made.taint {
			for i := range size {
				makers[i] = m.made.of(g.x, g.lo+i)
			}
		}
		g.each(func(i int) {
			n := from(i-g.lo, lanes[i-g.lo], m.subgroup)
			if n >= 0 && n < int64(size) && g.has(g.lo+int(n)) {
				m.regs[g.d][i] = old[n]
				m.note(g.d, i, makers[n])
				return
			}
			m.regs[g.d][i] = poison
			m.note(g.d, i, 0)
			if !strict && g.float && int(lanes[i-g.lo]) < m.subgroup { // others were told of
				m.made.taint = true
				m.note(g.d, i, g.at.number)
			}
			if strict && g.judged {
				m.report(OutOfBounds, g.at, "", n, func() string {
					return g.at.what + " asks for lane " + decimal(n) + " of a subgroup of " + decimal(int64(size))
				}, i)
			}
		})
	}
}

// uniform is a shuffle by a number that has to be the same for all invocations of a subgroup, and less than its size: else it reaches
// nobody, or somebody on devices with larger subgroups alone.
func uniform(f func(m *machine, g group)) func(m *machine, g group) {
	return func(m *machine, g group) {
		by, first := m.regs[g.lane], g.first(g.lo, g.hi, true)
		if n := int64(by[first]); g.judged && g.at.lax && n >= int64(m.subgroup) {
			m.report(OutOfBounds, g.at, "", n, func() string {
				return g.at.what + " by " + decimal(n) + " reaches no lane of a subgroup of " + decimal(int64(m.subgroup))
			}, first)
		}
		for i := first; i < g.hi; i++ {
			if g.judged && g.has(i) && by[i] != by[first] {
				m.report(Divergent, g.at, "", -1, func() string {
					return g.at.what + " is by " + decimal(int64(by[first])) + " for the first and " + decimal(int64(by[i])) + " for the second: it has to be the same within a subgroup"
				}, first, i)
				break
			}
		}
		f(m, g)
	}
}
