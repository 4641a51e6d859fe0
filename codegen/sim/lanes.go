package sim

// lanes is a set of invocations of a workgroup, by their local_invocation_index. They lie in [lo, hi); when dense, all of those
// belong to it, and otherwise those for which on says so. An empty set has hi 0. Operations without side effects compute all of
// [lo, hi), which costs less than asking which of them are wanted.
type lanes struct {
	lo, hi int
	dense  bool
	on     []bool
}

func (a *lanes) empty() bool { return a.hi == 0 }
func (a *lanes) clear()      { a.lo, a.hi, a.dense = 0, 0, true }

// full reports whether the set is all n invocations.
func (a *lanes) full(n int) bool { return a.dense && a.lo == 0 && a.hi == n }

func (a *lanes) has(i int) bool { return i >= a.lo && i < a.hi && (a.dense || a.on[i]) }

// copy makes a the set b.
func (a *lanes) copy(b *lanes) {
	a.lo, a.hi, a.dense = b.lo, b.hi, b.dense
	if !b.dense {
		copy(a.on[b.lo:b.hi], b.on[b.lo:b.hi])
	}
}

// all makes a the first n invocations.
func (a *lanes) all(n int) { a.lo, a.hi, a.dense = 0, n, true }

// settle finds bounds and density after on was written in [lo, hi).
func (a *lanes) settle(lo, hi int) {
	for lo < hi && !a.on[lo] {
		lo++
	}
	for hi > lo && !a.on[hi-1] {
		hi--
	}
	if lo == hi {
		a.clear()
		return
	}
	a.lo, a.hi, a.dense = lo, hi, true
	for _, on := range a.on[lo:hi] {
		if !on {
			a.dense = false
			return
		}
	}
}

// split divides the set from by a condition: yes gets those for which it isn't 0, no the others. Both are other sets than from.
func split(from, yes, no *lanes, condition []uint32) {
	some, none := uint32(0), uint32(1)
	if from.dense {
		for _, c := range condition[from.lo:from.hi] {
			some |= c
			none &= c
		}
		switch {
		case some == 0:
			yes.clear()
			no.copy(from)
			return
		case none == 1:
			yes.copy(from)
			no.clear()
			return
		}
	}
	for i := from.lo; i < from.hi; i++ {
		in, c := from.dense || from.on[i], condition[i] != 0
		yes.on[i] = in && c
		no.on[i] = in && !c
	}
	yes.settle(from.lo, from.hi)
	no.settle(from.lo, from.hi)
}

// add makes a the union of a and b.
func (a *lanes) add(b *lanes) {
	switch {
	case b.empty():
		return
	case a.empty():
		a.copy(b)
		return
	case a.dense && b.dense && a.lo <= b.hi && b.lo <= a.hi:
		a.lo, a.hi = min(a.lo, b.lo), max(a.hi, b.hi)
		return
	}
	lo, hi := min(a.lo, b.lo), max(a.hi, b.hi)
	for i := lo; i < hi; i++ {
		a.on[i] = a.has(i) || b.has(i) // has looks at bounds that stay, and at on[i] before it is written
	}
	a.settle(lo, hi)
}

// count returns the number of invocations in [lo, hi).
func (a *lanes) count(lo, hi int) int {
	lo, hi = max(lo, a.lo), min(hi, a.hi)
	if lo >= hi {
		return 0
	}
	if a.dense {
		return hi - lo
	}
	n := 0
	for _, on := range a.on[lo:hi] {
		if on {
			n++
		}
	}
	return n
}

// first returns the first invocation in [lo, hi) that belongs to the set, or with want false that doesn't; -1 for none.
func (a *lanes) first(lo, hi int, want bool) int {
	for i := lo; i < hi; i++ {
		if a.has(i) == want {
			return i
		}
	}
	return -1
}

// move copies src to dst for the invocations of the set.
func (a *lanes) move(dst, src []uint32) {
	if a.dense {
		copy(dst[a.lo:a.hi], src[a.lo:a.hi])
		return
	}
	for i := a.lo; i < a.hi; i++ {
		if a.on[i] {
			dst[i] = src[i]
		}
	}
}

// set writes a value for the invocations of the set.
func (a *lanes) set(dst []uint32, value uint32) {
	for i := a.lo; i < a.hi; i++ {
		if a.dense || a.on[i] {
			dst[i] = value
		}
	}
}
