package wgsl

import (
	"strings"
	"unicode/utf8"
)

// Parse reads a whole file of the compute subset of WGSL: its AST is the one that the builder makes, with names resolved and
// types checked by the rules of WGSL. name is the file's, for positions.
//
// What Tint or naga refuses is refused, but for the line enable subgroups;, on which the two disagree: it may be there or not.
// Matrices, textures, samplers and the stages of rendering are outside of the subset; they are errors like any other. The error
// is an *Error, or several of them joined when control flow around barriers is not uniform.
func Parse(name, text string) (*File, error) {
	f, divergent, err := ParseLenient(name, text)
	if err != nil {
		return nil, err
	}
	if len(divergent) > 0 {
		return nil, joinErrors(divergent)
	}
	return f, nil
}

func invalidUTF8(text string) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || r == 0 {
			return i
		}
		i += n
	}
	return -1
}

// fileParser parses and checks in one pass. Declarations at module scope may stand in any order: each is parsed where it stands or
// when its name is met first, whichever comes first.
type fileParser struct {
	*parser
	checker *checker
	file    *File
	scope   *scope
	decls   []*topDecl
	named   map[string]*topDecl
	sizes   map[*Symbol]Expr // lengths of arrays that are an override, one expression for each
	chain   int              // declarations that wait for others
	fn      *Func
	jumps   jumps
}

// topDecl is a declaration at module scope.
type topDecl struct {
	first, end int // tokens; end is the one after the last
	name       token
	state      declState
	decl       Decl
	symbol     *Symbol
}

type declState uint8

const (
	unparsed declState = iota
	parsing
	parsed
)

// maxChain bounds how many declarations wait for each other.
const maxChain = 200

// word reports whether the next token is the name given.
func (p *parser) word(name string) bool {
	t := p.peek()
	return t.kind == nameToken && t.text == name
}

func (p *parser) acceptWord(name string) bool {
	if p.word(name) {
		p.next++
		return true
	}
	return false
}

// directives parses what stands before the declarations.
func (p *fileParser) directives() {
	for p.err == nil {
		t := p.peek()
		switch {
		case p.accept(";"):
			continue
		case p.acceptWord("enable"):
			for _, n := range p.nameList() {
				switch n.text {
				case "f16":
					p.file.F16 = true
				case "subgroups":
					p.file.Subgroups = true
				default:
					p.outside(n, "enable %s: extension %s is", n.text, n.text)
				}
			}
			p.expect(";")
		case p.acceptWord("requires"):
			d := Directive{At: At{p.pos(t)}, Name: "requires"}
			for _, n := range p.nameList() {
				if !languageFeatures[n.text] {
					p.outside(n, "requires %s: language extension %s is", n.text, n.text)
				}
				d.Args = append(d.Args, n.text)
			}
			p.expect(";")
			p.file.Directives = append(p.file.Directives, d)
		case p.acceptWord("diagnostic"):
			p.file.Directives = append(p.file.Directives, p.diagnostic(t))
			p.expect(";")
		default:
			return
		}
	}
}

// languageFeatures are the extensions of WGSL that Tint and naga both know.
var languageFeatures = map[string]bool{
	"packed_4x8_integer_dot_product": true, "pointer_composite_access": true, "readonly_and_readwrite_storage_textures": true,
}

func (p *fileParser) nameList() []token {
	names := []token{p.name("a name")}
	for p.accept(",") && p.peek().kind == nameToken {
		names = append(names, p.take())
	}
	return names
}

// diagnostic parses (severity, rule).
func (p *fileParser) diagnostic(at token) Directive {
	d := Directive{At: At{p.pos(at)}, Name: "diagnostic"}
	p.expect("(")
	severity := p.name("a severity")
	if s := severity.text; p.err == nil && s != "off" && s != "info" && s != "warning" && s != "error" {
		p.fail(severity, "%s is not a severity: off, info, warning or error", s)
	}
	p.expect(",")
	rule := p.name("a rule").text
	if p.accept(".") {
		rule += "." + p.name("a rule").text
	}
	p.accept(",")
	p.expect(")")
	d.Args = []string{severity.text, rule}
	return d
}

// scan finds where the declarations begin and end, and their names.
func (p *fileParser) scan() {
	for p.err == nil && p.peek().kind != endToken {
		if p.accept(";") {
			continue
		}
		d := &topDecl{first: p.next}
		for p.is("@") {
			p.next++
			p.name("an attribute")
			if p.is("(") {
				p.skip("(", ")")
			}
		}
		keyword := p.take()
		if p.err != nil {
			return
		}
		switch keyword.text {
		case "enable", "requires", "diagnostic":
			p.fail(keyword, "%s must stand before the declarations", keyword.text)
			return
		case "let":
			p.fail(keyword, "let is for functions: const, override or var at module scope")
			return
		case "var":
			if p.is("<") {
				p.skip("<", ">")
			}
		case "const", "override", "fn", "struct", "alias", "const_assert":
		default:
			p.fail(keyword, "%s begins no declaration", describe(keyword))
			return
		}
		if keyword.text != "const_assert" {
			d.name = p.name("a name")
			p.declared(d)
		}
		if keyword.text == "fn" || keyword.text == "struct" {
			p.skipTo("{")
			p.skip("{", "}")
		} else {
			p.skipToEnd()
			p.expect(";")
		}
		d.end = p.next
		p.decls = append(p.decls, d)
	}
}

func (p *fileParser) declared(d *topDecl) {
	name := d.name.text
	if p.err != nil {
		return
	}
	if old := p.named[name]; old != nil {
		p.fail(d.name, "%s is already declared, at %s", name, p.pos(old.name))
		return
	}
	if why := refusedName(name); why != "" {
		p.fail(d.name, "%s", why)
		return
	}
	p.named[name] = d
}

// skipTo goes on to the next token with the text given.
func (p *fileParser) skipTo(text string) {
	start := p.peek()
	for !p.is(text) {
		if p.take().kind == endToken {
			if p.err == nil {
				p.fail(start, "%q is missing after %s", text, describe(start))
			}
			return
		}
	}
}

// skipToEnd goes on to the semicolon that ends a declaration, or to what can only begin the next one.
func (p *fileParser) skipToEnd() {
	for {
		switch t := p.peek(); t.text {
		case ";", "@", "const", "override", "var", "fn", "struct", "alias", "const_assert":
			return
		default:
			if p.take().kind == endToken {
				return
			}
		}
	}
}

// skip goes on past the bracket that closes the next one.
func (p *fileParser) skip(open, closing string) {
	start := p.peek()
	depth := 0
	for {
		t := p.take()
		switch {
		case t.kind == endToken:
			if p.err == nil {
				p.fail(start, "%q has no %q", open, closing)
			}
			return
		case t.kind == opToken && t.text == open:
			depth++
		case t.kind == opToken && t.text == closing:
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

// global is how scopes find names at module scope.
func (p *fileParser) global(name string) *Symbol {
	d := p.named[name]
	if d == nil || p.err != nil {
		return nil
	}
	if d.state == parsing && d.symbol == nil {
		p.fail(d.name, "%s is declared by means of itself", name)
		return nil
	}
	p.resolve(d)
	return d.symbol
}

// resolve parses and checks a declaration, unless that was done.
func (p *fileParser) resolve(d *topDecl) {
	if d.state != unparsed || p.err != nil {
		return
	}
	if p.chain++; p.chain > maxChain {
		p.fail(d.name, "more than %d declarations wait for each other", maxChain)
		return
	}
	next, depth, local, fn, jumps := p.next, p.depth, p.scope, p.fn, p.jumps
	for p.scope.outer != nil {
		p.scope = p.scope.outer
	}
	p.next, p.depth, p.fn = d.first, 0, nil
	p.jumps = nil
	d.state = parsing
	p.declaration(d)
	d.state = parsed
	if p.err == nil && p.next != d.end {
		p.fail(p.peek(), "%s is not expected here", describe(p.peek()))
	}
	p.chain--
	p.scope, p.fn, p.jumps = local, fn, jumps
	if p.err == nil {
		p.next, p.depth = next, depth
	}
}

// assemble puts declarations and comments into the file, in the order of the text.
func (p *fileParser) assemble() {
	comments := func(to int) {
		for _, c := range p.commentsBefore(0, to) {
			p.file.Decls = append(p.file.Decls, c)
		}
	}
	for _, d := range p.decls {
		comments(p.tokens[d.first].at)
		p.file.Decls = append(p.file.Decls, d.decl)
	}
	comments(len(p.text) + 1)
}

// check checks an expression with what and takes over the mistake found.
func (p *fileParser) check(e Expr, what func(c *checker, e Expr) Expr) Expr {
	if p.err != nil {
		return e
	}
	c := p.checker
	c.scope = p.scope
	e = what(c, e)
	p.adopt()
	return e
}

// adopt makes the checker's mistake that of the parser.
func (p *fileParser) adopt() {
	if p.err == nil && p.checker.err != nil {
		p.err = p.checker.err
		p.next = len(p.tokens) - 1
	}
}

// constant parses an expression that must be a constant integer of at least min.
func (p *fileParser) constant(what string, min int64) int {
	t := p.peek()
	e := p.check(p.expr(), (*checker).value)
	v := valueOf(e)
	switch {
	case p.err != nil:
	case v.Kind != IntValue || !constant(e):
		p.fail(t, "%s must be a constant integer", what)
	case v.Int < min || v.Int > 1<<31-1:
		p.fail(t, "%s must be from %d to %d, not %d", what, min, 1<<31-1, v.Int)
	}
	return int(v.Int)
}

// settleLiterals gives float literals the text that they print with, so that a file is equal to what is parsed from its print.
func settleLiterals(f *File) {
	Inspect(f, func(e Expr) {
		if l, ok := e.(*Literal); ok && (l.Suffix == "f" || l.Suffix == "h" || l.Value.Kind == FloatValue && strings.ContainsAny(l.Text, ".eEpP")) {
			l.Text = strings.TrimSuffix(FormatExpr(l), l.Suffix)
		}
	})
}
