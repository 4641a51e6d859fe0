package mutate

import (
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Site is a place at which an operator makes a mistake. Sites of a text are equal when they are the same.
type Site struct {
	Operator    string
	Pos         wgsl.Pos // in the text
	Description string   // what becomes of what
}

func (s Site) String() string { return s.Pos.String() + ": " + s.Operator + ": " + s.Description }

// SiteError says that a text has no such site.
type SiteError struct{ Site Site }

func (e *SiteError) Error() string { return "no such site: " + e.Site.String() }

// Sites returns the sites of a parsed file, by operator and then in the order of the text. The file is as before afterwards; nobody
// may read it meanwhile.
func Sites(file *wgsl.File) []Site {
	var sites []Site
	seen := map[string]bool{wgsl.Print(file): true}
	for _, o := range Operators() {
		for _, c := range o.candidates(file) {
			text := c.text(file)
			if !seen[text] && valid(text) {
				sites = append(sites, c.site)
			}
			seen[text] = true
		}
	}
	return sites
}

// Apply returns the text with the mistake of one of its sites, as wgsl.Print prints it. Errors are those of wgsl.Parse, and
// *SiteError where Sites gives no such site.
func Apply(text string, site Site) (string, error) {
	file, err := wgsl.Parse(site.Pos.File, text)
	if err != nil {
		return "", err
	}
	for _, o := range Operators() {
		if o.Name != site.Operator {
			continue
		}
		for _, c := range o.candidates(file) {
			if c.site != site {
				continue
			}
			if mutated := c.text(file); valid(mutated) {
				return mutated, nil
			}
		}
	}
	return "", &SiteError{site}
}

// candidate is a change of a file that may turn out to break the rules of WGSL.
type candidate struct {
	site     Site
	do, undo func()
}

// text returns the changed text. The file is as before afterwards.
func (c candidate) text(file *wgsl.File) string {
	c.do()
	text := wgsl.Print(file)
	c.undo()
	return text
}

// valid reports whether a text keeps the rules of WGSL.
func valid(text string) bool {
	_, err := wgsl.Parse("", text)
	return err == nil
}

// Operator is one kind of mistake.
type Operator struct {
	Name  string
	About string // the mistake in words

	expr func(p place) []wgsl.Expr      // what may stand in a place; nil where the operator changes no expression
	stmt func(s spot) (wgsl.Stmt, bool) // what may stand in a spot, nil for nothing; nil where it changes no statement
}

// Operators returns all operators: those of one sort of mistake by name, then the general ones, so that a text that several can make
// counts for what it is.
func Operators() []Operator {
	return []Operator{
		{"barrier", "a barrier dropped", nil, barrier},
		{"bound", "< for <=, a bound or clamp off by one", bound, nil},
		{"conversion", "signed for unsigned bytes, another rounding, abs lost", conversion, nil},
		{"extreme", "min for max", extreme, nil},
		{"guard", "a guard or clamp lost", guard, nil},
		{"lane", "the neighbouring element, component or lane", lane, nil},
		{"logic", "== for !=, && for ||, ! lost", logic, nil},
		{"mask", "the mask of bits lost, or the choice of a masked value", mask, nil},
		{"nibble", "the high nibble for the low one", nibble, nil},
		{"operands", "operands of - / % < or fma, or branches of select, the wrong way round", operands, nil},
		{"reduction", "a partial sum left out, a tree's step too short, another operation of subgroups", reduction, replacedSum},
		{"scale", "the other of two scales, or of scale and offset", scale, nil},
		{"stride", "a factor or step of an index off by one", stride, nil},
		{"tail", "what a guard guards, or the last statement of a block, dropped", tail, lastStatement},
		{"zero", "an accumulator that starts at another value", zero, nil},
		{"arithmetic", "+ for -, * for +, / for *, a sign lost", arithmetic, subtracted},
		{"binding", "another variable of the same type", binding, nil},
		{"constant", "another number", constant, nil},
		{"statement", "an assignment or call dropped", nil, statement},
	}
}

// candidates returns what an operator may change, in the order of the text.
func (o Operator) candidates(file *wgsl.File) []candidate {
	var list []candidate
	add := func(pos wgsl.Pos, description string, do, undo func()) {
		list = append(list, candidate{Site{o.Name, pos, description}, do, undo})
	}
	walk(file, func(p place) {
		if o.expr == nil {
			return
		}
		old := *p.slot
		for _, to := range o.expr(p) {
			add(old.Expression().Pos, wgsl.FormatExpr(old)+" becomes "+wgsl.FormatExpr(to), func() { *p.slot = to }, func() { *p.slot = old })
		}
	}, func(s spot) {
		if o.stmt == nil {
			return
		}
		if to, ok := o.stmt(s); ok {
			add(s.stmt().Position(), change(s.stmt(), to), func() { s.put(to) }, s.restore())
		}
	})
	return list
}

// change describes the replacement of a statement.
func change(old, to wgsl.Stmt) string {
	if to == nil {
		return format(old) + " dropped"
	}
	return format(old) + " becomes " + format(to)
}

// format prints an assignment or call.
func format(s wgsl.Stmt) string {
	switch s := s.(type) {
	case *wgsl.Assign:
		return wgsl.FormatExpr(s.To) + " " + s.Op + "= " + wgsl.FormatExpr(s.Value)
	case *wgsl.CallStmt:
		return wgsl.FormatExpr(s.Call)
	}
	return "statement"
}
