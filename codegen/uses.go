package codegen

import (
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// listUses says for every dispatch of the plan which tensors it reads and writes where. Values have their names in the graph,
// weights those in the file, halves of the cache and the rest the names that a Builder's errors give them.
//
// A value that is overwritten in place is two uses of one range: the old one is read, the new one written. A use lies within
// what its record binds.
func listUses(c *compilation) error {
	weights := c.firstWeights()
	uses := make([][]plan.Use, len(c.steps))
	for i, s := range c.steps {
		for _, b := range s.bindings.List {
			for _, m := range b.Members {
				o := slices.IndexFunc(s.kernel.Operands, func(o bind.Operand) bool { return o.Name == m.Operand })
				for _, u := range c.usesOf(s.args[o], s.written[o], s.kernel.Operands[o].Access, weights) {
					if u.Range = within(u.Range, b.Range); u.Range.Bytes > 0 {
						uses[i] = append(uses[i], u)
					}
				}
			}
		}
	}
	for _, list := range c.plan.Lists {
		var all [][]plan.Use
		for i, s := range c.steps {
			if slices.Contains(s.phases, list.Phase) {
				all = append(all, uses[i])
			}
		}
		c.uses = append(c.uses, all)
	}
	return nil
}

// firstWeights returns for each stack the number of its first tensor among the weights of the plan.
func (c *compilation) firstWeights() []int {
	var first []int
	n := 0
	for _, s := range c.program.Stacks {
		first = append(first, n)
		n += len(s.Tensors)
	}
	return first
}

// usesOf returns the uses of one operand.
func (c *compilation) usesOf(a arg, written Arg, access plan.Access, weights []int) []plan.Use {
	at := c.placed.at(written)
	switch {
	case a.plane != nil:
		var uses []plan.Use
		for i := range a.plane.stack.shards {
			w := c.plan.Weights[weights[written.Index]+i]
			uses = append(uses, plan.Use{Tensor: w.Tensor, Range: w.Recipe.Planes[written.Plane].To, Access: access})
		}
		return uses
	case a.params:
		return []plan.Use{{Tensor: "params", Range: at, Access: access}}
	case a.table != nil:
		return []plan.Use{{Tensor: "position table", Range: at, Access: access}}
	case a.cache != nil:
		half := "keys of "
		if a.values {
			half = "values of "
		}
		return []plan.Use{{Tensor: half + a.cache.Name, Range: at, Access: access}}
	case access == plan.ReadWrite && a.makes == nil:
		return []plan.Use{{Tensor: computed(a.value).Name, Range: at, Access: access}}
	}
	var uses []plan.Use
	for t := a.value; t != nil; t = c.partly[t] {
		t = computed(t)
		uses = append(uses, plan.Use{Tensor: t.Name, Range: at, Access: plan.Read})
	}
	if a.makes != nil {
		uses = append(uses, plan.Use{Tensor: a.makes.Name, Range: at, Access: plan.ReadWrite})
	}
	return uses
}

// computed follows other names of a value's bytes to the value that a step computes.
func computed(t *ir.Tensor) *ir.Tensor {
	for t.Def != nil && (t.Def.Op == ir.Reshape || t.Def.Op == ir.Last) {
		t = t.Def.In[0]
	}
	return t
}

// within returns the part of r that lies in o.
func within(r, o plan.Range) plan.Range {
	from, to := max(r.Offset, o.Offset), min(r.Offset+r.Bytes, o.Offset+o.Bytes)
	if r.Buffer != o.Buffer || from >= to {
		return plan.Range{}
	}
	return plan.Range{Buffer: r.Buffer, Offset: from, Bytes: to - from}
}
