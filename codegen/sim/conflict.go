package sim

import (
	"sync"
	"sync/atomic"
)

// merging guards what workgroups that run at the same time share.
type merging struct {
	sync.Mutex
	findings  findings
	conflicts []conflict
}

// conflict is a location that workgroups race for.
type conflict struct {
	cell *groupCell
	touch
}

// finish compares what the workgroup touched with what others of the dispatch did, and marks what it wrote as written.
func (m *machine) finish() {
	m.merge.Lock()
	defer m.merge.Unlock()
	me := uint32(m.linear) + 1
	for _, t := range m.touched {
		b := &m.bound[t.root]
		c := m.local[t.root].at(t.location)
		if c.value >= m.start {
			m.leave(b, t)
		}
		if c.write >= m.start && c.writer < 0 { // atomic operations don't race
			continue
		}
		g := b.buffer.groups.at(2*b.base+t.location, len(b.buffer.words), m.number)
		if c.write >= m.start {
			smallest(&g.write, groupAccess{me, c.writer, c.writeSite})
		}
		if c.read >= m.start {
			smallest(&g.read, groupAccess{me, c.reader, c.readSite})
		}
		if !g.told && g.conflict() {
			g.told = true
			m.merge.conflicts = append(m.merge.conflicts, conflict{g, t})
		}
	}
}

// leave notes that the workgroup left a value in a location.
func (m *machine) leave(b *bound, t touch) {
	if b.buffer.written != nil {
		b.buffer.leave(2*b.base+t.location, halvesAt(m.program.bindings[t.root].Type, int64(2*t.location)))
	}
	word := b.base + t.location/2
	if s := b.segment(word); s != nil && b.buffer.stamps != nil && s.write != 0 {
		atomic.StoreUint32(&b.buffer.stamps[word], s.write)
	}
}

// races reports the locations that several workgroups touch, once all of them ran.
func (d *dispatch) races() {
	for _, c := range d.merge.conflicts {
		g := c.cell
		if g.write[1].group != 0 {
			d.between(c.touch, g.write[0], g.write[1], "writes", "writes")
		}
		if r, ok := g.reader(); ok {
			if w := g.write[0]; w.group < r.group {
				d.between(c.touch, w, r, "writes", "reads")
			} else {
				d.between(c.touch, r, w, "reads", "writes")
			}
		}
	}
	d.merge.conflicts = nil
}

// between reports two workgroups that touch a location, the smaller number first. The place is that of the second, or of the one that
// writes where the other reads.
func (d *dispatch) between(t touch, first, second groupAccess, did, does string) {
	v := d.program.bindings[t.root]
	was, is := d.program.sites[first.site], d.program.sites[second.site]
	at := is
	if does == "reads" {
		at = was
	}
	d.merge.findings.add(Finding{
		Kind: Race, Kernel: d.kernel, File: at.pos.File, Line: at.pos.Line, Column: at.pos.Column, Variable: v.Name,
		Index:  elementAt(v.Type, int64(2*t.location)),
		Detail: "two workgroups touch it: the first " + did + " in line " + decimal(int64(was.pos.Line)) + ", the second " + does + " in line " + decimal(int64(is.pos.Line)) + besides(was, is),
		Invocations: []Invocation{
			{Workgroup: d.groupOf(uint64(first.group - 1)), Local: int(first.lane)}, {Workgroup: d.groupOf(uint64(second.group - 1)), Local: int(second.lane)},
		},
	})
}

// besides explains a race of which one access is a write to a component.
func besides(a, b site) string {
	if a.component || b.component {
		return ": a write to a component may write the whole vector"
	}
	return ""
}

func (d *dispatch) groupOf(linear uint64) [3]int {
	x, y := uint64(d.grid[0]), uint64(d.grid[1])
	return [3]int{int(linear % x), int(linear / x % y), int(linear / x / y)}
}
