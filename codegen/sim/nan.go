package sim

import "strconv"

// An infinity or NaN made of finite values is a fault once it is used: WGSL lets compilers assume that there is none. Making one
// is not: select(a, 1/x, x != 0) drops it. So the place that made it is kept beside each register, goes where the value goes, and is
// told of when arithmetic takes the value, or memory that others see. Those that come from memory are the caller's. Until an invocation
// of the workgroup makes one, nothing is kept.

func finite(bits uint32) bool { return bits&infinite != infinite }

// makers are the sites that made what is in registers, for each invocation; 0 is none. They count for values that are not finite only.
type makers struct {
	taint bool // some were made
	sites [][]int32
	noted []int // the registers that sites has
}

// forget begins a workgroup.
func (k *makers) forget() {
	if !k.taint {
		return
	}
	k.taint = false
	for _, r := range k.noted {
		clear(k.sites[r])
	}
}

func (k *makers) of(register, lane int) int32 {
	if k.sites == nil || k.sites[register] == nil {
		return 0
	}
	return k.sites[register][lane]
}

// row returns the sites of a register.
func (m *machine) row(register int) []int32 {
	if m.made.sites == nil {
		m.made.sites = make([][]int32, len(m.regs))
	}
	if m.made.sites[register] == nil {
		m.made.sites[register] = make([]int32, m.n)
		m.made.noted = append(m.made.noted, register)
	}
	return m.made.sites[register]
}

// note says who made what an invocation has in a register.
func (m *machine) note(register, lane int, site int32) {
	if site != 0 || m.made.of(register, lane) != 0 {
		m.row(register)[lane] = site
	}
}

// moved says that registers were copied for the invocations of a set. As it and the next cost a call, callers ask for taint first.
func (m *machine) moved(a *lanes, to, from int) {
	if m.made.sites[from] == nil && m.made.sites[to] == nil {
		return
	}
	for i := a.lo; i < a.hi; i++ {
		if a.dense || a.on[i] {
			m.note(to, i, m.made.of(from, i))
		}
	}
}

// gathered is moved where each invocation has another register to copy from.
func (m *machine) gathered(a *lanes, to int, from func(lane int) int) {
	for i := a.lo; i < a.hi; i++ {
		if a.dense || a.on[i] {
			m.note(to, i, m.made.of(from(i), i))
		}
	}
}

// given says that registers got values from elsewhere, which the caller answers for.
func (m *machine) given(a *lanes, registers []int) {
	if !m.made.taint {
		return
	}
	for _, r := range registers {
		if m.made.sites[r] != nil {
			clear(m.made.sites[r][a.lo:a.hi])
		}
	}
}

// judge looks at results of floating-point arithmetic when some are not finite or an invocation made such a value before.
func (m *machine) judge(a *lanes, at site, result int, operands ...int) {
	for i := a.lo; i < a.hi; i++ {
		if !a.dense && !a.on[i] {
			continue
		}
		clean, from := true, int32(0)
		for _, o := range operands {
			if !finite(m.regs[o][i]) {
				clean = false
				from = max(from, m.used(o, i, at))
			}
		}
		m.results(at, result, i, clean, from)
	}
}

// results notes who made a result, of finite values or of one that has a maker already.
func (m *machine) results(at site, register, lane int, clean bool, from int32) {
	switch bad := !finite(m.regs[register][lane]); {
	case clean && bad:
		m.made.taint = true
		m.row(register)[lane] = at.number
	case m.made.taint && bad:
		m.note(register, lane, from)
	case m.made.taint:
		m.note(register, lane, 0)
	}
}

// uses is judge for operations without a result of floats: comparisons and conversions.
func (m *machine) uses(a *lanes, at site, operands ...int) {
	if !m.made.taint {
		return
	}
	for i := a.lo; i < a.hi; i++ {
		if !a.dense && !a.on[i] {
			continue
		}
		for _, o := range operands {
			if !finite(m.regs[o][i]) {
				m.used(o, i, at)
			}
		}
	}
}

// used reports the infinity or NaN that an invocation has in a register and uses at a place, if one of the workgroup made it. What a
// shuffle gave in place of a lane that isn't there may be computed with: it returns the site of that.
func (m *machine) used(register, lane int, at site) int32 {
	maker := m.made.of(register, lane)
	if maker == 0 {
		return 0
	}
	if m.program.sites[maker].lax {
		return maker
	}
	m.spent(register, lane, at)
	return 0
}

// spent is used where others get the value.
func (m *machine) spent(register, lane int, at site) {
	maker := m.made.of(register, lane)
	if maker == 0 {
		return
	}
	m.made.sites[register][lane] = 0
	from := m.program.sites[maker]
	where := func() string { return ", which is used in line " + strconv.Itoa(at.pos.Line) }
	if from.lax {
		m.report(OutOfBounds, from, "", -1, func() string { return from.what + " gives the value of a lane that isn't there" + where() }, lane)
		return
	}
	m.report(NaN, from, "", -1, func() string { return from.what + " makes an infinity or NaN of finite values" + where() }, lane)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
