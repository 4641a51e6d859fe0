package sim

import "strconv"

// An infinity or NaN made of finite values is a fault once it is used: WGSL lets compilers assume that there is none. Making one
// is not: select(a, 1/x, x != 0) drops it. So the place that made it is noted for each invocation, and told of when arithmetic
// takes the value, or memory that others see. Those that come from memory are the caller's.

func finite(bits uint32) bool { return bits&infinite != infinite }

// judge looks at results of floating-point arithmetic when some are not finite or an invocation made such a value before.
func (m *machine) judge(a *lanes, at site, result int, operands ...int) {
	for i := a.lo; i < a.hi; i++ {
		if !a.dense && !a.on[i] {
			continue
		}
		clean := true
		for _, o := range operands {
			clean = clean && finite(m.regs[o][i])
		}
		switch {
		case !clean && m.origin[i] != 0:
			m.tell(i, at)
		case clean && !finite(m.regs[result][i]):
			m.origin[i], m.taint = at.number, true
		}
	}
}

// uses is judge for operations without a result of floats: comparisons and conversions.
func (m *machine) uses(a *lanes, at site, operands ...int) {
	for i := a.lo; i < a.hi; i++ {
		if m.origin[i] == 0 || !a.dense && !a.on[i] {
			continue
		}
		for _, o := range operands {
			if !finite(m.regs[o][i]) {
				m.tell(i, at)
				break
			}
		}
	}
}

// tell reports the infinity or NaN that an invocation made and uses at a place.
func (m *machine) tell(lane int, at site) {
	from := m.program.sites[m.origin[lane]]
	m.origin[lane] = 0
	m.report(NaN, from, "", -1, from.what+" makes an infinity or NaN of finite values, which is used in line "+strconv.Itoa(at.pos.Line), lane)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
