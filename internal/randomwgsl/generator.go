package randomwgsl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Options say what a program may use.
type Options struct {
	Subgroup int  // the size of subgroups that operations of subgroups may count on; 0 for none
	F16      bool // f16
}

// Program is a program and what it runs on.
type Program struct {
	Text      string // in Tint's dialect
	Workgroup [3]int
	Grid      [3]int
	Bindings  []Binding // of group 0, by number
}

// Binding is a buffer of a program with its contents before the run.
type Binding struct {
	Name   string
	Access string // uniform, read or read_write
	Words  []uint32
	Half   bool // it is written with f16, of which a zero may have either sign
}

// variable is something that an expression may read, and a statement write.
type variable struct {
	name     string // as it is read: of a pointer with the star
	kind     *kind
	writable bool
	address  bool // it is a var of a function, of which a pointer may be taken
	unsized  bool // the array may be declared without its length
}

type function struct {
	name   string
	params []*kind
	points []bool // the parameters that are pointers
	result *kind  // nil for none
}

type generator struct {
	r         *rand.Rand
	options   Options
	text      strings.Builder
	indent    int
	names     int
	records   []*record
	functions []*function
	globals   []*variable
	constants []*variable // of the module
	table     *variable   // a constant array, nil for none
	tile      *kind       // of what the workgroup shares
	scopes    [][]*variable
	loops     int // loops around the statement, of this function
	result    *kind
	budget    int       // statements that may still be written in this function
	depth     int       // of indices within indices
	calls     int       // of functions around the expression
	first     *variable // what a call's first pointer points to, when not nil
	only      *variable // what expressions read, when not nil
	switches  int       // between the statement and its loop
	inMain    bool
	size      [3]int // of the workgroup
	groups    [3]int
	bindings  []Binding
	slots     int // words of output for each invocation
	half      bool
	subgroup  bool // operations of subgroups are used
}

// New makes the program of a seed.
func New(seed uint64, o Options) Program {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1)), options: o, slots: 24}
	g.subgroup = o.Subgroup > 0 && g.chance(50)
	g.half = o.F16 && g.chance(50)
	g.shape()
	g.declare()
	for range g.r.IntN(4) {
		g.helper()
	}
	g.main()
	head := fmt.Sprintf("// Program of seed %d.\n", seed)
	if g.half {
		head += "enable f16;\n"
	}
	if g.subgroup {
		head += "enable subgroups;\n"
	}
	return Program{Text: head + g.text.String(), Workgroup: g.size, Grid: g.groups, Bindings: g.bindings}
}

// shape chooses the sizes of workgroup and grid. With subgroups a workgroup is a row of whole ones.
func (g *generator) shape() {
	g.size, g.groups = [3]int{1 << g.r.IntN(7), 1, 1}, [3]int{1 + g.r.IntN(3), 1, 1}
	if g.subgroup {
		g.size[0] = g.options.Subgroup * (1 + g.r.IntN(2))
	} else if g.chance(40) {
		g.size = [3]int{1 + g.r.IntN(5), 1 + g.r.IntN(4), 1 + g.r.IntN(2)}
	}
	if g.chance(20) {
		g.groups = [3]int{1 + g.r.IntN(2), 1 + g.r.IntN(2), 1 + g.r.IntN(2)}
	}
}

func (g *generator) invocations() int { return g.size[0] * g.size[1] * g.size[2] }
func (g *generator) workgroups() int  { return g.groups[0] * g.groups[1] * g.groups[2] }

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func pick[T any](g *generator, list ...T) T { return list[g.r.IntN(len(list))] }

// name returns a name that wasn't used before.
func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *generator) line(format string, args ...any) {
	g.text.WriteString(strings.Repeat("  ", g.indent))
	fmt.Fprintf(&g.text, format, args...)
	g.text.WriteByte('\n')
}

// block writes what head begins, and closes it.
func (g *generator) block(head string, body func()) {
	g.line("%s {", head)
	g.indent++
	g.scopes = append(g.scopes, nil)
	body()
	g.scopes = g.scopes[:len(g.scopes)-1]
	g.indent--
	g.line("}")
}

// add puts a variable into the innermost scope.
func (g *generator) add(v *variable) {
	last := len(g.scopes) - 1
	g.scopes[last] = append(g.scopes[last], v)
}

// about runs f, in which expressions read no other variable.
func (g *generator) about(v *variable, f func()) {
	saved := g.only
	g.only = v
	f()
	g.only = saved
}

// visible returns what a name stands for here, in random order.
func (g *generator) visible(fits func(v *variable) bool) []*variable {
	var list []*variable
	for _, scope := range append([][]*variable{g.globals}, g.scopes...) {
		for _, v := range scope {
			// A name declared again hides the one before.
			list = slices.DeleteFunc(list, func(old *variable) bool { return old.name == v.name })
			list = append(list, v)
		}
	}
	list = slices.DeleteFunc(list, func(v *variable) bool { return v.kind == nil || !fits(v) })
	g.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// scalar chooses a scalar type, integers more often than others.
func (g *generator) scalar() string {
	if g.half && g.chance(15) {
		return "f16"
	}
	return pick(g, "i32", "i32", "u32", "u32", "f32", "bool")
}

// plainKind chooses a scalar or vector.
func (g *generator) plainKind() *kind { return plain(g.scalar(), max(1, g.r.IntN(7)-2)) }

// anyKind chooses a type of variables.
func (g *generator) anyKind() *kind {
	switch {
	case g.chance(15):
		return &kind{elem: g.plainKind(), length: 2 + g.r.IntN(5)}
	case g.chance(15) && len(g.records) > 0:
		return &kind{record: pick(g, g.records...)}
	case g.chance(4) && len(g.records) > 0:
		return &kind{elem: &kind{record: pick(g, g.records...)}, length: 2 + g.r.IntN(2)}
	}
	return g.plainKind()
}
