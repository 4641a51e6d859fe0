package outline

// reader is a text with its tokens.
type reader struct {
	text   string
	tokens []token
}

func newReader(text string) *reader { return &reader{text, lex(text)} }

// at returns what token i says; nothing after the last one.
func (r *reader) at(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.text[r.tokens[i].at:r.tokens[i].end]
}

func (r *reader) name(i int) bool {
	return i >= 0 && i < len(r.tokens) && r.tokens[i].kind == nameToken
}

func (r *reader) sign(i int, c byte) bool {
	return i >= 0 && i < len(r.tokens) && r.tokens[i].kind == signToken && r.text[r.tokens[i].at] == c
}

// closing returns the token that closes the bracket c at token i, -1 when there is none.
func (r *reader) closing(i int, c byte) int {
	if !r.sign(i, c) {
		return -1
	}
	return int(r.tokens[i].match)
}

// span is the tokens from first to before end.
type span struct{ first, end int }

func (s span) empty() bool { return s.first >= s.end }

type attribute struct {
	name string
	args span
}

// declaration is one at module scope, or a directive.
type declaration struct {
	span
	keyword    string // var, fn, struct, const, override, alias, const_assert, enable, requires, diagnostic, or "#" and "{{" of templates
	name       int    // token; -1 without
	attributes []attribute
	template   span // of var<...>
	typ        span // of a variable, constant or alias
	init       span
	params     span // of a function
	result     span
	body       span // of a function or struct
}

func (d *declaration) attribute(name string) *attribute {
	for i := range d.attributes {
		if d.attributes[i].name == name {
			return &d.attributes[i]
		}
	}
	return nil
}

// stage is that of an entry point, "" for other declarations.
func (d *declaration) stage() string {
	for _, stage := range []string{"compute", "vertex", "fragment"} {
		if d.keyword == "fn" && d.attribute(stage) != nil {
			return stage
		}
	}
	return ""
}

// begins are the words that a declaration or directive begins with. None of them can stand inside of another one at module scope, but for
// let, which is here to end it.
var begins = map[string]bool{
	"var": true, "fn": true, "struct": true, "const": true, "override": true, "alias": true, "const_assert": true,
	"enable": true, "requires": true, "diagnostic": true, "let": true,
}

// declaration reads the one that starts at token i. It returns where the next one may start; d is nil when there is none here.
func (r *reader) declaration(i int) (d *declaration, next int) {
	d = &declaration{span: span{first: i}, name: -1}
	if i < len(r.tokens) && r.tokens[i].kind == preprocessorToken {
		d.keyword, d.end = "#", i+1
		return d, d.end
	}
	if r.sign(i, '{') && r.sign(i+1, '{') && r.tokens[i].match > 0 {
		d.keyword, d.end = "{{", int(r.tokens[i].match)+1
		return d, d.end
	}
	d.attributes, i = r.attributes(i)
	if !r.name(i) || !begins[r.at(i)] {
		return nil, max(i, d.first+1)
	}
	d.keyword = r.at(i)
	switch d.keyword {
	case "fn":
		i = r.function(d, i+1)
	case "struct":
		i = r.structure(d, i+1)
	case "let":
		i = -1
	default:
		i = r.line(d, i+1)
	}
	if i < 0 {
		return nil, max(d.first+1, d.name)
	}
	d.end = i
	return d, i
}

// attributes reads those before a declaration, member or parameter.
func (r *reader) attributes(i int) ([]attribute, int) {
	var list []attribute
	for r.sign(i, '@') && r.name(i+1) {
		a := attribute{name: r.at(i + 1)}
		i += 2
		if end := r.closing(i, '('); end > 0 {
			a.args = span{i + 1, end}
			i = end + 1
		}
		list = append(list, a)
	}
	return list, i
}

func (r *reader) function(d *declaration, i int) int {
	end := r.closing(i+1, '(')
	if !r.name(i) || end < 0 {
		return -1
	}
	d.name, d.params = i, span{i + 2, end}
	i = end + 1
	d.result.first = i
	for ; i < len(r.tokens) && !r.sign(i, '{'); i++ {
		if r.sign(i, ';') || begins[r.at(i)] && !r.sign(i-1, '(') { // @diagnostic(...) has no place here, but names in attributes do
			return -1
		}
	}
	d.result.end = i
	if end = r.closing(i, '{'); end < 0 {
		return -1
	}
	d.body = span{i + 1, end}
	return end + 1
}

func (r *reader) structure(d *declaration, i int) int {
	end := r.closing(i+1, '{')
	if !r.name(i) || end < 0 {
		return -1
	}
	d.name, d.body = i, span{i + 2, end}
	if r.sign(end+1, ';') {
		end++
	}
	return end + 1
}

// line reads a declaration or directive that ends with a semicolon.
func (r *reader) line(d *declaration, i int) int {
	first := i
	if d.keyword == "var" && r.sign(i, '<') {
		for d.template.first = i + 1; i < len(r.tokens) && !r.sign(i, '>'); i++ {
			if r.sign(i, ';') || r.sign(i, '{') || begins[r.at(i)] {
				return -1
			}
		}
		d.template.end = i
		i++
		first = i
	}
	directive := d.keyword == "enable" || d.keyword == "requires" || d.keyword == "diagnostic"
	named := !directive && d.keyword != "const_assert"
	if named {
		if !r.name(i) {
			return -1
		}
		d.name = i
		i++
	}
	colon, equal := -1, -1
	for ; i < len(r.tokens) && !r.sign(i, ';'); i++ {
		switch {
		case r.sign(i, ':') && colon < 0 && equal < 0:
			colon = i
		case r.sign(i, '=') && equal < 0:
			equal = i
		case r.tokens[i].kind == signToken && r.tokens[i].match > int32(i):
			i = int(r.tokens[i].match)
		case r.sign(i, '}') || r.sign(i, '@') || r.name(i) && begins[r.at(i)]:
			return -1
		}
	}
	if i >= len(r.tokens) || i == first || !r.shaped(d, colon, equal, i) {
		return -1
	}
	d.typed(colon, equal, i)
	return i + 1
}

// shaped reports whether a line looks like what its keyword begins, as prose that begins with the same word does not.
func (r *reader) shaped(d *declaration, colon, equal, end int) bool {
	after := d.name + 1
	switch d.keyword {
	case "var":
		return after == end || colon == after || equal == after
	case "const", "override":
		return after == end && d.keyword == "override" || colon == after || equal == after
	case "alias":
		return equal == after
	case "diagnostic":
		return r.sign(d.first+1, '(')
	case "enable", "requires":
		for i := d.first + 1; i < end; i++ {
			if !r.name(i) && !r.sign(i, ',') {
				return false
			}
		}
	}
	return true
}

func (d *declaration) typed(colon, equal, end int) {
	if d.keyword == "alias" {
		colon, equal = equal, -1
	}
	if equal >= 0 {
		d.init = span{equal + 1, end}
		end = equal
	}
	if colon >= 0 {
		d.typ = span{colon + 1, end}
	}
}
