package bind

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// maxGap is how far apart two ranges may lie and still be bound as one: less than the alignment of ranges, so that the gap
// is never more than the padding after a tensor.
const maxGap = plan.RangeAlignment

// Plan lowers the operands of a kernel to bindings within the limits, or returns a *Refusal. Either every operand has a
// place or none has.
func Plan(kernel string, operands []Operand, limits plan.Limits) (*Bindings, error) {
	p := &planner{kernel: kernel, limits: limits}
	for _, step := range []func() error{
		func() error { return p.read(operands) },
		p.pack,
		p.sideBySide,
		p.uniforms,
		p.checkClashes,
		p.checkLimits,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	b := &Bindings{Kernel: kernel, Steps: p.steps, limits: limits}
	for _, g := range p.groups {
		b.List = append(b.List, g.binding())
	}
	return b, nil
}

// planner is the state of Plan: groups of operands, each of which becomes a binding.
type planner struct {
	kernel string
	limits plan.Limits
	placed bool
	groups []*group
	steps  []string
}

// group is a binding in the making. Members are in the order of their places; offsets count bytes from the first.
type group struct {
	name    string
	elem    string
	access  plan.Access
	class   Class
	members []Operand
	offsets []uint64
}

func (g *group) place() plan.Range {
	if !g.members[0].placed() {
		return plan.Range{}
	}
	return plan.Range{Buffer: g.members[0].Place.Buffer, Offset: g.members[0].Place.Offset, Bytes: g.bytes()}
}

// bytes is the size of what the kernel declares for the group.
func (g *group) bytes() uint64 {
	last := len(g.members) - 1
	n := g.offsets[last] + g.members[last].bytes()
	size := elemBytes[g.elem]
	return (n + size - 1) / size * size
}

func (g *group) binding() Binding {
	size := elemBytes[g.elem]
	b := Binding{Name: g.name, Elem: g.elem, Access: g.access, Count: int(g.bytes() / size), Range: g.place()}
	for i, m := range g.members {
		b.Members = append(b.Members, Member{Operand: m.Name, Elem: m.Elem, Offset: int(g.offsets[i] / size), Count: m.Count})
	}
	return b
}

func (g *group) names() string {
	names := make([]string, len(g.members))
	for i, m := range g.members {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// read checks the operands and makes a group of each.
func (p *planner) read(operands []Operand) error {
	if len(operands) == 0 {
		return p.refuse("there are no operands")
	}
	seen := map[string]bool{}
	p.placed = operands[0].placed()
	for _, o := range operands {
		if err := o.check(); err != nil {
			return p.refuse("%v", err)
		}
		if seen[o.Name] {
			return p.refuse("two operands are called %s", o.Name)
		}
		seen[o.Name] = true
		if o.placed() != p.placed {
			return p.refuse("%s and %s: one has a place, the other has none", operands[0].Name, o.Name)
		}
		p.groups = append(p.groups, &group{
			name: o.Name, elem: o.Elem, access: o.Access, class: o.Class, members: []Operand{o}, offsets: []uint64{0},
		})
	}
	return nil
}

// pack puts all metadata in one u32 array when there are two or more, so that what one device needs all devices get.
func (p *planner) pack() error {
	var found []*group
	for _, g := range p.groups {
		if g.class == Metadata {
			found = append(found, g)
		}
	}
	if len(found) < 2 {
		return nil
	}
	packed, err := p.merge(found)
	if err != nil {
		return p.refuse("metadata is packed, so it must lie side by side in one buffer: %v", err)
	}
	packed.name, packed.elem = p.free("metadata"), "u32"
	p.replace(found, packed)
	p.note("packed %d metadata arrays into one of u32: %s", len(found), packed.names())
	return nil
}

// merge makes one group of several. Placed ones must lie side by side; on paper they are put one after another.
func (p *planner) merge(groups []*group) (*group, error) {
	groups = slices.Clone(groups)
	if p.placed {
		slices.SortStableFunc(groups, func(a, b *group) int {
			return cmp.Compare(a.members[0].Place.Offset, b.members[0].Place.Offset)
		})
	}
	first := groups[0]
	out := &group{elem: first.elem, access: first.access, class: first.class}
	end := uint64(0)
	for i, g := range groups {
		base := end
		if p.placed {
			base = g.place().Offset - first.place().Offset
		}
		if i > 0 && p.placed && !follows(groups[i-1], g) {
			return nil, fmt.Errorf("%s does not follow %s", g.names(), groups[i-1].names())
		}
		for j, m := range g.members {
			out.members = append(out.members, m)
			out.offsets = append(out.offsets, base+g.offsets[j])
		}
		end = base + g.bytes()
	}
	return out, nil
}

// follows reports whether b starts where a ends, or less than maxGap bytes after.
func follows(a, b *group) bool {
	x, y := a.place(), b.place()
	end := x.Offset + x.Bytes
	return x.Buffer == y.Buffer && y.Offset >= end && y.Offset-end < maxGap
}

// sideBySide binds groups that lie side by side and have one element type as one. A group that is read joins a written
// one beside it too: bound apart they would clash.
func (p *planner) sideBySide() error {
	if !p.placed {
		return nil
	}
	for a, b := p.neighbours(); a != nil; a, b = p.neighbours() {
		joined, err := p.merge([]*group{a, b})
		if err != nil {
			return p.refuse("%v", err)
		}
		joined.access = max(a.access, b.access)
		joined.class = Tensor
		how := "used alike"
		if a.access != b.access {
			how = "in one buffer that is written"
		}
		joined.name = p.free(a.name + "_" + b.name)
		p.note("bound %s and %s as one: side by side, %s", a.names(), b.names(), how)
		p.replace([]*group{a, b}, joined)
	}
	return nil
}

// neighbours returns two groups to bind as one, or nil.
func (p *planner) neighbours() (a, b *group) {
	for _, a := range p.groups {
		for _, b := range p.groups {
			if a != b && a.elem == b.elem && a.access != plan.Uniform && b.access != plan.Uniform &&
				(a.class == Metadata) == (b.class == Metadata) && follows(a, b) && (p.fits(a, b) || clash(a, b)) {
				return a, b
			}
		}
	}
	return nil, nil
}

// fits reports whether one binding has room for both; planes of a large weight must stay apart.
func (p *planner) fits(a, b *group) bool {
	return b.place().Offset+b.place().Bytes-a.place().Offset <= p.limits.BindingBytes
}

// clash reports whether groups of one buffer can't be bound apart.
func clash(a, b *group) bool { return a.access != b.access }

// uniforms moves vectors to uniforms, the smallest first, while there are too many storage bindings.
func (p *planner) uniforms() error {
	var candidates []*group
	for _, g := range p.groups {
		if g.class == Vector && len(g.members) == 1 && elemBytes[g.elem] == 16 && g.bytes() <= p.limits.UniformBytes {
			candidates = append(candidates, g)
		}
	}
	slices.SortStableFunc(candidates, func(a, b *group) int { return cmp.Compare(a.bytes(), b.bytes()) })
	for _, g := range candidates {
		if p.count(false) <= p.limits.StorageBuffers || p.count(true) >= p.limits.UniformBuffers {
			break
		}
		p.note("moved %s (%d bytes) to a uniform: %d storage bindings are too many", g.name, g.bytes(), p.count(false))
		g.access = plan.Uniform
	}
	return nil
}

// count returns the number of uniform bindings, or of storage bindings.
func (p *planner) count(uniform bool) int {
	n := 0
	for _, g := range p.groups {
		if (g.access == plan.Uniform) == uniform {
			n++
		}
	}
	return n
}

// replace puts a group where the first of those it replaces was.
func (p *planner) replace(old []*group, with *group) {
	at := slices.IndexFunc(p.groups, func(g *group) bool { return slices.Contains(old, g) })
	p.groups[at] = with
	p.groups = slices.DeleteFunc(p.groups, func(g *group) bool { return slices.Contains(old, g) })
}

// free returns the name, lengthened until no operand has it.
func (p *planner) free(name string) string {
	for taken := true; taken; {
		taken = slices.ContainsFunc(p.groups, func(g *group) bool {
			return slices.ContainsFunc(g.members, func(m Operand) bool { return m.Name == name })
		})
		if taken {
			name += "_"
		}
	}
	return name
}

func (p *planner) note(format string, a ...any) { p.steps = append(p.steps, fmt.Sprintf(format, a...)) }
