package sim

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// barrier orders what invocations do to memory. All of a workgroup must come to it.
func (c *compiler) barrier(e *wgsl.Call) {
	at := c.site(e.Pos, e.Name)
	space := inWorkgroup
	if e.Name == "storageBarrier" {
		space = inStorage
	}
	c.emit(func(m *machine, a *lanes) {
		m.together(a, at, 0, m.n)
		m.barrier(space)
	})
}

// together reports a barrier or subgroup operation that only some of the invocations in [lo, hi) came to.
func (m *machine) together(a *lanes, at site, lo, hi int) {
	if a.count(lo, hi) == hi-lo {
		return
	}
	here, absent := a.first(lo, hi, true), a.first(lo, hi, false)
	m.report(Divergent, at, "", -1, func() string {
		return at.what + " is reached by " + decimal(int64(a.count(lo, hi))) + " of " + decimal(int64(hi-lo)) + " invocations: the first comes to it, the second does not"
	}, here, absent)
}

// uniformLoad is a barrier, a read by all, and a barrier.
func (c *compiler) uniformLoad(e *wgsl.Call) []int {
	at := c.site(e.Pos, e.Name)
	r := c.ref(e.Args[0])
	c.emit(func(m *machine, a *lanes) {
		m.together(a, at, 0, m.n)
		m.onePlace(a, at, r)
		m.barrier(inWorkgroup)
	})
	out := c.load(r, nil, e.Pos)
	c.emit(func(m *machine, a *lanes) { m.barrier(inWorkgroup) })
	return out
}

// onePlace reports a place that is another for some invocations.
func (m *machine) onePlace(a *lanes, at site, r ref) {
	if r.dynamic < 0 {
		return
	}
	first := a.first(a.lo, a.hi, true)
	for i := first; i < a.hi; i++ {
		if a.has(i) && m.regs[r.dynamic][i] != m.regs[r.dynamic][first] {
			m.report(Divergent, at, r.name, -1, func() string { return at.what + " reads another place for the second than for the first" }, first, i)
			return
		}
	}
}
