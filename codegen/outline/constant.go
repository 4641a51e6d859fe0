package outline

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
)

// maxNesting bounds how deep types, expressions and names may refer to others.
const maxNesting = 100

// constant is a value with the overrides that it comes from, taken as their defaults.
type constant struct {
	value   int64
	assumed map[string]int64
}

// evaluator works out constant integers of module scope.
type evaluator struct {
	*reader
	named   map[string]*declaration
	known   map[string]constant
	busy    map[string]bool
	assumed map[string]int64 // overrides that were taken as their defaults
	missing map[string]bool  // names that are declared nowhere
	depth   int
	why     string // the first reason why a value can't be known
}

func (e *evaluator) fail(format string, args ...any) int64 {
	if e.why == "" {
		e.why = fmt.Sprintf(format, args...)
	}
	return 0
}

// integer works out an expression; why says what keeps it from being known.
func (e *evaluator) integer(s span) (value int64, why string) {
	before := e.why
	e.why = ""
	value, next := e.binary(s.first, s.end, 0)
	if next != s.end {
		e.fail("%s is no integer that can be worked out here", shorten(e.source(s)))
	}
	why = e.why
	e.why = before
	return value, why
}

// source is the text of tokens.
func (r *reader) source(s span) string {
	if s.empty() || s.end > len(r.tokens) {
		return "nothing"
	}
	return r.text[r.tokens[s.first].at:r.tokens[s.end-1].end]
}

// shorten makes one short line of a text.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return text
}

// operators from those that bind least.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

// operator returns the one of a level at token i, "" if there is none.
func (e *evaluator) operator(i, level int) string {
	for _, op := range levels[level] {
		if !e.sign(i, op[0]) {
			continue
		}
		double := e.sign(i+1, op[0]) && e.tokens[i+1].at == e.tokens[i].end
		if double == (len(op) == 2) {
			return op
		}
	}
	return ""
}

func (e *evaluator) binary(i, end, level int) (int64, int) {
	if level == len(levels) {
		return e.unary(i, end)
	}
	x, i := e.binary(i, end, level+1)
	for i < end && e.why == "" {
		op := e.operator(i, level)
		if op == "" {
			break
		}
		var y int64
		y, i = e.binary(i+len(op), end, level+1)
		x = e.apply(op, x, y)
	}
	return x, i
}

func (e *evaluator) apply(op string, x, y int64) int64 {
	switch op {
	case "|":
		return x | y
	case "^":
		return x ^ y
	case "&":
		return x & y
	case "+":
		return e.bounded(float64(x)+float64(y), x+y)
	case "-":
		return e.bounded(float64(x)-float64(y), x-y)
	case "*":
		return e.bounded(float64(x)*float64(y), x*y)
	case ">>", "<<":
		if y < 0 || y > 63 {
			return e.fail("a shift by %d", y)
		}
		if op == ">>" {
			return x >> y
		}
		return e.bounded(math.Ldexp(float64(x), int(y)), x<<y)
	}
	if y == 0 {
		return e.fail("a division by 0")
	}
	if op == "/" {
		return x / y
	}
	return x % y
}

// bounded fails for what is too large for anything that is measured here; exact is right when it is not.
func (e *evaluator) bounded(about float64, exact int64) int64 {
	if math.Abs(about) > 1<<50 {
		return e.fail("a number beyond 2^50")
	}
	return exact
}

func (e *evaluator) unary(i, end int) (int64, int) {
	if e.depth++; e.depth > maxNesting {
		e.depth--
		return e.fail("an expression nested more than %d deep", maxNesting), end
	}
	defer func() { e.depth-- }()
	switch {
	case i >= end:
		return e.fail("a number is missing"), end
	case e.sign(i, '-'):
		x, next := e.unary(i+1, end)
		return -x, next
	case e.sign(i, '~'):
		x, next := e.unary(i+1, end)
		return ^x, next
	case e.closing(i, '(') > 0 && e.closing(i, '(') < end:
		closing := e.closing(i, '(')
		x, next := e.binary(i+1, closing, 0)
		if next != closing {
			e.fail("%s is no integer that can be worked out here", shorten(e.source(span{i, closing + 1})))
		}
		return x, closing + 1
	case e.tokens[i].kind == numberToken:
		return e.number(e.at(i)), i + 1
	case !e.name(i):
		return e.fail("%s is no integer that can be worked out here", shorten(e.source(span{i, end}))), end
	case e.closing(i+1, '(') > 0 && e.closing(i+1, '(') < end:
		return e.call(i), e.closing(i+1, '(') + 1
	}
	return e.value(e.at(i)), i + 1
}

func (e *evaluator) number(text string) int64 {
	digits := text
	if hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X"); !hex || !strings.ContainsAny(text, "pP.") {
		digits = strings.TrimRight(text, "iu")
	}
	n, err := strconv.ParseInt(digits, 0, 64)
	if err != nil || n > 1<<50 {
		return e.fail("%s is no integer that can be worked out here", shorten(text))
	}
	return n
}

// call works out the built-in functions that sizes are written with.
func (e *evaluator) call(i int) int64 {
	name, closing := e.at(i), int(e.tokens[i+1].match)
	var args []int64
	for i += 2; i < closing && e.why == ""; {
		x, next := e.binary(i, closing, 0)
		args = append(args, x)
		if next < closing && !e.sign(next, ',') {
			e.fail("%s is no integer that can be worked out here", shorten(e.source(span{i, closing})))
		}
		i = next + 1
	}
	switch {
	case e.why != "":
	case len(args) == 1 && (name == "u32" || name == "i32"):
		return args[0]
	case len(args) == 1 && name == "abs":
		return max(args[0], -args[0])
	case len(args) == 2 && name == "min":
		return min(args[0], args[1])
	case len(args) == 2 && name == "max":
		return max(args[0], args[1])
	}
	return e.fail("%s(...) is no integer that can be worked out here", name)
}

// value is that of a constant, or the default of an override.
func (e *evaluator) value(name string) int64 {
	d := e.named[name]
	known, ok := e.known[name]
	switch {
	case ok:
		maps.Copy(e.assumed, known.assumed)
		return known.value
	case d == nil:
		e.missing[name] = true
		return e.fail("%s is no constant of this text", shorten(name))
	case d.keyword != "const" && d.keyword != "override":
		return e.fail("%s is no constant of this text", shorten(name))
	case d.init.empty():
		return e.fail("the override %s has no default", name)
	case e.busy[name]:
		return e.fail("%s is declared by means of itself", name)
	case len(e.busy) > maxNesting:
		return e.fail("more than %d constants refer to each other", maxNesting)
	}
	outer := e.assumed
	e.assumed = map[string]int64{}
	e.busy[name] = true
	v, next := e.binary(d.init.first, d.init.end, 0)
	delete(e.busy, name)
	if next != d.init.end {
		e.fail("%s = %s is no integer that can be worked out here", name, shorten(e.source(d.init)))
	}
	if d.keyword == "override" {
		e.assumed[name] = v
	}
	if e.why == "" {
		e.known[name] = constant{v, e.assumed}
	}
	maps.Copy(outer, e.assumed)
	e.assumed = outer
	return v
}
