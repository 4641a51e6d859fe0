package bounds_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes small kernels whose indices are near the ends of their arrays: some are in bounds by a hair, some are out by one.
type generator struct {
	*rand.Rand
	text   strings.Builder
	indent int
	names  int
	values []string // of u32, in scope
	vars   []string // of u32, that can be assigned
	signed []string // of i32
	bools  []string
	depth  int
	loops  int
	calls  bool // the helper may be called
}

// arrays of u32 that a kernel can index, with their lengths; those that can be written come first.
var arrays = []struct {
	name   string
	length int
}{{"a", 13}, {"w", 16}, {"p", 7}, {"s", 12}, {"f", 9}, {"b", 24}, {"t", 6}}

const writableArrays = 5

// randomKernel writes a kernel. It has no barriers: invocations run one after the other.
func randomKernel(seed uint64) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 29))}
	size := [][3]int{{1, 1, 1}, {8, 1, 1}, {5, 1, 1}, {4, 2, 1}, {2, 2, 2}}[g.IntN(5)]
	g.line("@group(0) @binding(0) var<storage, read_write> a: array<u32, 13>;")
	g.line("@group(0) @binding(1) var<storage, read> b: array<u32, 24>;")
	g.line("@group(0) @binding(2) var<storage, read_write> s: array<u32, 12>;")
	g.line("@group(0) @binding(3) var<storage, read_write> r: array<u32>;")
	g.line("var<workgroup> w: array<u32, 16>;")
	g.line("var<private> p: array<u32, 7>;")
	g.line("var<private> mark: u32 = %du;", g.IntN(5))
	g.line("const t = array<u32, 6>(1u, 4u, 2u, 0u, 5u, 3u);")
	g.line("fn helper(x: u32, to: ptr<function, u32>) -> u32 {")
	g.indent++
	g.values = []string{"x", "(*to)", "mark"}
	g.vars = []string{"mark"}
	g.line("var f: array<u32, 9>;")
	g.block(2)
	g.line("*to = %s;", g.expr(2))
	g.line("return %s;", g.expr(2))
	g.indent--
	g.line("}")
	g.line("@compute @workgroup_size(%d, %d, %d)", size[0], size[1], size[2])
	g.line("fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32, @builtin(global_invocation_id) id: vec3<u32>) {")
	g.indent++
	g.values = []string{"group.x", "local", "local", "id.x", "id.y", "mark"}
	g.vars, g.signed, g.bools = []string{"mark"}, nil, nil
	g.line("var f: array<u32, 9>;")
	g.line("var q = %s;", g.expr(1))
	g.line("var v = vec2<u32>(%s, %s);", g.expr(1), g.expr(1))
	g.values, g.vars = append(g.values, "q", "v.x", "v.y"), append(g.vars, "q", "q", "v.x", "v.y")
	g.calls = true
	g.block(4 + g.IntN(5))
	g.indent--
	g.line("}")
	return g.text.String()
}

func (g *generator) line(format string, args ...any) {
	g.text.WriteString(strings.Repeat("  ", g.indent) + fmt.Sprintf(format, args...) + "\n")
}

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }

func (g *generator) name() string {
	g.names++
	return fmt.Sprint("n", g.names)
}

func (g *generator) block(n int) {
	values, vars, signed, bools := len(g.values), len(g.vars), len(g.signed), len(g.bools)
	g.depth++
	for range n {
		g.statement()
	}
	g.depth--
	g.values, g.vars, g.signed, g.bools = g.values[:values], g.vars[:vars], g.signed[:signed], g.bools[:bools]
}

// body writes a block in braces after a head.
func (g *generator) body(head string, args ...any) {
	g.line(head+" {", args...)
	g.indent++
	g.block(1 + g.IntN(3))
	g.indent--
	g.line("}")
}

func (g *generator) statement() {
	deep := g.depth > 3
	switch n := g.IntN(24); {
	case n < 4:
		name := g.name()
		g.line("let %s = %s;", name, g.expr(3))
		g.values = append(g.values, name, name)
	case n < 6:
		name := g.name()
		g.line("var %s = %s;", name, g.expr(2))
		g.values, g.vars = append(g.values, name), append(g.vars, name)
	case n < 7:
		name := g.name()
		g.line("let %s = i32(%s) - %d;", name, g.expr(2), g.IntN(8))
		g.signed = append(g.signed, name)
	case n < 8:
		name := g.name()
		g.line("let %s = %s;", name, g.cond())
		g.bools = append(g.bools, name)
	case n < 11:
		g.line("%s %s= %s;", g.pick(g.vars), g.pick([]string{"", "", "", "+", "-", "*", ">>", "&", "%"}), g.expr(2))
	case n < 15:
		a := arrays[g.IntN(writableArrays)]
		g.line("%s[%s] = %s;", a.name, g.index(a.length), g.expr(2))
	case n < 16:
		g.line("r[%s] = %s;", g.expr(2), g.expr(1))
	case n < 17 && !deep:
		i := g.expr(2)
		name := g.name()
		g.line("let %s = %s;", name, i)
		g.values = append(g.values, name)
		g.body("if (%s < arrayLength(&r) && r[%s] < %s)", name, name, g.constant())
	case n < 20 && !deep:
		g.body("if (%s)", g.cond())
		if g.IntN(3) == 0 {
			g.body("else")
		}
	case n < 23 && !deep && g.loops < 3:
		g.loop()
	case n < 24 && g.calls:
		switch g.IntN(4) {
		case 0:
			g.line("q = helper(%s, &z%d);", g.expr(2), g.pointed())
		case 1:
			x, inner, outer := g.expr(2), g.pointed(), g.pointed()
			g.line("q = helper(helper(%s, &z%d), &z%d);", x, inner, outer)
			g.line("a[z%d] = q;", outer)
		default:
			g.line("switch %s { case 1u, 3u: { q = %s; } case 2u: { v.x = %s; } default: { v[%s] = 3u; } }", g.expr(2), g.expr(1), g.expr(1), g.index(2))
		}
	}
}

// pointed declares a variable that is pointed to.
func (g *generator) pointed() int {
	g.names++
	g.line("var z%d = %s;", g.names, g.expr(1))
	g.values = append(g.values, fmt.Sprint("z", g.names))
	return g.names
}

func (g *generator) loop() {
	g.loops++
	defer func() { g.loops-- }()
	name, step := g.name(), 1+g.IntN(4)
	values, vars := len(g.values), len(g.vars)
	g.values = append(g.values, name, name, name)
	switch g.IntN(5) {
	case 0:
		g.line("var %s = %s;", name, g.expr0(1))
		g.line("while %s > 0u {", name)
		g.inner(name, fmt.Sprintf("%s = min(%s - 1u, %s >> 1u);", name, name, name))
	case 1:
		g.line("var %s = %s;", name, g.pick([]string{"0u", "1u", g.first()}))
		g.line("loop {")
		g.inner(name, fmt.Sprintf("continuing { %s += %du; break if %s >= %s; }", name, step, name, g.constant()))
	case 2:
		g.line("for (var %s = %s; %s > %d; %s -= %d) {", name+"i", g.pick([]string{"9", "5", "i32(" + g.first() + ")"}), name+"i", g.IntN(3), name+"i", step)
		g.values = g.values[:values]
		g.signed = append(g.signed, name+"i")
		g.inner("", "")
		g.signed = g.signed[:len(g.signed)-1]
		return
	default:
		limit := g.constant()
		if g.IntN(3) == 0 {
			limit = g.expr0(1)
		}
		g.line("for (var %s = %s; %s %s %s; %s += %du) {", name, g.pick([]string{"0u", "1u", g.first(), "3u"}), name, g.pick([]string{"<", "<", "<", "<=", "!="}), limit, name, step)
		g.inner(name, "")
	}
	g.values, g.vars = g.values[:values], g.vars[:vars]
}

// first is where a loop of each invocation starts.
func (g *generator) first() string {
	if g.calls {
		return "local"
	}
	return "x"
}

// expr0 is an expression that leaves out what was declared last.
func (g *generator) expr0(depth int) string {
	last := g.values[len(g.values)-3:]
	g.values = g.values[:len(g.values)-3]
	e := g.expr(depth)
	g.values = append(g.values, last...)
	return e
}

func (g *generator) inner(name, end string) {
	g.indent++
	g.block(1 + g.IntN(3))
	if g.IntN(3) == 0 {
		g.line("if (%s) { %s; }", g.cond(), g.pick([]string{"break", "continue"}))
	}
	if name != "" && g.IntN(12) == 0 && !strings.HasPrefix(end, "continuing") {
		g.line("%s = %s;", name, g.expr(1))
	}
	if end != "" {
		g.line("%s", end)
	}
	g.indent--
	g.line("}")
}

func (g *generator) constant() string {
	return g.pick([]string{"0u", "1u", "2u", "3u", "4u", "5u", "6u", "7u", "8u", "9u", "12u", "13u", "15u", "16u", "24u", "31u", "32u", "0xfffffff0u", "0xffffffffu", "0x80000000u"})
}

func (g *generator) expr(depth int) string {
	if depth == 0 || g.IntN(5) == 0 {
		if g.IntN(4) == 0 {
			return g.constant()
		}
		return g.pick(g.values)
	}
	x, y := g.expr(depth-1), g.expr(depth-1)
	switch g.IntN(16) {
	case 0, 1:
		return fmt.Sprintf("(%s + %s)", x, y)
	case 2:
		return fmt.Sprintf("(%s - %s)", x, y)
	case 3:
		return fmt.Sprintf("(%s * %s)", x, g.pick([]string{"2u", "3u", "4u", "7u", "0x40000000u", y}))
	case 4:
		return fmt.Sprintf("(%s / %s)", x, g.pick([]string{"2u", "3u", "4u", y}))
	case 5:
		return fmt.Sprintf("(%s %% %s)", x, g.pick([]string{"2u", "3u", "4u", "8u", y}))
	case 6:
		return fmt.Sprintf("((%s) & (%s))", x, g.pick([]string{"1u", "3u", "7u", "6u", "0xfffffffcu", y}))
	case 7:
		return fmt.Sprintf("((%s) %s (%s))", x, g.pick([]string{"|", "^"}), y)
	case 8:
		return fmt.Sprintf("((%s) %s (%s))", x, g.pick([]string{"<<", ">>"}), g.pick([]string{"1u", "2u", "3u", "31u", y}))
	case 9, 10:
		return fmt.Sprintf("%s(%s, %s)", g.pick([]string{"min", "max"}), x, y)
	case 11:
		return fmt.Sprintf("select(%s, %s, %s)", x, y, g.cond())
	case 12:
		a := arrays[g.IntN(len(arrays))]
		return fmt.Sprintf("%s[%s]", a.name, g.index(a.length))
	case 13:
		if len(g.signed) > 0 {
			return fmt.Sprintf("u32(%s %s %d)", g.pick(g.signed), g.pick([]string{"+", "-", "*", "/", "%"}), 1+g.IntN(4))
		}
		return fmt.Sprintf("clamp(%s, %s, %s)", x, g.constant(), y)
	case 14:
		return fmt.Sprintf("vec2<u32>(%s, %s).yx.%s", x, y, g.pick([]string{"x", "y"}))
	}
	return fmt.Sprintf("(%s)", x)
}

// index is an expression that is often within an array of n, and often just not.
func (g *generator) index(n int) string {
	n += g.IntN(5)/4 - g.IntN(5)/4
	x := g.expr(2)
	switch g.IntN(8) {
	case 0, 1:
		return fmt.Sprintf("%s %% %du", x, n)
	case 2, 3:
		return fmt.Sprintf("min(%s, %du)", x, n-1)
	case 4:
		if len(g.signed) > 0 {
			return fmt.Sprintf("clamp(%s, 0, %d)", g.pick(g.signed), n-1)
		}
		return g.pick(g.values)
	case 5:
		return fmt.Sprintf("select(%d, %s, %s < %du)", g.IntN(n), "i32("+x+")", x, n)
	case 6:
		return fmt.Sprintf("(%s & 3u) + %du", x, max(n-4, 0))
	}
	return g.pick(g.values)
}

func (g *generator) cond() string {
	if len(g.bools) > 0 && g.IntN(4) == 0 {
		return g.pick(g.bools)
	}
	op := g.pick([]string{"<", "<", "<", "<=", ">", ">=", "==", "!="})
	simple := fmt.Sprintf("%s %s %s", g.expr(1), op, g.pick([]string{g.constant(), g.constant(), g.expr(1)}))
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("%s < %du && %s", g.pick(g.values), 1+g.IntN(16), simple)
	case 1:
		return fmt.Sprintf("%s >= %du || %s", g.pick(g.values), g.IntN(16), simple)
	case 2:
		return "!(" + simple + ")"
	case 3:
		if len(g.signed) > 0 {
			return fmt.Sprintf("%s %s %d", g.pick(g.signed), op, g.IntN(12)-3)
		}
	}
	return simple
}
