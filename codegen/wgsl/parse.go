package wgsl

import "strconv"

// maxDepth bounds the nesting of expressions.
const maxDepth = 200

// parser reads one piece of text. The first mistake stays in err; from then on it sees the end of the text everywhere.
type parser struct {
	text   string
	base   Pos
	tokens []token
	next   int
	depth  int
	err    *Error

	comments []comment              // of a whole file
	lists    map[int]bool           // of a whole file: tokens that start template lists
	lines    []int                  // of a whole file: offsets at which they start
	noF16    bool                   // f16 is not enabled
	types    func(name string) Type // of a whole file: the struct or alias of a name, or nil
	length   func() (int, Expr)     // of a whole file: parses the length of an array
}

// newParser starts on a piece that was written at base.
func newParser(text string, base Pos) *parser {
	p := &parser{text: text, base: base}
	if base.InFile {
		p.lines = lineStarts(text)
	}
	p.tokens, p.err = lex(text, base)
	if p.err != nil {
		p.err.Pos = p.pos(token{at: p.err.Pos.Column - 1})
		p.tokens = []token{{endToken, "the end", len(text)}}
	}
	if base.InFile {
		p.takeComments()
		p.lists = templateStarts(p.tokens)
	}
	return p
}

// ParseExpr parses an expression. Names aren't resolved and types not known; pos is where the text starts.
func ParseExpr(text string, pos Pos) (Expr, error) {
	p := newParser(text, pos)
	e := p.whole()
	if p.err != nil {
		return nil, p.err
	}
	return e, nil
}

// whole parses an expression up to the end of the text.
func (p *parser) whole() Expr {
	e := p.expr()
	p.end()
	return e
}

func (p *parser) end() {
	if t := p.peek(); t.kind != endToken {
		p.fail(t, "%s is not expected here", strconv.Quote(t.text))
	}
}

func (p *parser) peek() token { return p.tokens[p.next] }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != endToken {
		p.next++
	}
	return t
}

func (p *parser) is(op string) bool {
	t := p.peek()
	return t.kind == opToken && t.text == op
}

func (p *parser) accept(op string) bool {
	if p.is(op) {
		p.next++
		return true
	}
	return false
}

func (p *parser) expect(op string) {
	if t := p.peek(); !p.accept(op) {
		p.fail(t, "%q is missing before %s", op, describe(t))
	}
}

func (p *parser) name(what string) token {
	t := p.peek()
	if t.kind != nameToken {
		p.fail(t, "%s is missing before %s", what, describe(t))
		return t
	}
	return p.take()
}

func describe(t token) string {
	if t.kind == endToken {
		return t.text
	}
	return strconv.Quote(t.text)
}

func (p *parser) pos(t token) Pos {
	at := p.base
	at.Column = t.at + 1
	if at.InFile {
		at.Line, at.Column = lineColumn(p.lines, t.at)
	}
	return at
}

// piece is the text that errors show: none of a whole file.
func (p *parser) piece() string {
	if p.base.InFile {
		return ""
	}
	return p.text
}

func (p *parser) fail(t token, format string, args ...any) {
	if p.err == nil {
		p.err = errorAt(p.pos(t), p.piece(), format, args...)
	}
	p.next = len(p.tokens) - 1
}

// outside fails over what is no part of the subset. The format ends in is or are.
func (p *parser) outside(t token, format string, args ...any) {
	if p.err == nil {
		p.fail(t, format+" outside of the compute subset that kgen reads", args...)
		p.err.Outside = true
	}
}

// The grammar of binary operators has fewer levels than C's and forbids mixtures that read badly: operands of & | ^ << >> are
// unary expressions, && and || don't mix, comparisons don't chain.

func (p *parser) expr() Expr {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), "the expression is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	first := p.next
	x := p.relational()
	switch {
	case p.is("&"), p.is("|"), p.is("^"):
		if p.next > 0 && !isUnary(x, p, first) {
			p.fail(p.peek(), "an operand of %s must be in parentheses", p.peek().text)
			return x
		}
		x = p.chain(x, p.peek().text, p.unary)
		if t := p.peek(); t.kind == opToken && level(t.text) > 0 {
			p.fail(t, "%s needs parentheses around what precedes it", t.text)
		}
	case p.is("&&"), p.is("||"):
		op := p.peek().text
		x = p.chain(x, op, p.relational)
		if t := p.peek(); t.kind == opToken && level(t.text) > 0 {
			p.fail(t, "%s and %s don't mix without parentheses", op, t.text)
		}
	}
	return x
}

// isUnary reports whether x, whose tokens start at first, is a unary expression in the grammar: not a binary one, unless in
// parentheses.
func isUnary(x Expr, p *parser, first int) bool {
	if _, binary := x.(*Binary); !binary {
		return true
	}
	if t := p.tokens[first]; t.text != "(" {
		return false
	}
	depth := 0
	for i := first; i < p.next; i++ {
		switch p.tokens[i].text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i == p.next-1
			}
		}
	}
	return false
}

// chain parses the rest of x op y op z.
func (p *parser) chain(x Expr, op string, operand func() Expr) Expr {
	for p.is(op) {
		t := p.take()
		x = &Binary{Info: Info{Pos: p.pos(t)}, Op: op, X: x, Y: operand()}
	}
	return x
}

func (p *parser) relational() Expr {
	x := p.shift()
	if t := p.peek(); t.kind == opToken && level(t.text) == relationalLevel {
		if p.lists[p.next] {
			p.fail(t, "with the > after it, this < reads as a template list: put the comparison in parentheses")
			return x
		}
		p.take()
		x = &Binary{Info: Info{Pos: p.pos(t)}, Op: t.text, X: x, Y: p.shift()}
		if t := p.peek(); t.kind == opToken && level(t.text) == relationalLevel {
			p.fail(t, "comparisons don't chain")
		}
	}
	return x
}

func (p *parser) shift() Expr {
	first := p.next
	x := p.additive()
	t := p.peek()
	if !p.is("<<") && !p.is(">>") {
		return x
	}
	if !isUnary(x, p, first) {
		p.fail(t, "the left operand of %s must be in parentheses", t.text)
		return x
	}
	p.take()
	x = &Binary{Info: Info{Pos: p.pos(t)}, Op: t.text, X: x, Y: p.unary()}
	if t := p.peek(); t.kind == opToken && level(t.text) >= shiftLevel {
		p.fail(t, "%s needs parentheses around what precedes it", t.text)
	}
	return x
}

func (p *parser) additive() Expr {
	x := p.multiplicative()
	for p.is("+") || p.is("-") {
		t := p.take()
		x = &Binary{Info: Info{Pos: p.pos(t)}, Op: t.text, X: x, Y: p.multiplicative()}
	}
	return x
}

func (p *parser) multiplicative() Expr {
	x := p.unary()
	for p.is("*") || p.is("/") || p.is("%") {
		t := p.take()
		x = &Binary{Info: Info{Pos: p.pos(t)}, Op: t.text, X: x, Y: p.unary()}
	}
	return x
}
