package ir

import (
	"slices"
	"strconv"
	"strings"
)

// Parse reads the text form of a graph and verifies the graph. It reports up to ten mistakes, each with its position; all
// are *Error, joined. file is only for those positions.
//
// The text form has one statement a line; # starts a comment. In the grammar, { } repeats and [ ] is optional:
//
//	graph  = "graph" string
//	input  = "input" name ":" type
//	weight = "weight" name ":" type
//	node   = value {"," value} "=" op [operand {"," operand}] ["{" attr {"," attr} "}"] ":" type {"," type}
//	output = "output" operand {"," operand}
//
//	operand = value | name          a value of a node, or an input or weight
//	value   = "%" name
//	attr    = name "=" word         numbers as Go writes them, true, false, or a name such as silu
//	type    = elem "[" [dim {"," dim}] "]"
//	dim     = integer | "T" | "S" | "B"
//
// The graph statement is the first and the output statement the last; inputs come before weights, and those before nodes.
// A word is made of letters, digits and . _ - / +, a name of the same without +. Ops, element types and attributes have
// the names of the table of ops.
//
//	graph "logits"
//	input x: f32[T, 64]
//	weight output.weight: q8_0[256, 64]
//	%last = last x : f32[1, 64]
//	%logits = linear %last, output.weight : f32[1, 256]
//	output %logits
func Parse(file, text string) (*Graph, error) {
	p := parser{file: file, g: &Graph{}, tensors: map[string]*Tensor{}, broken: map[string]bool{}}
	for line := range strings.Lines(text) {
		p.number++
		p.tokens = scan(strings.TrimSuffix(line, "\n"))
		whole := p.tokens
		if p.tokens[0].kind != 0 && !p.full() && !p.statement() {
			p.breakNames(whole)
		}
	}
	if p.stage == 0 && len(p.list) == 0 {
		p.add(Pos{file, 1, 1}, "", "no graph statement")
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	if err := Verify(p.g); err != nil {
		return nil, err
	}
	return p.g, nil
}

// parser goes through the tokens of one line at a time. A mistake ends the line.
type parser struct {
	errorList
	file    string
	number  int // of the line
	tokens  []token
	g       *Graph
	tensors map[string]*Tensor
	stage   int             // how far the sections have come
	broken  map[string]bool // names whose statement has a mistake: reading them is none
}

// sections lists the statements in their order; a node starts with a value.
var sections = []string{"graph", "input", "weight", "%", "output"}

func (p *parser) statement() (ok bool) {
	first := p.take()
	at := slices.Index(sections, first.text)
	if at < 0 {
		return p.fail(first, "expected a statement: graph, input, weight, output or a %% value, found %s", first.describe())
	}
	once := first.text == "graph" || first.text == "output"
	if at < p.stage-1 || once && at == p.stage-1 || at > 0 && p.stage == 0 {
		p.stage = max(1, p.stage)
		return p.fail(first, "%s is out of order: a graph statement, inputs, weights, nodes, one output statement", first.describe())
	}
	p.stage = at + 1
	if !p.section(first.text, first) {
		return false
	}
	if end := p.tokens[0]; end.kind != 0 {
		return p.fail(end, "expected the end of the line, found %s", end.describe())
	}
	return true
}

// breakNames remembers what a statement with a mistake would have declared.
func (p *parser) breakNames(statement []token) {
	for _, t := range statement {
		if t.kind == '=' || t.kind == ':' {
			return
		}
		if t.kind == 'w' {
			p.broken[t.text] = true
		}
	}
}

// section parses the rest of a statement; ok is false after a mistake.
func (p *parser) section(name string, first token) (ok bool) {
	switch name {
	case "graph":
		return p.graph()
	case "input":
		return p.declaration(Input, &p.g.Inputs)
	case "weight":
		return p.declaration(Weight, &p.g.Weights)
	case "output":
		p.g.Outputs, ok = p.operands()
		return ok
	}
	return p.node(first)
}

func (p *parser) graph() bool {
	t, ok := p.expect('"', "the graph's name in quotes")
	if ok {
		p.g.Name, _ = strconv.Unquote(t.text) // the scanner found the quotes
	}
	return ok
}

func (p *parser) declaration(kind Kind, to *[]*Tensor) bool {
	name, ok := p.expect('w', "a name")
	if !ok {
		return false
	}
	if _, ok := p.expect(':', `":"`); !ok {
		return false
	}
	typ, ok := p.typ()
	if ok {
		*to = append(*to, p.declare(name, kind, typ, nil))
	}
	return ok
}

// declare makes a tensor; of two with one name the first is found by it, and Verify reports the second.
func (p *parser) declare(name token, kind Kind, typ Type, def *Node) *Tensor {
	t := &Tensor{Name: name.text, Kind: kind, Elem: typ.Elem, Shape: typ.Shape, Def: def, Pos: p.pos(name)}
	if p.tensors[name.text] == nil {
		p.tensors[name.text] = t
	}
	return t
}

func (p *parser) node(first token) bool {
	n := &Node{Pos: p.pos(first)}
	var names []token
	for more := true; more; more = p.accept(',') {
		if len(names) > 0 {
			if _, ok := p.expect('%', "a % value"); !ok {
				return false
			}
		}
		name, ok := p.expect('w', "a name")
		if !ok {
			return false
		}
		names = append(names, name)
	}
	if _, ok := p.expect('=', `"="`); !ok || !p.operation(n) {
		return false
	}
	return p.results(n, names)
}

// operation parses op, operands and attributes.
func (p *parser) operation(n *Node) (ok bool) {
	name, ok := p.expect('w', "an op")
	if !ok {
		return false
	}
	if n.Op, ok = ParseOp(name.text); !ok {
		return p.fail(name, "%s is no op; ops are %s", name.text, list(opNames()))
	}
	if k := p.tokens[0].kind; k == 'w' || k == '%' {
		if n.In, ok = p.operands(); !ok {
			return false
		}
	}
	return !p.accept('{') || p.attrs(n)
}

func (p *parser) operands() (tensors []*Tensor, ok bool) {
	for more := true; more; more = p.accept(',') {
		value := p.accept('%')
		name, ok := p.expect('w', "a name")
		if !ok {
			return nil, false
		}
		t := p.tensors[name.text]
		switch {
		case t == nil && p.broken[name.text]:
			return nil, false
		case t == nil:
			return nil, p.fail(name, "%s is not defined", name.text)
		case value != (t.Kind == Value):
			return nil, p.fail(name, "%s is written %s", name.text, reference(t))
		}
		tensors = append(tensors, t)
	}
	return tensors, true
}

func (p *parser) attrs(n *Node) bool {
	seen := map[string]bool{}
	for more := true; more; more = p.accept(',') {
		name, ok := p.expect('w', "an attribute")
		if !ok {
			return false
		}
		if _, ok := p.expect('=', `"="`); !ok {
			return false
		}
		value, ok := p.expect('w', "a value")
		if !ok || !p.attr(n, name, value) {
			return false
		}
		if seen[name.text] {
			return p.fail(name, "attribute %s is given twice", name.text)
		}
		seen[name.text] = true
	}
	_, ok := p.expect('}', `"}"`)
	return ok
}

func (p *parser) attr(n *Node, name, value token) bool {
	spec, _ := n.Op.Spec()
	var known []string
	for _, d := range attrTable {
		if _, used := spec.reads(d.name); !used {
			continue
		}
		if d.name == name.text {
			if err := d.parse(&n.Attrs, value.text); err != nil {
				return p.fail(value, "attribute %s %v", d.name, err)
			}
			return true
		}
		known = append(known, d.name)
	}
	if len(known) == 0 {
		return p.fail(name, "%s has no attributes", n.Op)
	}
	return p.fail(name, "%s has no attribute %s; it has %s", n.Op, name.text, list(known))
}

// results parses the types and adds the node.
func (p *parser) results(n *Node, names []token) bool {
	if _, ok := p.expect(':', `":" and the results' types`); !ok {
		return false
	}
	var types []Type
	for more := true; more; more = p.accept(',') {
		t, ok := p.typ()
		if !ok {
			return false
		}
		types = append(types, t)
	}
	if len(types) != len(names) {
		return p.fail(names[0], "%d types for %d results", len(types), len(names))
	}
	for i, name := range names {
		n.Out = append(n.Out, p.declare(name, Value, types[i], n))
	}
	p.g.Nodes = append(p.g.Nodes, n)
	return true
}

func (p *parser) typ() (t Type, ok bool) {
	elem, ok := p.expect('w', "a type")
	if !ok {
		return t, false
	}
	if t.Elem, ok = ParseElem(elem.text); !ok {
		return t, p.fail(elem, "%s is no element type", elem.text)
	}
	if _, ok := p.expect('[', `"["`); !ok {
		return t, false
	}
	if p.accept(']') {
		return t, true
	}
	for more := true; more; more = p.accept(',') {
		d, ok := p.dim()
		if !ok {
			return t, false
		}
		t.Shape = append(t.Shape, d)
	}
	_, ok = p.expect(']', `"]"`)
	return t, ok
}

func (p *parser) dim() (Dim, bool) {
	word, ok := p.expect('w', "a dimension")
	if !ok {
		return 0, false
	}
	for _, d := range []Dim{T, S, B} {
		if word.text == d.String() {
			return d, true
		}
	}
	n, err := strconv.ParseUint(word.text, 10, 31)
	if err != nil || strconv.FormatUint(n, 10) != word.text {
		return 0, p.fail(word, "%s is no dimension: an integer, T, S or B", word.text)
	}
	return Dim(n), true
}

// take removes the next token; the end of the line stays.
func (p *parser) take() token {
	t := p.tokens[0]
	if t.kind != 0 {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *parser) accept(kind byte) bool {
	if p.tokens[0].kind != kind {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(kind byte, what string) (token, bool) {
	if t := p.tokens[0]; t.kind != kind {
		return t, p.fail(t, "expected %s, found %s", what, t.describe())
	}
	return p.take(), true
}

func (p *parser) pos(t token) Pos { return Pos{p.file, p.number, t.column} }

// fail reports a mistake and returns false.
func (p *parser) fail(t token, format string, args ...any) bool {
	p.add(p.pos(t), t.text, format, args...)
	return false
}
