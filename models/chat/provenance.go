package chat

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// provenance finds out which bytes of a rendering are untrusted. The steps are those of the package documentation.
type provenance struct {
	run     *run
	render  func(mark func(string) string) (string, *Error)
	strings []string // the untrusted ones
	special []string
}

// marks are characters that occur neither in the template nor in the data.
type marks struct {
	open, close, cut rune
}

// prompt renders and attributes.
func (p *provenance) prompt(source string) (Prompt, *Error) {
	m, err := p.choose(source)
	if err != nil {
		return Prompt{}, err
	}
	plain, err := p.render(nil)
	if err != nil {
		return Prompt{}, err
	}
	if around, err := p.render(m.around); err == nil {
		if text, spans, ok := p.enclosed(around, m); ok && text == plain {
			return Prompt{text, spans}, nil
		}
	}
	begins := beginnings(p.special)
	hidden, err := p.render(func(s string) string { return m.cutBehind(s, begins) })
	var safe Prompt
	if err == nil {
		safe = m.cuts(hidden)
		if safe.Text == plain {
			return safe, nil
		}
	}
	whole, wholeErr := p.render(func(s string) string { return m.cutInside(s, p.special) })
	if wholeErr == nil {
		open := m.cuts(whole)
		if open.Text == plain && err == nil && slices.Equal(p.tokens(open), p.tokens(safe)) {
			return open, nil
		}
	}
	return safe, err
}

// choose picks three private-use characters that nothing else uses.
func (p *provenance) choose(source string) (marks, *Error) {
	const first = 0x100000 // plane 16 is private use as a whole
	used := make(map[rune]bool)
	note := func(s string) {
		for _, r := range s {
			if r >= first {
				used[r] = true
			}
		}
	}
	note(source)
	for _, s := range p.strings {
		note(s)
	}
	var found []rune
	for r := rune(first); r <= 0x10FFFD && len(found) < 3; r++ {
		if !used[r] {
			found = append(found, r)
		}
	}
	if len(found) < 3 {
		return marks{}, errorf(ClassMessage, 0, "the messages use every private-use character")
	}
	return marks{found[0], found[1], found[2]}, nil
}

// around marks what is left of s without white space at its ends.
func (m marks) around(s string) string {
	core := strings.TrimSpace(s)
	if core == "" {
		return s
	}
	at := len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	return s[:at] + string(m.open) + core + string(m.close) + s[at+len(core):]
}

// enclosed removes the marks of around and returns the ranges between them. ok tells that each pair of marks
// encloses one string as it was given, or as JSON.
func (p *provenance) enclosed(marked string, m marks) (text string, spans [][2]int, ok bool) {
	whole := make(map[string]bool)
	for _, s := range p.strings {
		core := strings.TrimSpace(s)
		whole[core] = true
		for _, ascii := range []bool{false, true} {
			w := jsonWriter{ascii: ascii, most: p.run.maxValue}
			w.string(core)
			whole[w.b.String()[1:w.b.Len()-1]] = true
		}
	}
	var b strings.Builder
	from := -1
	for _, r := range marked {
		switch {
		case r == m.open && from < 0:
			from = b.Len()
		case r == m.close && from >= 0:
			if !whole[b.String()[from:]] {
				return "", nil, false
			}
			spans = append(spans, [2]int{from, b.Len()})
			from = -1
		case r == m.open || r == m.close:
			return "", nil, false
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), spans, from < 0
}

// beginnings lists the first characters of the special tokens.
func beginnings(special []string) string {
	var b strings.Builder
	for _, s := range special {
		r, n := utf8.DecodeRuneInString(s)
		if n > 0 && !strings.ContainsRune(b.String(), r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cutBehind puts a mark behind every character of s that is in begins.
func (m marks) cutBehind(s, begins string) string {
	if !strings.ContainsAny(s, begins) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
		if strings.ContainsRune(begins, r) {
			b.WriteRune(m.cut)
		}
	}
	return b.String()
}

// cutInside puts a mark behind the first character of every special token in s.
func (m marks) cutInside(s string, special []string) string {
	begins := beginnings(special)
	if !strings.ContainsAny(s, begins) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		b.WriteRune(r)
		if strings.ContainsRune(begins, r) && slices.ContainsFunc(special, func(token string) bool { return token != "" && strings.HasPrefix(s[i:], token) }) {
			b.WriteRune(m.cut)
		}
	}
	return b.String()
}

// cuts removes the marks that cut; the character before each is untrusted.
func (m marks) cuts(marked string) Prompt {
	var b strings.Builder
	var spans [][2]int
	last := 0 // where the last character begins
	for _, r := range marked {
		if r == m.cut {
			spans = append(spans, [2]int{last, b.Len()})
			continue
		}
		last = b.Len()
		b.WriteRune(r)
	}
	return Prompt{b.String(), spans}
}

// tokens lists the special tokens that may be recognised in a prompt, longest first at each place.
func (p *provenance) tokens(prompt Prompt) (found []string) {
	text, spans := prompt.Text, prompt.Untrusted
	begins := beginnings(p.special)
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], begins)
		if next < 0 {
			break
		}
		i += next
		for len(spans) > 0 && spans[0][1] <= i {
			spans = spans[1:]
		}
		until := len(text)
		if len(spans) > 0 {
			until = spans[0][0]
		}
		longest := ""
		for _, token := range p.special {
			if len(token) > len(longest) && i+len(token) <= until && strings.HasPrefix(text[i:], token) {
				longest = token
			}
		}
		if longest == "" {
			i++
			continue
		}
		found = append(found, longest)
		i += len(longest)
	}
	return found
}
