package extract

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/kgen-wgsl/kgen/codegen/outline"
)

// Text is a WGSL text with a compute entry point, or a place where one is put together.
type Text struct {
	Place  string // in the file: the offset in a .wasm file; the line in a script, with its column where a line has several
	Offset int    // bytes from the start of the file
	WGSL   string // empty where Why isn't
	Why    string // why there is no text to judge
}

// FormatError says what is wrong with a file.
type FormatError struct {
	Offset  int // bytes from the start of the file
	Message string
}

func (e *FormatError) Error() string {
	return "at byte " + strconv.Itoa(e.Offset) + ": " + e.Message
}

// marker is what every compute entry point has, and little else.
var marker = []byte("workgroup_size")

// parts says that a string is part of a text.
const parts = "the program puts the text together from parts when it runs"

const (
	reach  = 512 << 10 // how far a text may reach from a marker
	window = 4 << 20   // the most that is looked at as one string
)

// scan finds the texts among bytes that lie at an offset of the file.
func scan(data []byte, offset int) []Text {
	var texts []Text
	for from := 0; ; {
		at := bytes.Index(data[from:], marker)
		if at < 0 {
			return texts
		}
		first, end := printable(data, from, from+at)
		texts = append(texts, inString(data[first:end], offset+first)...)
		from = max(end, from+at+len(marker))
	}
}

// printable returns the string around a marker: UTF-8 without control characters, from the offset given on, and not without bounds.
func printable(data []byte, from, at int) (first, end int) {
	for first = at; first > from && at-first < reach; {
		r, n := utf8.DecodeLastRune(data[from:first])
		if !shown(r, n) {
			break
		}
		first -= n
	}
	next := at // the last marker seen
	for end = at; end < len(data) && end-next < reach && end-first < window; {
		r, n := utf8.DecodeRune(data[end:])
		if !shown(r, n) {
			break
		}
		if bytes.HasPrefix(data[end:], marker) {
			next = end
		}
		end += n
	}
	return first, end
}

func shown(r rune, n int) bool {
	if r == utf8.RuneError && n <= 1 {
		return false
	}
	return r >= ' ' && r != 0x7f || '\t' <= r && r <= '\r'
}

// inString finds the texts in one string.
func inString(s []byte, offset int) []Text {
	var texts []Text
	last := 0
	for _, p := range outline.Split(string(s)) {
		texts = append(texts, inScript(s[last:p.Start], offset+last)...)
		texts = append(texts, Text{Place: strconv.Itoa(offset + p.Start), Offset: offset + p.Start, WGSL: string(s[p.Start:p.End])})
		last = p.End
	}
	return append(texts, inScript(s[last:], offset+last)...)
}

// inScript finds what is no text as it stands: scripts and JSON in the data of a program, and parts of texts.
func inScript(s []byte, offset int) []Text {
	at := attribute(s)
	if at < 0 {
		return nil
	}
	var texts []Text
	for _, t := range Script(s) {
		t.Offset += offset
		t.Place = strconv.Itoa(t.Offset)
		texts = append(texts, t)
	}
	if len(texts) == 0 && part(s) {
		texts = []Text{{Place: strconv.Itoa(offset + at), Offset: offset + at, Why: parts}}
	}
	return texts
}

// part reports whether a string with the attribute is part of a text, and no prose about it.
func part(s []byte) bool {
	return bytes.Contains(s, []byte("fn ")) || bytes.HasPrefix(bytes.TrimSpace(s), []byte("@"))
}

// attribute returns where @workgroup_size( stands, -1 where it doesn't.
func attribute(s []byte) int {
	for from := 0; ; {
		at := bytes.Index(s[from:], marker)
		if at < 0 {
			return -1
		}
		at += from
		before, after := bytes.TrimRight(s[:at], " \t\r\n"), bytes.TrimLeft(s[at+len(marker):], " \t\r\n")
		if bytes.HasSuffix(before, []byte("@")) && bytes.HasPrefix(after, []byte("(")) {
			return at
		}
		from = at + len(marker)
	}
}

// distinct leaves each text once, at its first place, and no more than a few places without a text for each reason.
func distinct(texts []Text) []Text {
	const places = 20
	seen := map[string]bool{}
	without := map[string]int{}
	var kept []Text
	for _, t := range texts {
		if t.Why != "" {
			if without[t.Why]++; without[t.Why] > places {
				continue
			}
		} else if seen[t.WGSL] {
			continue
		}
		seen[t.WGSL] = true
		kept = append(kept, t)
	}
	for i := range kept {
		if n := without[kept[i].Why]; kept[i].Why != "" && n > places {
			kept[i].Why += fmt.Sprintf(" (one of %d places)", n)
			without[kept[i].Why] = 0
		}
	}
	return kept
}
