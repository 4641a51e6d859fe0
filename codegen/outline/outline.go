package outline

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
)

// Outline is what a text declares.
type Outline struct {
	Entries  []Entry  // in the order of the text
	Outside  []Place  // what is no compute kernel's: textures, samplers, matrices, stages of rendering, extensions
	Template *Place   // why the text is a template; nil when it is none
	Skipped  []Place  // where no declaration begins although one should
	Features []string // the extensions that enable lines name
	Missing  []string // names in sizes and types of entry points that are declared nowhere: the program puts something in their place
}

// Place is something in the text. Line and column count from 1, columns in bytes.
type Place struct {
	Line, Column int
	Text         string
}

// Entry is an entry point with what a pipeline of it takes.
type Entry struct {
	Name           string
	Stage          string // compute, vertex or fragment
	Line, Column   int    // of the name
	Workgroup      [3]int // 0 where it isn't known, and of stages other than compute
	WorkgroupBytes uint64 // as WebGPU counts them: each variable rounded up to 16
	Bindings       []Binding

	Unknown []string // what could not be worked out, and counts as 0
	Assumed []string // overrides that count with their defaults
}

// Space is what a binding is of.
type Space uint8

// The spaces. Others are textures, samplers and whatever else a binding can be that is no buffer.
const (
	Storage Space = iota + 1
	Uniform
	Other
)

// Binding is a resource that an entry point uses statically.
type Binding struct {
	Name           string
	Group, Binding int // -1 where they aren't known
	Space          Space
	Writable       bool
	Type           string // as the text has it
	Bytes          uint64 // the least that a binding must have; 0 when it isn't known
	Unsized        bool   // it ends in a runtime-sized array
}

// Count returns how many bindings of a space an entry point uses, those at the same place once.
func (e *Entry) Count(space Space) int {
	places := map[[2]int]bool{}
	n := 0
	for _, b := range e.Bindings {
		place := [2]int{b.Group, b.Binding}
		if b.Space == space && (!places[place] || b.Group < 0 || b.Binding < 0) {
			places[place] = true
			n++
		}
	}
	return n
}

// Read reads a text. It never fails: Skipped and Unknown say what it could not read.
func Read(text string) *Outline {
	r := newReader(text)
	o := &Outline{}
	module := newModule(r, o)
	for _, d := range module.list {
		if d.stage() != "" {
			o.Entries = append(o.Entries, module.entry(d))
		}
	}
	o.Missing = slices.Sorted(maps.Keys(module.types.missing))
	return o
}

// module is the declarations of a text.
type module struct {
	*reader
	list  []*declaration
	named map[string]*declaration
	calls map[*declaration]map[string]bool // names that functions use
	types types
	lines []int
}

func newModule(r *reader, o *Outline) *module {
	m := &module{reader: r, named: map[string]*declaration{}, calls: map[*declaration]map[string]bool{}, lines: lineStarts(r.text)}
	for i := 0; i < len(r.tokens); {
		d, next := r.declaration(i)
		switch {
		case r.sign(i, ';'):
			i++
			continue
		case d == nil:
			i = m.skipped(o, i, next)
			continue
		case d.keyword == "#" || d.keyword == "{{":
			if o.Template == nil {
				o.Template = m.place(i, shorten(r.source(d.span)))
			}
		case d.keyword == "enable":
			o.Features = append(o.Features, r.words(d)...)
		}
		m.list = append(m.list, d)
		if d.name >= 0 && m.named[r.at(d.name)] == nil {
			m.named[r.at(d.name)] = d
		}
		i = next
	}
	m.types = types{
		&evaluator{reader: r, named: m.named, known: map[string]constant{}, busy: map[string]bool{}, assumed: map[string]int64{}, missing: map[string]bool{}},
		map[string]layout{}, map[string]bool{},
	}
	m.inside(o)
	return m
}

// words are the names of an enable line.
func (r *reader) words(d *declaration) []string {
	var list []string
	for i := d.first + 1; i < d.end; i++ {
		if r.name(i) {
			list = append(list, r.at(i))
		}
	}
	return list
}

// skipped notes a place where no declaration begins, and returns the next one, from token next on, that might be the start of one.
func (m *module) skipped(o *Outline, i, next int) int {
	if len(o.Skipped) < 10 {
		o.Skipped = append(o.Skipped, *m.place(i, fmt.Sprintf("no declaration that can be read begins with %q", shorten(m.at(i)))))
	}
	for next < len(m.tokens) && !m.mayBegin(next) {
		next++
	}
	return next
}

// inside looks through the whole text for what makes it a template, or no compute kernel.
func (m *module) inside(o *Outline) {
	seen := map[string]bool{}
	for i, t := range m.tokens {
		switch {
		case o.Template == nil && t.kind == preprocessorToken,
			o.Template == nil && m.sign(i, '$') && m.sign(i+1, '{'),
			o.Template == nil && m.sign(i, '{') && m.sign(i+1, '{') && m.tokens[i+1].at == t.end && m.closesTwice(i):
			text := m.at(i)
			if t.kind == signToken {
				text += m.at(i + 1)
			}
			o.Template = m.place(i, shorten(text))
		case t.kind == nameToken && outside(m.at(i)) && !seen[m.at(i)]:
			if name := m.at(i); m.named[name] == nil && !m.sign(i-1, '.') && (!stages[name] || m.sign(i-1, '@')) {
				seen[name] = true
				o.Outside = append(o.Outside, *m.place(i, name))
			}
		}
	}
	for _, d := range m.list {
		if d.keyword != "enable" && d.keyword != "requires" {
			continue
		}
		for _, w := range m.words(d) {
			if d.keyword == "enable" && w != "f16" && w != "subgroups" {
				o.Outside = append(o.Outside, *m.place(d.first, "enable "+w))
			}
		}
	}
}

// closesTwice reports whether the braces at i and i+1 are closed side by side: {{ and }}, which is no WGSL.
func (m *module) closesTwice(i int) bool {
	return m.tokens[i].match > 0 && m.tokens[i+1].match == m.tokens[i].match-1 && m.tokens[i].match-int32(i) < 16
}

var stages = map[string]bool{"vertex": true, "fragment": true}

// outside reports whether a name means something that compute kernels of buffers have no use for.
func outside(name string) bool {
	return outsideNames.MatchString(name) || stages[name]
}

var outsideNames = regexp.MustCompile(`^(texture_(1d|2d|3d|cube|multisampled|storage|depth|external)\w*|texture[A-Z]\w*|sampler(_comparison)?|` +
	`mat[234]x[234][fh]?|binding_array|discard)$`)

func (m *module) place(i int, text string) *Place {
	line, column := m.position(i)
	return &Place{line, column, text}
}

func (m *module) position(i int) (line, column int) {
	at := int(m.tokens[i].at)
	line = sort.SearchInts(m.lines, at+1)
	return line, at - m.lines[line-1] + 1
}

func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// entry works out what an entry point takes.
func (m *module) entry(d *declaration) Entry {
	e := Entry{Name: m.at(d.name), Stage: d.stage()}
	e.Line, e.Column = m.position(d.name)
	m.types.assumed = map[string]int64{}
	if e.Stage == "compute" {
		m.workgroup(&e, d)
	}
	for _, v := range m.variables(d) {
		m.variable(&e, v)
	}
	for _, name := range slices.Sorted(maps.Keys(m.types.assumed)) {
		e.Assumed = append(e.Assumed, fmt.Sprintf("override %s = %d", name, m.types.assumed[name]))
	}
	return e
}

func (m *module) workgroup(e *Entry, d *declaration) {
	a := d.attribute("workgroup_size")
	if a == nil || a.args.empty() {
		e.Unknown = append(e.Unknown, "workgroup size: there is none")
		return
	}
	e.Workgroup = [3]int{1, 1, 1}
	at := a.args.first
	for i := 0; i < 3 && at < a.args.end; i++ {
		end := m.types.comma(at, a.args.end)
		n, why := m.types.integer(span{at, end})
		if why == "" && (n < 1 || n > 1<<31-1) {
			why = fmt.Sprintf("it is %d", n)
		}
		if why != "" {
			e.Workgroup = [3]int{}
			e.Unknown = append(e.Unknown, "workgroup size: "+why)
			return
		}
		e.Workgroup[i] = int(n)
		at = end + 1
	}
}

// variables lists those at module scope that an entry point uses statically, in the order of the text.
func (m *module) variables(entry *declaration) []*declaration {
	reached := map[*declaration]bool{entry: true}
	for queue := []*declaration{entry}; len(queue) > 0; queue = queue[1:] {
		if queue[0].keyword != "fn" {
			continue
		}
		if m.calls[queue[0]] == nil {
			m.calls[queue[0]] = m.uses(m.named, queue[0])
		}
		for name := range m.calls[queue[0]] {
			if d := m.named[name]; !reached[d] {
				reached[d] = true
				queue = append(queue, d)
			}
		}
	}
	var list []*declaration
	for _, d := range m.list {
		if reached[d] && d.keyword == "var" {
			list = append(list, d)
		}
	}
	return list
}

// variable adds one to what an entry point takes.
func (m *module) variable(e *Entry, d *declaration) {
	space := m.at(d.template.first)
	name := m.at(d.name)
	switch {
	case space == "workgroup":
		l := m.types.of(d.typ)
		if l.why != "" {
			e.Unknown = append(e.Unknown, "workgroup memory of "+name+": "+l.why)
			return
		}
		e.WorkgroupBytes += roundUp(l.size, 16)
	case d.attribute("binding") != nil || space == "storage" || space == "uniform":
		m.binding(e, d, space)
	}
}

func (m *module) binding(e *Entry, d *declaration, space string) {
	b := Binding{Name: m.at(d.name), Group: m.number(d, "group"), Binding: m.number(d, "binding"), Space: Other, Type: shorten(m.source(d.typ))}
	l := m.types.of(d.typ)
	switch space {
	case "storage":
		b.Space = Storage
		for i := d.template.first; i < d.template.end; i++ {
			b.Writable = b.Writable || m.at(i) == "read_write" || m.at(i) == "write"
		}
	case "uniform":
		b.Space = Uniform
	}
	switch {
	case b.Space == Other:
	case l.opaque != "":
		e.Unknown = append(e.Unknown, "size of binding "+b.Name+": "+l.opaque)
	case l.why != "":
		e.Unknown = append(e.Unknown, "size of binding "+b.Name+": "+l.why)
	default:
		b.Bytes, b.Unsized = l.size, l.unsized
	}
	e.Bindings = append(e.Bindings, b)
}

// number is that of an attribute, -1 when it isn't known.
func (m *module) number(d *declaration, name string) int {
	a := d.attribute(name)
	if a == nil {
		return -1
	}
	if m.sign(a.args.end-1, ',') {
		a.args.end--
	}
	n, why := m.types.integer(a.args)
	if why != "" || n < 0 || n > 1<<31-1 {
		return -1
	}
	return int(n)
}
