package outline

import (
	"fmt"
	"strings"
)

// layout is how a type lies in memory, in bytes. A runtime-sized array counts with one element, which is the least that a binding of it
// must have.
type layout struct {
	size, align uint64
	unsized     bool   // sized at run time
	why         string // why it isn't known; "" when it is
	opaque      string // texture or sampler: what has no bytes
}

// maxBytes bounds sizes: no buffer is larger, and products with the largest length don't overflow.
const maxBytes = 1 << 40

func unknown(format string, args ...any) layout { return layout{why: fmt.Sprintf(format, args...)} }

// types works out layouts.
type types struct {
	*evaluator
	done  map[string]layout // of names
	doing map[string]bool
}

// of lays out the type that tokens spell.
func (t *types) of(s span) layout {
	if s.empty() {
		return unknown("its type is not written")
	}
	l, next := t.read(s.first, s.end, 0)
	if next != s.end && l.why == "" {
		return unknown("%s is no type that is known here", shorten(t.source(s)))
	}
	return l
}

// read lays out the type at token i and returns where it ends.
func (t *types) read(i, end, depth int) (layout, int) {
	if i >= end || !t.name(i) {
		return unknown("a type is missing"), end
	}
	if depth > maxNesting {
		return unknown("a type nested more than %d deep", maxNesting), end
	}
	name := t.at(i)
	args, next := span{}, i+1
	if t.sign(next, '<') {
		args.first = next + 1
		args.end = t.closingAngle(next, end)
		if args.end < 0 {
			return unknown("%s< has no >", shorten(name)), end
		}
		next = args.end + 1
	}
	if d := t.named[name]; d != nil {
		return t.declared(d, depth), next
	}
	return t.builtin(name, args, depth), next
}

// closingAngle finds the > that ends a list of types, -1 when there is none.
func (t *types) closingAngle(i, end int) int {
	depth := 0
	for ; i < end; i++ {
		switch {
		case t.sign(i, '<'):
			depth++
		case t.sign(i, '>'):
			if depth--; depth == 0 {
				return i
			}
		case t.tokens[i].match > int32(i):
			i = int(t.tokens[i].match)
		}
	}
	return -1
}

// declared lays out a struct or an alias.
func (t *types) declared(d *declaration, depth int) layout {
	name := t.at(d.name)
	if l, ok := t.done[name]; ok {
		return l
	}
	if t.doing[name] {
		return unknown("%s is declared by means of itself", name)
	}
	t.doing[name] = true
	var l layout
	switch d.keyword {
	case "alias":
		l, _ = t.read(d.typ.first, d.typ.end, depth+1)
	case "struct":
		l = t.structure(d, depth+1)
	default:
		l = unknown("%s is no type", name)
	}
	delete(t.doing, name)
	t.done[name] = l
	return l
}

func (t *types) structure(d *declaration, depth int) layout {
	all := layout{align: 1}
	at := uint64(0)
	for i := d.body.first; i < d.body.end; {
		attributes, next := t.attributes(i)
		last := t.comma(next, d.body.end)
		m := unknown("member %s is not readable", shorten(t.at(next)))
		if t.name(next) && t.sign(next+1, ':') {
			m, _ = t.read(next+2, last, depth)
		}
		m = t.placed(m, attributes)
		if m.why != "" || m.opaque != "" {
			return m
		}
		at = roundUp(at, m.align) + m.size
		all.align = max(all.align, m.align)
		all.unsized = m.unsized
		if at > maxBytes {
			return unknown("more than 2^40 bytes")
		}
		i = last + 1
	}
	all.size = roundUp(at, all.align)
	return all
}

// placed applies @size and @align of a member.
func (t *types) placed(m layout, attributes []attribute) layout {
	for _, a := range attributes {
		if a.name != "size" && a.name != "align" {
			continue
		}
		if t.sign(a.args.end-1, ',') {
			a.args.end--
		}
		n, why := t.integer(a.args)
		switch {
		case why != "":
			return unknown("@%s: %s", a.name, why)
		case n < 1 || n > maxBytes:
			return unknown("@%s(%d)", a.name, n)
		case a.name == "size":
			m.size = max(m.size, uint64(n))
		default:
			m.align = max(m.align, uint64(n))
		}
	}
	return m
}

// comma returns where a member or argument ends: a comma outside of brackets, or the end.
func (t *types) comma(i, end int) int {
	for lists := true; i < end && !t.sign(i, ','); i++ {
		switch {
		case t.sign(i, '<') && lists:
			closing := t.closingAngle(i, end)
			if lists = closing > 0; lists {
				i = closing
			}
		case t.tokens[i].match > int32(i):
			i = int(t.tokens[i].match)
		}
	}
	return min(i, end)
}

// scalars are those with a place in memory, those of extensions too.
var scalars = map[string]uint64{
	"bool": 4, "i32": 4, "u32": 4, "f32": 4, "f16": 2, "i64": 8, "u64": 8, "f64": 8,
	"i": 4, "u": 4, "f": 4, "h": 2, // of vec4f and the like
}

// builtin lays out a type that the text doesn't declare.
func (t *types) builtin(name string, args span, depth int) layout {
	first := span{args.first, args.first}
	if !args.empty() {
		first.end = t.comma(args.first, args.end)
	}
	switch {
	case scalars[name] > 0 && len(name) > 1:
		return layout{size: scalars[name], align: scalars[name]}
	case name == "atomic":
		return t.of(first)
	case name == "array":
		return t.array(first, args, depth)
	case strings.HasPrefix(name, "vec"):
		return t.vector(name, "vec", args)
	case strings.HasPrefix(name, "mat"):
		return t.vector(name, "mat", args)
	case strings.HasPrefix(name, "texture_"), strings.HasPrefix(name, "sampler"), name == "binding_array", name == "acceleration_structure":
		return layout{opaque: name}
	}
	t.missing[name] = true
	return unknown("%s is no type that is known here", shorten(name))
}

// vector lays out vectors and matrices, with the component in angle brackets or at the end of the name.
func (t *types) vector(name, kind string, args span) layout {
	shape := strings.TrimPrefix(name, kind)
	component := t.at(args.first)
	if d := t.named[component]; d != nil && d.keyword == "alias" && d.typ.end == d.typ.first+1 {
		component = t.at(d.typ.first)
	}
	if args.empty() && len(shape) > 1 {
		component, shape = shape[len(shape)-1:], shape[:len(shape)-1]
	}
	columns, rows, size := uint64(1), uint64(0), scalars[component]
	switch {
	case kind == "vec" && len(shape) == 1:
		rows = uint64(shape[0] - '0')
	case kind == "mat" && len(shape) == 3 && shape[1] == 'x':
		columns, rows = uint64(shape[0]-'0'), uint64(shape[2]-'0')
	}
	if size == 0 || rows < 2 || rows > 4 || kind == "mat" && (columns < 2 || columns > 4) {
		return unknown("%s is no type that is known here", shorten(name))
	}
	align := size * roundUp(rows, 2)
	if kind == "mat" {
		return layout{size: columns * align, align: align}
	}
	return layout{size: rows * size, align: align}
}

func (t *types) array(elem, args span, depth int) layout {
	if args.empty() {
		return unknown("array without a type")
	}
	l, next := t.read(elem.first, elem.end, depth+1)
	if next != elem.end && l.why == "" {
		l = unknown("%s is no type that is known here", shorten(t.source(elem)))
	}
	if l.why != "" || l.opaque != "" {
		return l
	}
	stride := roundUp(l.size, l.align)
	length := span{elem.end + 1, args.end}
	if t.sign(length.end-1, ',') {
		length.end--
	}
	if length.empty() {
		return layout{size: stride, align: l.align, unsized: true}
	}
	n, why := t.integer(length)
	switch {
	case why != "":
		return unknown("length of an array: %s", why)
	case n < 1 || uint64(n) > maxBytes/max(stride, 1):
		return unknown("an array of %d elements", n)
	}
	return layout{size: uint64(n) * stride, align: l.align}
}

func roundUp(n, to uint64) uint64 {
	if to == 0 {
		return n
	}
	return (n + to - 1) / to * to
}
