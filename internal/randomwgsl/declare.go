package randomwgsl

import (
	"fmt"
	"math"
	"strings"
)

// declare writes structs, bindings and variables of the module.
func (g *generator) declare() {
	for range 1 + g.r.IntN(3) {
		g.records = append(g.records, g.newRecord(g.name("S"), g.plainKind))
	}
	host := g.newRecord("Host", func() *kind { return plain(pick(g, "i32", "u32"), 1+g.r.IntN(4)) })
	hosted := &kind{elem: &kind{record: host}, length: 3}

	g.bind("params", "uniform", &kind{elem: plain("u32", 4), length: 4}, g.anyWord)
	g.bind("input", "read", &kind{elem: plain("u32", 1), length: 64}, g.anyWord)
	g.bind("output", "read_write", &kind{elem: plain("u32", 1), length: g.invocations() * g.workgroups() * g.slots}, zeroWord)
	g.line("struct Counters {")
	g.line("  unsigned: array<atomic<u32>, 5>,")
	g.line("  signed: array<atomic<i32>, 6>,")
	g.line("}")
	g.line("@group(0) @binding(3) var<storage, read_write> counters: Counters;")
	g.bindings = append(g.bindings, Binding{Name: "counters", Access: "read_write", Words: g.fill(11, g.anyWord)})
	g.bind("records", "read", hosted, g.anyWord)
	g.bind("numbers", "read", &kind{elem: plain("f32", pick(g, 1, 2, 4)), length: 6}, g.floatWord)
	if g.half {
		g.bind("halves", "read", &kind{elem: plain("f16", pick(g, 1, 2, 3, 4)), length: 8}, g.halfWord)
		g.bind("output16", "read_write", &kind{elem: plain("f16", 4), length: g.invocations() * g.workgroups()}, zeroWord)
		g.bindings[len(g.bindings)-1].Half = true
	}
	g.privates()
}

func (g *generator) newRecord(name string, member func() *kind) *record {
	r := &record{name: name}
	for range 1 + g.r.IntN(4) {
		k := member()
		switch {
		case g.chance(20):
			k = &kind{elem: k, length: 2 + g.r.IntN(3)}
		case g.chance(15) && len(g.records) > 0 && name != "Host":
			k = &kind{record: g.records[0]}
		}
		r.fields = append(r.fields, field{g.name("m"), k})
	}
	g.line("struct %s {", name)
	for _, f := range r.fields {
		g.line("  %s: %s,", f.name, f.kind)
	}
	g.line("}")
	return r
}

// bind declares a binding of an array and fills its memory.
func (g *generator) bind(name, access string, array *kind, word func() uint32) {
	space, declared := "storage, "+access, fmt.Sprintf("array<%s>", array.elem)
	if access == "uniform" {
		space, declared = "uniform", array.String()
	} else if g.chance(30) {
		declared = array.String()
	}
	g.line("@group(0) @binding(%d) var<%s> %s: %s;", len(g.bindings), space, name, declared)
	_, bytes := array.layout()
	g.bindings = append(g.bindings, Binding{Name: name, Access: access, Words: g.fill((bytes+3)/4, word)})
	if access != "read_write" {
		g.globals = append(g.globals, &variable{name: name, kind: array, unsized: true})
	}
}

func (g *generator) fill(n int, word func() uint32) []uint32 {
	words := make([]uint32, n)
	for i := range words {
		words[i] = word()
	}
	return words
}

func zeroWord() uint32 { return 0 }

// anyWord returns an integer: small, at an edge, or any.
func (g *generator) anyWord() uint32 {
	switch g.r.IntN(4) {
	case 0:
		return uint32(g.r.IntN(17) - 8)
	case 1:
		return pick[uint32](g, 0x80000000, 0x7fffffff, 0xffffffff, 0x80000001, 0x7f7f7f7f, 0xff00ff00)
	}
	return g.r.Uint32() >> g.r.IntN(32)
}

// floatWord returns a whole f32 as variables hold them.
func (g *generator) floatWord() uint32 {
	return math.Float32bits(float32(g.r.IntN(2*tame32+1) - tame32))
}

// halfWord returns two whole f16 of 0 to 15: n·2^k has the bits of n, shifted to a leading 1, and the exponent.
func (g *generator) halfWord() uint32 {
	half := func() uint32 {
		n := uint32(g.r.IntN(tame16))
		if n == 0 {
			return 0
		}
		exponent := uint32(math.Ilogb(float64(n)))
		return (15+exponent)<<10 | n<<(10-exponent)&0x3ff | uint32(g.r.IntN(2))<<15
	}
	return half() | half()<<16
}

// privates declares variables of the module, constants, and what the workgroup shares.
func (g *generator) privates() {
	g.line("var<private> seen: u32;")
	for range g.r.IntN(3) {
		v := &variable{name: g.name("p"), kind: g.anyKind(), writable: true}
		if g.chance(50) && v.kind.isPlain() {
			g.line("var<private> %s: %s = %s;", v.name, v.kind, g.literal(v.kind).text)
		} else {
			g.line("var<private> %s: %s;", v.name, v.kind)
		}
		g.globals = append(g.globals, v)
	}
	for range g.r.IntN(3) {
		c := &variable{name: g.name("C"), kind: g.plainKind()}
		g.line("const %s: %s = %s;", c.name, c.kind, g.literal(c.kind).text)
		g.constants = append(g.constants, c)
	}
	if g.chance(40) {
		g.table = &variable{name: g.name("C"), kind: &kind{elem: g.plainKind(), length: 2 + g.r.IntN(4)}}
		var values []string
		for range g.table.kind.length {
			values = append(values, g.literal(g.table.kind.elem).text)
		}
		g.line("const %s = %s(%s);", g.table.name, g.table.kind, strings.Join(values, ", "))
	}
	if g.chance(30) {
		v := &variable{name: g.name("o"), kind: plain(pick(g, "i32", "u32", "f32"), 1)}
		g.line("override %s: %s = %s;", v.name, v.kind, g.number(v.kind.scalar))
		g.constants = append(g.constants, v)
	}
	if g.tile = g.plainKind(); g.tile.scalar == "bool" {
		g.tile.scalar = "u32"
	}
	g.line("var<workgroup> tile: array<%s, %d>;", g.tile, g.invocations())
	g.line("var<workgroup> sums: array<atomic<u32>, 5>;")
	g.line("var<workgroup> flag: u32;")
}
