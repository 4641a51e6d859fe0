package codegen

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

func align(n uint64) uint64 {
	return (n + plan.RangeAlignment - 1) / plan.RangeAlignment * plan.RangeAlignment
}

// slot is memory for one value, or for several that share their bytes.
type slot struct {
	name   string // of the first value, for messages
	bytes  uint64
	output bool // stays readable after the replay: lives in a buffer of its own
	unit   *unit
	offset uint64 // within the unit
}

// unit is one or more slots placed side by side.
type unit struct {
	slots       []*slot
	bytes       uint64
	first, last int // steps between which the unit holds live values
	arena       int
	offset      uint64
}

func newUnit(slots ...*slot) *unit {
	u := &unit{slots: slots, first: -1}
	for _, s := range slots {
		s.unit, s.offset = u, u.bytes
		u.bytes += align(s.bytes)
	}
	return u
}

// touch extends the unit's life to a step.
func (u *unit) touch(step int) {
	if u.first < 0 {
		u.first = step
	}
	u.last = max(u.last, step)
}

// slots maps every value to its memory.
type slots struct {
	of    map[*ir.Tensor]*slot
	units []*unit
}

// share makes b use the bytes of a.
func (m *slots) share(a, b *ir.Tensor) error {
	s, ok := m.of[a]
	if !ok {
		return fmt.Errorf("value %s is used before it has memory", a.Name)
	}
	m.of[b] = s
	return nil
}

// add gives a value memory of its own; the unit comes with join or by itself.
func (m *slots) add(t *ir.Tensor, bytes uint64, output bool) {
	m.of[t] = &slot{name: t.Name, bytes: bytes, output: output}
}

// join asks for the memory of values to lie side by side, in this order but for what a step before had joined: that stays so, as
// the step may have too few bindings to have it apart.
func (m *slots) join(values []*ir.Tensor) error {
	var parts []*slot
	for _, t := range values {
		s := m.of[t]
		if s == nil {
			return fmt.Errorf("value %s has no memory", t.Name)
		}
		if !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	if len(parts) < 2 {
		return nil
	}
	if u := parts[0].unit; u != nil {
		at := slices.Index(u.slots, parts[0])
		if at+len(parts) <= len(u.slots) && slices.Equal(u.slots[at:at+len(parts)], parts) {
			return nil
		}
	}
	for _, s := range parts {
		if s.output || s.unit != nil && slices.ContainsFunc(s.unit.slots, func(o *slot) bool { return !slices.Contains(parts, o) }) {
			return fmt.Errorf("value %s cannot lie beside the others of %s: it has another place already", s.name, parts[0].name)
		}
	}
	// Units of nothing but these slots become part of the new one.
	m.units = slices.DeleteFunc(m.units, func(u *unit) bool { return slices.Contains(parts, u.slots[0]) })
	var order []*slot
	for _, s := range parts {
		if s.unit == nil {
			order = append(order, s)
		} else if !slices.Contains(order, s) {
			order = append(order, s.unit.slots...)
		}
	}
	m.units = append(m.units, newUnit(order...))
	return nil
}

// finish gives every slot that was not joined a unit of its own and returns all units of the arenas.
func (m *slots) finish(order []*ir.Tensor) []*unit {
	for _, t := range order {
		if s := m.of[t]; s != nil && s.unit == nil && !s.output {
			m.units = append(m.units, newUnit(s))
		}
	}
	return m.units
}

// use is what one step does to units: it writes some and reads others.
type use struct{ reads, writes []*unit }

// placeUnits chooses an arena and an offset for every unit. Two units are in different arenas when some step writes one
// and uses the other; they do not overlap while both live. It returns the size of each arena.
//
// Arenas are chosen greedily, lowest first, in order of first use; offsets by first fit. Layers that repeat then get the
// same offsets, which the tests hold it to.
func placeUnits(units []*unit, uses []use) []uint64 {
	apart := map[*unit]map[*unit]bool{}
	separate := func(a, b *unit) {
		for _, p := range [2][2]*unit{{a, b}, {b, a}} {
			if apart[p[0]] == nil {
				apart[p[0]] = map[*unit]bool{}
			}
			apart[p[0]][p[1]] = true
		}
	}
	for i, u := range uses {
		for _, w := range u.writes {
			w.touch(i)
			for _, other := range slices.Concat(u.reads, u.writes) {
				if other != w {
					separate(w, other)
				}
			}
		}
		for _, r := range u.reads {
			r.touch(i)
		}
	}
	order := slices.Clone(units)
	slices.SortStableFunc(order, func(a, b *unit) int { return cmp.Compare(a.first, b.first) })
	var sizes []uint64
	for i, u := range order {
		placed := order[:i]
		u.arena = lowestArena(u, placed, apart[u])
		u.offset = firstFit(u, placed)
		for len(sizes) <= u.arena {
			sizes = append(sizes, 0)
		}
		sizes[u.arena] = max(sizes[u.arena], u.offset+u.bytes)
	}
	return sizes
}

func lowestArena(u *unit, placed []*unit, apart map[*unit]bool) int {
	taken := map[int]bool{}
	for _, p := range placed {
		if apart[p] {
			taken[p.arena] = true
		}
	}
	arena := 0
	for taken[arena] {
		arena++
	}
	return arena
}

// firstFit returns the lowest offset where u overlaps no placed unit of its arena that lives at the same time.
func firstFit(u *unit, placed []*unit) uint64 {
	var busy []*unit
	for _, p := range placed {
		if p.arena == u.arena && p.first <= u.last && u.first <= p.last {
			busy = append(busy, p)
		}
	}
	slices.SortFunc(busy, func(a, b *unit) int { return cmp.Compare(a.offset, b.offset) })
	offset := uint64(0)
	for _, p := range busy {
		if offset+u.bytes <= p.offset {
			break
		}
		offset = max(offset, p.offset+p.bytes)
	}
	return offset
}
