package randomwgsl

import "fmt"

// main writes the entry point: parts that every invocation runs, with barriers and operations of subgroups between them, then stores
// of all that the variables hold.
func (g *generator) main() {
	params := "@builtin(global_invocation_id) global: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, " +
		"@builtin(local_invocation_index) lid: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>"
	ids := []*variable{{name: "global", kind: plain("u32", 3)}, {name: "local", kind: plain("u32", 3)}, {name: "lid", kind: plain("u32", 1)},
		{name: "group", kind: plain("u32", 3)}, {name: "groups", kind: plain("u32", 3)}}
	if g.subgroup {
		params += ", @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32"
		ids = append(ids, &variable{name: "lane", kind: plain("u32", 1)}, &variable{name: "lanes", kind: plain("u32", 1)})
	}
	g.line("@compute @workgroup_size(%d, %d, %d)", g.size[0], g.size[1], g.size[2])
	g.inMain, g.budget, g.result, g.loops = true, 26, nil, 0
	g.scopes = [][]*variable{ids}
	g.block("fn main("+params+")", func() {
		g.line("let here = lid + %du * (group.x + groups.x * (group.y + groups.y * group.z));", g.invocations())
		g.block("if lid == 0u", func() {
			g.block("for (var n = 0; n < 5; n++)", func() { g.line("atomicStore(&sums[n], 0u);") })
		})
		g.line("workgroupBarrier();")
		for range 2 + g.r.IntN(4) {
			g.statements(1 + g.r.IntN(3))
			g.together()
			g.together()
			g.order()
		}
		g.statements(4)
		g.store()
	})
}

// together writes what all invocations of a workgroup do together.
func (g *generator) together() {
	switch n := g.r.IntN(10); {
	case n >= 5 && !g.subgroup:
		g.count()
	case n < 2:
		g.exchange()
	case n == 2:
		g.addUp()
	case n == 3:
		g.decide()
	case n == 4:
		g.count()
	case n < 8:
		g.subgroups()
		g.subgroups()
	default:
		counter := g.name("n")
		g.block(fmt.Sprintf("for (var %s = 0u; %[1]s < %du; %[1]s++)", counter, 1+g.r.IntN(3)), g.subgroups)
	}
}

// exchange has each invocation write an element of the tile and read others'.
func (g *generator) exchange() {
	v := &variable{name: g.name("t"), kind: g.tile}
	g.line("tile[lid] = %s;", g.tamed(g.tile, g.value(g.tile, depth)))
	g.line("workgroupBarrier();")
	n := g.invocations()
	g.line("let %s = tile[(lid + %du) %% %du];", v.name, g.r.IntN(n+1), n)
	g.add(v)
	if g.chance(50) {
		other := &variable{name: g.name("t"), kind: g.tile}
		g.line("let %s = tile[%s %% %du];", other.name, g.unary(g.value(plain("u32", 1), 2)), n)
		g.add(other)
	}
	g.line("workgroupBarrier();")
}

// addUp has all invocations change atomics of the workgroup, each by one operation alone, so that the order doesn't matter.
func (g *generator) addUp() {
	operations := []string{"atomicAdd", "atomicMax", "atomicMin", "atomicOr", "atomicXor"}
	at := g.r.IntN(len(operations))
	v := &variable{name: g.name("t"), kind: plain("u32", 1)}
	change := func() { g.line("%s(&sums[%d], %s);", operations[at], at, g.value(v.kind, depth).text) }
	if g.chance(40) {
		g.block("if "+g.condition1(), change)
	} else {
		change()
	}
	g.line("workgroupBarrier();")
	g.line("let %s = atomicLoad(&sums[%d]);", v.name, at)
	g.add(v)
	g.line("workgroupBarrier();")
	if g.chance(30) {
		g.block("if lid == 0u", func() { g.line("atomicStore(&sums[%d], %s);", at, g.value(v.kind, 1).text) })
		g.line("workgroupBarrier();")
	}
}

// decide has one invocation set a flag that all read.
func (g *generator) decide() {
	g.block(fmt.Sprintf("if lid == %du", g.r.IntN(g.invocations())), func() { g.line("flag = %s;", g.value(plain("u32", 1), depth).text) })
	v := &variable{name: g.name("t"), kind: plain("u32", 1)}
	g.line("let %s = workgroupUniformLoad(&flag);", v.name)
	g.add(v)
	if g.chance(50) {
		g.block(fmt.Sprintf("if (%s & 1u) == 0u", v.name), func() {
			g.statements(2)
			g.together()
		})
	}
}

// count changes atomics of a buffer, each by one operation alone.
func (g *generator) count() {
	operations := []string{"atomicAdd", "atomicMax", "atomicMin", "atomicOr", "atomicXor", "atomicSub"}
	member, scalar := "unsigned", "u32"
	if g.chance(50) {
		member, scalar = "signed", "i32"
	}
	at := g.r.IntN(len(operations) - 1)
	if member == "signed" {
		at = g.r.IntN(len(operations))
	}
	g.line("%s(&counters.%s[%d], %s);", operations[at], member, at, g.value(plain(scalar, 1), depth).text)
}

// subgroups writes an operation of subgroups on integers.
func (g *generator) subgroups() {
	k := plain(pick(g, "i32", "u32"), pick(g, 1, 1, 2, 3, 4))
	v := &variable{name: g.name("t"), kind: k}
	e := g.value(k, depth)
	if e.constant {
		e = g.runtime(k)
	}
	size := g.options.Subgroup
	text := ""
	switch g.r.IntN(8) {
	case 0:
		text = fmt.Sprintf("%s(%s)", pick(g, "subgroupAdd", "subgroupMul", "subgroupMin", "subgroupMax", "subgroupAnd", "subgroupOr", "subgroupXor"), e.text)
	case 1:
		name := pick(g, "subgroupExclusiveAdd", "subgroupInclusiveAdd", "subgroupExclusiveMul", "subgroupInclusiveMul")
		text = fmt.Sprintf("%s(%s)", name, e.text)
	case 2:
		text = fmt.Sprintf("subgroupBroadcast(%s, %du)", e.text, g.r.IntN(size))
	case 3:
		text = fmt.Sprintf("subgroupBroadcastFirst(%s)", e.text)
	case 4:
		text = fmt.Sprintf("subgroupShuffleXor(%s, %du)", e.text, g.r.IntN(size))
	case 5:
		text = fmt.Sprintf("subgroupShuffle(%s, (%s & %du))", e.text, g.unary(g.value(plain("u32", 1), 2)), size-1)
	case 6:
		n := 1 + g.r.IntN(size-1)
		shifted, inside := fmt.Sprintf("subgroupShuffleUp(%s, %du)", e.text, n), fmt.Sprintf("lane >= %du", n)
		if g.chance(50) {
			shifted, inside = fmt.Sprintf("subgroupShuffleDown(%s, %du)", e.text, n), fmt.Sprintf("lane < %du", size-n)
		}
		text = fmt.Sprintf("select(%s, %s, %s)", splat(k, "7"), shifted, inside)
	case 7:
		v.kind = plain("u32", 4)
		text = fmt.Sprintf("subgroupBallot(%s)", g.condition(plain("bool", 1), depth).text)
		if g.chance(50) {
			v.kind = plain("bool", 1)
			text = fmt.Sprintf("%s(%s)", pick(g, "subgroupAll", "subgroupAny"), g.condition(plain("bool", 1), depth).text)
		}
	}
	g.line("let %s = %s;", v.name, text)
	g.add(v)
}

// store writes scalars of the variables to the invocation's part of the output.
func (g *generator) store() {
	g.line("output[here * %du] = seen;", g.slots)
	next := 1
	all := g.visible(func(v *variable) bool { return !v.unsized })
	for _, v := range all {
		g.storeParts(v.name, v.kind, &next)
	}
	if g.half {
		g.line("output16[here] = %s;", g.tamed(plain("f16", 4), g.value(plain("f16", 4), depth)))
	}
}

func (g *generator) storeParts(text string, k *kind, next *int) {
	switch {
	case *next >= g.slots:
	case k.elem != nil:
		for i := range min(k.length, 3) {
			g.storeParts(fmt.Sprintf("%s[%d]", text, i), k.elem, next)
		}
	case k.record != nil:
		for _, f := range k.record.fields {
			g.storeParts(text+"."+f.name, f.kind, next)
		}
	case k.width > 1:
		for i := range k.width {
			g.storeParts(text+"."+components(k.width)[i:i+1], plain(k.scalar, 1), next)
		}
	default:
		g.line("output[here * %du + %du] = %s;", g.slots, *next, word(text, k.scalar))
		*next++
	}
}

// word returns a scalar as u32.
func word(text, scalar string) string {
	switch scalar {
	case "i32":
		return fmt.Sprintf("bitcast<u32>(%s)", text)
	case "bool":
		return fmt.Sprintf("u32(%s)", text)
	case "f32":
		return fmt.Sprintf("bitcast<u32>(i32(%s * 4.0))", text)
	case "f16":
		return fmt.Sprintf("bitcast<u32>(i32(f32(%s) * 4.0))", text)
	}
	return text
}

// note makes a scalar of a variable, which may go out of scope before the end, count for the output.
func (g *generator) note(v *variable, percent int) {
	k := plain(g.part(v.kind).scalar, 1)
	if text, ok := g.walk(v.name, v.kind, k, true); ok && g.chance(percent) {
		g.line("seen = seen * 31u + %s;", word(text, k.scalar))
	}
}
