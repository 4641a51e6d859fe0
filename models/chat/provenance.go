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
	open, close rune          // around a string
	hidden      map[rune]rune // for each character that a special token begins with, its stand-in
	shown       map[rune]rune // the reverse
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
	hidden, err := p.render(m.hide)
	if err != nil {
		return Prompt{}, err
	}
	safe := m.show(hidden)
	if safe.Text == plain {
		return safe, nil
	}
	whole, err := p.render(func(s string) string { return m.hideTokens(s, p.special) })
	if err == nil {
		if open := m.show(whole); open.Text == plain && slices.Equal(p.tokens(open), p.tokens(safe)) {
			return open, nil
		}
	}
	return safe, nil
}

// choose picks private-use characters that nothing else uses.
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
	next := rune(first)
	free := func() rune {
		for used[next] {
			next++
		}
		next++
		return next - 1
	}
	m := marks{open: free(), close: free(), hidden: make(map[rune]rune), shown: make(map[rune]rune)}
	for _, token := range p.special {
		if r, n := utf8.DecodeRuneInString(token); n > 0 && m.hidden[r] == 0 {
			m.hidden[r] = free()
			m.shown[m.hidden[r]] = r
		}
	}
	if next > 0x10FFFE {
		return marks{}, errorf(ClassMessage, 0, "the messages use every private-use character")
	}
	return m, nil
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

// hide puts stand-ins for all characters that special tokens begin with. A stand-in is one character like the one it
// stands for, so lengths and slices stay as they are.
func (m marks) hide(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden, ok := m.hidden[r]; ok {
			return hidden
		}
		return r
	}, s)
}

// hideTokens puts a stand-in for the first character of every special token in s.
func (m marks) hideTokens(s string, special []string) string {
	var b strings.Builder
	for i, r := range s {
		hidden, ok := m.hidden[r]
		if ok && startsWithAny(s[i:], special) {
			r = hidden
		}
		b.WriteRune(r)
	}
	return b.String()
}

func startsWithAny(s string, tokens []string) bool {
	return slices.ContainsFunc(tokens, func(token string) bool { return token != "" && strings.HasPrefix(s, token) })
}

// show puts the hidden characters back. They are the untrusted ones: what else is content cannot begin a token.
func (m marks) show(marked string) Prompt {
	var b strings.Builder
	var spans [][2]int
	for _, r := range marked {
		from := b.Len()
		if shown, ok := m.shown[r]; ok {
			b.WriteRune(shown)
			spans = append(spans, [2]int{from, b.Len()})
			continue
		}
		b.WriteRune(r)
	}
	return Prompt{b.String(), spans}
}

// tokens lists the special tokens that may be recognised in a prompt, longest first at each place.
func (p *provenance) tokens(prompt Prompt) (found []string) {
	text, spans := prompt.Text, prompt.Untrusted
	var begins strings.Builder
	for _, token := range p.special {
		begins.WriteString(token[:min(1, len(token))])
	}
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], begins.String())
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
