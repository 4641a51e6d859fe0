package bind

import (
	"fmt"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// checkClashes holds the groups to WebGPU's rule for one dispatch: what is written overlaps nothing, and a buffer is bound
// only as read (storage or uniform) or only as read_write.
func (p *planner) checkClashes() error {
	if !p.placed {
		return nil
	}
	for i, a := range p.groups {
		for _, b := range p.groups[i+1:] {
			if err := p.clash(a, b); err != nil {
				return err
			}
		}
		for j, m := range a.members[1:] {
			if a.access == plan.ReadWrite && a.offsets[j]+a.members[j].bytes() > a.offsets[j+1] {
				return p.refuse("%s and %s overlap", a.members[j].Name, m.Name)
			}
		}
	}
	return nil
}

func (p *planner) clash(a, b *group) error {
	x, y := a.place(), b.place()
	if x.Buffer != y.Buffer || a.access != plan.ReadWrite && b.access != plan.ReadWrite {
		return nil
	}
	if x.Overlaps(y) {
		return p.refuse("%s (%s) and %s (%s) overlap in buffer %d, and one is written; in place is one read_write operand",
			a.names(), a.access, b.names(), b.access, x.Buffer)
	}
	if a.access != b.access {
		return p.refuse("%s (%s) and %s (%s) lie in buffer %d, which one dispatch may bind for reading or for writing, not both; they are not side by side",
			a.names(), a.access, b.names(), b.access, x.Buffer)
	}
	return nil
}

// checkLimits holds the result to the limits of the device.
func (p *planner) checkLimits() error {
	for _, g := range p.groups {
		limit, most := plan.LimitBindingBytes, p.limits.BindingBytes
		if g.access == plan.Uniform {
			limit, most = plan.LimitUniformBytes, p.limits.UniformBytes
			if elemBytes[g.elem] != 16 {
				return p.refuse("%s: a uniform array has elements of 16 bytes, not %s", g.name, g.elem)
			}
		}
		if g.bytes() > most {
			return p.exceeds(limit, g.bytes(), most, "%s needs %d bytes, the largest %s binding has %d", g.names(), g.bytes(), g.access, most)
		}
	}
	if n := p.count(true); n > p.limits.UniformBuffers {
		return p.exceeds(plan.LimitUniformBuffers, uint64(n), uint64(p.limits.UniformBuffers),
			"%d uniform bindings, the limit is %d", n, p.limits.UniformBuffers)
	}
	if n := p.count(false); n > p.limits.StorageBuffers {
		p.steps = append(p.steps, p.notDone()...)
		return p.exceeds(plan.LimitStorageBuffers, uint64(n), uint64(p.limits.StorageBuffers),
			"%d storage bindings, the limit is %d: %s", n, p.limits.StorageBuffers, p.listing())
	}
	return nil
}

func (p *planner) listing() string {
	var parts []string
	for _, g := range p.groups {
		if g.access != plan.Uniform {
			parts = append(parts, fmt.Sprintf("%s (%s %s)", g.names(), g.access, g.elem))
		}
	}
	return strings.Join(parts, ", ")
}

// notDone says why the remaining ways to save a binding don't help.
func (p *planner) notDone() []string {
	out := []string{"no more vectors to move to a uniform", "merging operands of one arena and splitting the kernel are not built yet"}
	if !p.placed {
		out = append([]string{"operands have no places, so none lie side by side"}, out...)
	}
	return out
}
