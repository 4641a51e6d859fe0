package extract

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/outline"
)

// Script finds the texts in JavaScript or TypeScript: string literals, and those that + joins.
func Script(data []byte) []Text {
	texts := distinct(literals(data))
	place(data, texts)
	return texts
}

// literals finds texts, in the order of the script.
func literals(data []byte) []Text {
	s := &scriptReader{src: data, frames: []frame{{}}, endless: map[byte]int{}}
	s.read()
	for i := len(s.frames) - 1; i >= 0; i-- {
		s.flush(&s.frames[i])
	}
	sort.SliceStable(s.texts, func(i, j int) bool { return s.texts[i].Offset < s.texts[j].Offset })
	return s.texts
}

// place names texts by their lines, with columns where a line has several.
func place(data []byte, texts []Text) {
	lines := make([]int, len(texts))
	count := map[int]int{}
	line, at := 1, 0
	for i, t := range texts {
		line += bytes.Count(data[at:t.Offset], []byte("\n"))
		at = t.Offset
		lines[i] = line
		count[line]++
	}
	for i := range texts {
		t := &texts[i]
		here := strconv.Itoa(lines[i])
		if count[lines[i]] > 1 {
			here += "." + strconv.Itoa(t.Offset-bytes.LastIndexByte(data[:t.Offset], '\n'))
		}
		t.Place = here + t.Place
	}
}

// sum is a row of literals that + joins.
type sum struct {
	open   bool
	at     int // offset
	text   []byte
	holes  bool // something that isn't known is among them
	plus   bool // the last token is +
	within bool // in an operand that isn't known
}

// frame is what is between two brackets, or between ${ and } of a template literal.
type frame struct {
	sum      sum
	template *sum // the literal around it, up to here
	keyword  bool // the round bracket follows if, while or for: a / after it begins a regular expression
}

// scriptReader goes through a script token by token. It knows enough of the language to tell literals from comments and regular
// expressions.
type scriptReader struct {
	src    []byte
	at     int
	frames []frame
	last   lastToken
	texts  []Text

	endless map[byte]int // up to where a quote, or the slash of a regular expression, is known to have no end
}

// lastToken is what came before.
type lastToken struct {
	text  string // of a sign or word; not of others
	value bool   // it ends a value, so that a / after it divides
	word  bool
}

func (s *scriptReader) top() *frame { return &s.frames[len(s.frames)-1] }

func (s *scriptReader) has(prefix string) bool {
	return bytes.HasPrefix(s.src[s.at:], []byte(prefix))
}

func (s *scriptReader) read() {
	for s.at < len(s.src) {
		c := s.src[s.at]
		switch {
		case c <= ' ':
			s.at++
		case s.has("//"):
			s.until("\n")
		case s.has("/*"):
			s.at += 2
			s.until("*/")
		case c == '"' || c == '\'':
			s.quoted(c)
		case c == '`':
			s.templateLiteral(&sum{open: true, at: s.at})
		case c == '/' && !s.last.value && s.regularExpression():
		case wordByte(c):
			s.word()
		default:
			s.sign(c)
		}
	}
}

// until goes on past the next end, or to the end of the script.
func (s *scriptReader) until(end string) {
	if i := bytes.Index(s.src[s.at:], []byte(end)); i >= 0 {
		s.at += i + len(end)
	} else {
		s.at = len(s.src)
	}
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// operators are the words after which a value comes.
var operators = map[string]bool{
	"return": true, "typeof": true, "case": true, "in": true, "of": true, "delete": true, "void": true, "throw": true, "new": true,
	"do": true, "else": true, "instanceof": true, "await": true, "yield": true,
}

func (s *scriptReader) word() {
	start := s.at
	for s.at < len(s.src) && wordByte(s.src[s.at]) {
		s.at++
	}
	text := string(s.src[start:min(s.at, start+20)])
	s.operand(text)
	s.last = lastToken{text, !operators[text], true}
}

// regularExpression passes over one; it returns false where there is none on the line.
func (s *scriptReader) regularExpression() bool {
	class := false
	i := s.at + 1
	for ; s.at >= s.endless['/'] && i < len(s.src) && s.src[i] != '\n'; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.operand("/")
			s.at = i + 1
			s.last = lastToken{value: true}
			return true
		}
	}
	s.endless['/'] = max(s.endless['/'], i)
	return false
}

func (s *scriptReader) sign(c byte) {
	s.at++
	text := string(c)
	switch c {
	case '(', '[', '{':
		s.operand(text)
		keyword := c == '(' && s.last.word && (s.last.text == "if" || s.last.text == "while" || s.last.text == "for")
		s.frames = append(s.frames, frame{keyword: keyword})
		s.last = lastToken{text: text}
		return
	case ')', ']', '}':
		s.closing(c)
		return
	case '+':
		if s.at < len(s.src) && (s.src[s.at] == '+' || s.src[s.at] == '=') {
			text += string(s.src[s.at])
			s.at++
		}
	}
	s.operand(text)
	s.last = lastToken{text: text, value: text == "++" && s.last.value}
}

func (s *scriptReader) closing(c byte) {
	f := s.top()
	keyword := f.keyword
	s.flush(f)
	if len(s.frames) > 1 {
		s.frames = s.frames[:len(s.frames)-1]
	}
	s.last = lastToken{text: string(c), value: c == ']' || c == ')' && !keyword}
	if f.template != nil && c == '}' {
		f.template.holes = true
		s.templateLiteral(f.template)
	}
}

// operand tells the sum around it of a token that is no string.
func (s *scriptReader) operand(token string) {
	f := s.top()
	p := &f.sum
	if !p.open {
		return
	}
	replaced := s.last.text == "." && strings.HasPrefix(token, "replace")
	switch {
	case replaced:
		p.holes = true
		s.flush(f)
	case token == "+" && !p.plus:
		p.plus, p.within = true, false
	case p.plus && strings.Contains("([{", token):
		p.plus, p.within, p.holes = false, true, true
	case p.within && (ends[token] || s.last.value && s.last.text == "" && token != "."):
		s.flush(f)
	case p.plus:
		p.plus, p.within, p.holes = false, true, true
	case p.within, token == ".", s.last.text == ".": // such as .trim()
	case s.last.text != "." && token != "(":
		s.flush(f)
	}
}

// ends are the tokens that end a sum.
var ends = map[string]bool{
	",": true, ";": true, ":": true, "?": true, "=": true, "&": true, "|": true, "const": true, "let": true, "var": true, "return": true,
	"case": true, "function": true, "if": true, "for": true, "export": true, "import": true, "class": true, "+=": true,
}

// literal adds one to the sum that it is part of, or begins one.
func (s *scriptReader) literal(l sum) {
	f := s.top()
	p := &f.sum
	switch {
	case p.open && p.plus:
		p.text = append(p.text, l.text...)
		p.holes = p.holes || l.holes
		p.plus, p.within = false, false
	default:
		s.flush(f)
		l.holes = l.holes || s.last.text == "+" || s.last.text == "+="
		*p = l
	}
	s.last = lastToken{value: true}
}

// flush ends a sum, and keeps it where it is a text.
func (s *scriptReader) flush(f *frame) {
	p := f.sum
	f.sum = sum{}
	switch {
	case !p.open:
	case attribute(p.text) < 0:
		s.module(p)
	case p.holes:
		s.texts = append(s.texts, Text{Offset: p.at, Why: parts})
	case hasEntry(string(p.text)):
		s.texts = append(s.texts, Text{Offset: p.at, WGSL: string(p.text)})
	case part(p.text):
		s.texts = append(s.texts, Text{Offset: p.at, Why: parts})
	}
}

func hasEntry(text string) bool {
	o := outline.Read(text)
	return len(o.Entries) > 0 || o.Template != nil
}

// module looks into a .wasm file that a script has as base64.
func (s *scriptReader) module(p sum) {
	const begins = "AGFzbQ" // zero, asm
	at := bytes.Index(p.text[:min(len(p.text), 100)], []byte(begins))
	if at < 0 || len(p.text) < 1000 {
		return
	}
	encoded := bytes.TrimRight(p.text[at:], "=")
	decoded := make([]byte, base64.RawStdEncoding.DecodedLen(len(encoded)))
	n, err := base64.RawStdEncoding.Decode(decoded, encoded)
	texts, wrong := Wasm(decoded[:n])
	if err != nil && wrong == nil {
		wrong = err
	}
	for _, t := range texts {
		t.Place, t.Offset = "/"+t.Place, p.at
		s.texts = append(s.texts, t)
	}
	if wrong != nil {
		s.texts = append(s.texts, Text{Offset: p.at, Why: fmt.Sprintf("a .wasm file as base64 that can't be read: %v", wrong)})
	}
}
