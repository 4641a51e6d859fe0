package sim

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// op is one operation of a workgroup: it computes for the invocations of a set. Operations that end invocations (break,
// continue, return) take them out of the set.
type op func(m *machine, a *lanes)

// machine runs workgroups of one program, one after another. Workers have one each.
type machine struct {
	*dispatch
	n     int        // invocations of a workgroup
	regs  [][]uint32 // registers: a word for each invocation
	masks []lanes

	group  [3]int // workgroup_id
	linear uint64 // number of the workgroup in its grid

	shared  []uint32 // workgroup memory
	cells   shadow   // who touched it
	local   []shadow // who touched each binding that is written, in this workgroup
	touched []touch  // words of them
	epoch   uint32   // rises with each barrier and workgroup
	start   uint32   // the epoch in which the workgroup began: nothing before it was in this workgroup
	synced  [2]uint32

	trips  uint32   // of all loops, of all invocations
	extra  []uint32 // and beyond those of each
	most   uint32   // the largest of extra
	steps  int64
	made   makers
	found  findings
	strays map[int][]bool // by register of a place: the invocations that an index was clamped for
	ended  bool           // by a trap, a loop without an end or a context
}

// The spaces that barriers order.
const (
	inWorkgroup = iota
	inStorage
)

func (p *Program) newMachine() *machine {
	m := &machine{n: p.invocations, regs: make([][]uint32, p.slots), masks: make([]lanes, p.masks), extra: make([]uint32, p.invocations)}
	slab := make([]uint32, p.slots*p.invocations)
	for i := range m.regs {
		m.regs[i] = slab[i*m.n : (i+1)*m.n : (i+1)*m.n]
	}
	on := make([]bool, len(m.masks)*m.n)
	for i := range m.masks {
		m.masks[i] = lanes{dense: true, on: on[i*m.n : (i+1)*m.n : (i+1)*m.n]}
	}
	m.shared = make([]uint32, p.sharedWords)
	m.cells.resize(p.sharedWords)
	m.local = make([]shadow, len(p.bindings))
	for bits, slot := range p.constants {
		fill(m.regs[slot], bits)
	}
	return m
}

func fill(words []uint32, value uint32) {
	for i := range words {
		words[i] = value
	}
}

// begin makes the machine ready for a workgroup.
func (m *machine) begin(linear uint64) {
	g := m.grid
	m.linear = linear
	m.group = [3]int{int(linear % uint64(g[0])), int(linear / uint64(g[0]) % uint64(g[1])), int(linear / uint64(g[0]) / uint64(g[1]))}
	m.epoch++
	m.start = m.epoch
	m.synced = [2]uint32{m.epoch, m.epoch}
	m.touched = m.touched[:0]
	m.trips, m.most = 0, 0
	fill(m.extra, 0)
	m.made.forget()
	if m.options.ZeroWorkgroup {
		fill(m.shared, 0)
	} else {
		fill(m.shared, poison)
	}
	clear(m.strays)
	m.inputs()
}

// poison is what memory that nothing wrote reads as: a NaN where it is a float, far beyond any array where it is an index.
const poison = 0x7fadbeef

// inputs sets the registers of built-in values.
func (m *machine) inputs() {
	s := m.subgroup
	for _, in := range m.program.inputs {
		r := m.regs[in.slot]
		for i := range r {
			var v int
			switch in.name {
			case "workgroup_id":
				v = m.group[in.part]
			case "num_workgroups":
				v = m.grid[in.part]
			case "local_invocation_id":
				v = localID(i, m.program.size)[in.part]
			case "global_invocation_id":
				v = m.group[in.part]*m.program.size[in.part] + localID(i, m.program.size)[in.part]
			case "local_invocation_index":
				v = i
			case "subgroup_size":
				v = s
			case "subgroup_invocation_id":
				v = i % s
			case "subgroup_id":
				v = i / s
			case "num_subgroups":
				v = (m.n + s - 1) / s
			}
			r[i] = uint32(v)
		}
	}
}

func localID(i int, size [3]int) [3]int {
	return [3]int{i % size[0], i / size[0] % size[1], i / size[0] / size[1]}
}

// invocation names an invocation of this workgroup.
func (m *machine) invocation(lane int) Invocation { return Invocation{Workgroup: m.group, Local: lane} }

// report adds a finding at a site. Lanes are the one or two invocations concerned. The sentence is made where it is wanted.
func (m *machine) report(kind Kind, at site, variable string, index int64, detail func() string, lanes ...int) {
	var who [2]Invocation
	for i, l := range lanes {
		who[i] = m.invocation(l)
	}
	key := seen{kind, variable, at.number}
	if m.found.again(key, index, who[:len(lanes)]) {
		return
	}
	f := Finding{Kind: kind, Kernel: m.kernel, File: at.pos.File, Line: at.pos.Line, Column: at.pos.Column, Variable: variable, Index: index, Detail: detail()}
	f.Invocations = append(f.Invocations, who[:len(lanes)]...)
	n := m.found.add(f)
	if m.found.sites == nil {
		m.found.sites = map[seen]int{}
	}
	m.found.sites[key] = n
}

// site is a place of the text that findings name. Sites have numbers; 0 is none.
type site struct {
	number    int32
	pos       wgsl.Pos
	what      string // the operation, in words
	component bool   // it writes a component of a vector
	lax       bool   // it is a shuffle whose callers drop the values of lanes that aren't there
}

// barrier orders the accesses before it and after it.
func (m *machine) barrier(space int) {
	m.epoch++
	m.synced[space] = m.epoch
}
