package outline

import "strings"

// Piece is a part of a string that is a text of its own.
type Piece struct{ Start, End int }

// Split finds the texts with a compute entry point in a string that holds other things too: strings of a program lie side by side
// without anything between them, lengths and names stand before and after. A text is a row of declarations; it ends where none
// follows, and where a directive, or the second declaration of a name, shows that another one has begun.
func Split(s string) []Piece {
	r := newReader(s)
	var pieces []Piece
	clean := 0 // where the string begins, or the last piece ends, if no token stands between
	for i := 0; i < len(r.tokens); {
		if !r.mayBegin(i) {
			clean = -1
			if !r.unglue(i) {
				i++
			}
			continue
		}
		row, next := r.row(i)
		junk := false // stands behind the row
		if n := len(row); n > 0 && next > row[n-1].end {
			junk = true
			if r.unglue(row[n-1].end) {
				next = row[n-1].end
			}
		}
		entry := false
		for _, d := range row {
			entry = entry || d.stage() == "compute" && d.attribute("workgroup_size") != nil
		}
		if len(row) == 0 || !entry {
			i, clean = next, -1
			continue
		}
		start := int(r.tokens[i].at)
		if clean >= 0 {
			start = clean // comments before the first declaration are the text's
		}
		last := row[len(row)-1].end
		end := int(r.tokens[last-1].end)
		pieces = append(pieces, Piece{start, end})
		i, clean = next, end
		if junk {
			clean = -1
		}
	}
	if n := len(pieces); n > 0 && clean >= 0 {
		pieces[n-1].End = len(s)
	}
	return pieces
}

func (r *reader) mayBegin(i int) bool {
	return r.sign(i, '@') || r.tokens[i].kind == preprocessorToken || r.name(i) && begins[r.at(i)]
}

// openings are the words that texts without a comment or an attribute in front begin with, each with the sign that follows its name.
var openings = []struct{ word, after string }{
	{"struct", "{"}, {"const", ":="}, {"override", ":="}, {"alias", "="}, {"enable", ";,"}, {"requires", ";,"},
}

// unglue tells whether token i is the end of another string and the first word of a text, such as in "99struct Params {", and leaves the
// word alone in it: linkers lay the strings of a program side by side.
func (r *reader) unglue(i int) bool {
	t := &r.tokens[i]
	if t.kind != nameToken && t.kind != numberToken || i+2 >= len(r.tokens) || !r.name(i+1) || r.tokens[i+1].at == t.end {
		return false
	}
	for _, o := range openings {
		if strings.HasSuffix(r.at(i), o.word) && strings.Contains(o.after, r.at(i+2)) {
			t.at, t.kind = t.end-int32(len(o.word)), nameToken
			return true
		}
	}
	return false
}

// row reads declarations that follow each other and belong to one text. It returns where the next row may start.
func (r *reader) row(i int) ([]*declaration, int) {
	var row []*declaration
	names, places := map[string]bool{}, map[string]bool{}
	entry, declared, template := false, false, false
	next := i
	for i < len(r.tokens) {
		d, after := r.declaration(i)
		switch {
		case d == nil && r.sign(i, ';') && len(row) > 0:
			i++
			continue
		case d == nil:
			return row, max(after, i)
		}
		template = template || d.keyword == "#" || d.keyword == "{{"
		directive := d.keyword == "enable" || d.keyword == "requires" || d.keyword == "diagnostic"
		name, place := "", ""
		if d.name >= 0 {
			name = r.at(d.name)
		}
		if b, g := d.attribute("binding"), d.attribute("group"); b != nil && g != nil {
			place = r.source(g.args) + "," + r.source(b.args)
		}
		if directive && declared || !template && (names[name] || entry && places[place]) {
			return r.cut(row, i, directive)
		}
		if name != "" {
			names[name] = true
		}
		if place != "" {
			places[place] = true
		}
		entry = entry || d.stage() != ""
		declared = declared || !directive && d.keyword != "#"
		row = append(row, d)
		i, next = after, after
	}
	return row, max(next, i)
}

// cut ends a row before the declaration at token i, which begins another text. What stands between its last function and that one
// belongs to the other text.
func (r *reader) cut(row []*declaration, i int, directive bool) ([]*declaration, int) {
	if directive {
		return row, i
	}
	for n := len(row); n > 0; n-- {
		if row[n-1].keyword == "fn" {
			return row[:n], row[n-1].end
		}
	}
	return row, i
}
