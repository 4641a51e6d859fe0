package bounds

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// The sizes of subgroups that WGSL knows.
const leastSubgroup, mostSubgroup = 4, 128

// builtins makes the built-in values of an entry point. Those that others are computed from are nodes of their own.
func (p *prover) builtins(fn *wgsl.Func) map[string]*node {
	size, all := fn.Workgroup, 1
	for _, n := range size {
		all *= n
	}
	u32 := func(lo, hi int) *node { return p.known(wgsl.U32, between(int64(lo), int64(hi))) }
	index := u32(0, all-1)
	three := func() *node { return &node{op: opParts, typ: wgsl.Vector{Elem: wgsl.U32, Width: 3}} }
	group, groups, local, global := three(), three(), three(), three()
	for i := range 3 {
		g, l := u32(0, p.use.Grid[i]-1), u32(0, size[i]-1)
		if size[i] == all {
			l = index
		}
		group.args, local.args = append(group.args, g), append(local.args, l)
		groups.args = append(groups.args, u32(1, p.use.Grid[i]))
		global.args = append(global.args, p.make(opAdd, wgsl.U32, p.make(opMul, wgsl.U32, g, p.number(wgsl.U32, int64(size[i]))), l))
	}
	return map[string]*node{
		"workgroup_id": group, "num_workgroups": groups, "local_invocation_id": local, "global_invocation_id": global,
		"local_invocation_index": index, "subgroup_size": u32(leastSubgroup, mostSubgroup), "subgroup_invocation_id": u32(0, mostSubgroup-1),
		"subgroup_id": u32(0, all-1), "num_subgroups": u32(1, all),
	}
}

// input is the value of a parameter of the entry point: a built-in value, or a struct of them.
func (p *prover) input(t wgsl.Type, builtin string) *node {
	if n := p.inputs[builtin]; n != nil {
		return n
	}
	if st, ok := t.(*wgsl.Struct); ok {
		n := &node{op: opParts, typ: t}
		for _, m := range st.Members {
			n.args = append(n.args, p.input(m.Type, m.Builtin))
		}
		return n
	}
	return p.fresh(t)
}

// alone reports whether one invocation of the whole grid is at a place.
func (p *prover) alone(s *state) bool {
	return p.use.Grid == [3]int{1, 1, 1} && p.span(s.facts, p.inputs["local_invocation_index"]).single()
}
