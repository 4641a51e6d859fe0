package outline

// scope is where names of a function hide those of the module, up to the token at its end.
type scope struct {
	names map[string]int // by the token from which on they are seen
	end   int
}

// body goes through a function and collects which names of the module it means.
type body struct {
	*reader
	named  map[string]*declaration
	scopes []scope
	uses   map[string]bool
}

// uses lists the declarations that a function names, in its body, its parameters' types or its attributes. A name that the function itself
// declares hides the module's from the end of its statement on.
func (r *reader) uses(named map[string]*declaration, d *declaration) map[string]bool {
	b := &body{reader: r, named: named, uses: map[string]bool{}}
	for _, a := range d.attributes {
		if a.name == "workgroup_size" {
			b.walk(a.args)
		}
	}
	b.walk(d.result)
	b.scopes = []scope{{map[string]int{}, d.body.end}}
	b.parameters(d.params)
	b.walk(d.body)
	return b.uses
}

func (b *body) parameters(s span) {
	for i := s.first; i < s.end; i++ {
		if b.name(i) && b.sign(i+1, ':') {
			b.scopes[0].names[b.at(i)] = s.end
			continue
		}
		i = b.token(i)
	}
}

func (b *body) walk(s span) {
	for i := s.first; i < s.end; i++ {
		for len(b.scopes) > 1 && b.scopes[len(b.scopes)-1].end < i {
			b.scopes = b.scopes[:len(b.scopes)-1]
		}
		if b.sign(i, '{') {
			b.open(i, i)
			continue
		}
		i = b.token(i)
	}
}

// open begins a scope at token i that ends where the block does that starts at token block.
func (b *body) open(i, block int) {
	if end := b.closing(block, '{'); end > i && len(b.scopes) > 0 && len(b.scopes) < maxScopes {
		b.scopes = append(b.scopes, scope{map[string]int{}, end})
	}
}

// maxScopes bounds the nesting of blocks in which names are told apart.
const maxScopes = 1000

// token looks at one token and returns the last one that belongs to it.
func (b *body) token(i int) int {
	switch {
	case b.sign(i, '@'): // an attribute, whose words mean nothing of the module
		if end := b.closing(i+2, '('); end > 0 {
			return end
		}
		return i + 1
	case !b.name(i) || b.sign(i-1, '.'):
		return i
	}
	switch name := b.at(i); name {
	case "for":
		b.open(i, b.closing(i+1, '(')+1)
	case "var", "let", "const":
		return b.local(i)
	default:
		if b.named[name] != nil && !b.hidden(name, i) {
			b.uses[name] = true
		}
	}
	return i
}

// local notes a variable or value of a function.
func (b *body) local(i int) int {
	keyword := b.at(i)
	i++
	if keyword == "var" && b.sign(i, '<') {
		for i < len(b.tokens) && !b.sign(i, '>') && !b.sign(i, ';') {
			i++
		}
		i++
	}
	if !b.name(i) || len(b.scopes) == 0 {
		return i - 1
	}
	from := i + 1
	for ; from < len(b.tokens) && !b.sign(from, ';') && !b.sign(from, '{') && !b.sign(from, '}') && !begins[b.at(from)]; from++ {
		if m := int(b.tokens[from].match); m > from {
			from = m
		}
	}
	names := b.scopes[len(b.scopes)-1].names
	if _, twice := names[b.at(i)]; !twice {
		names[b.at(i)] = from
	}
	return i
}

func (b *body) hidden(name string, at int) bool {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if from, ok := b.scopes[i].names[name]; ok && from <= at {
			return true
		}
	}
	return false
}
