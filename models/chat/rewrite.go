package chat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ardanlabs/jinja"
)

// Names that rewriting puts into templates. Templates may not use names that begin with "__": the engine keeps its
// own functions there too.
const (
	guardStep   = "__kgen_step"   // a loop turn: source bytes, text bytes
	guardEnter  = "__kgen_enter"  // a macro begins: likewise
	guardLeave  = "__kgen_leave"  // a macro ends
	guardPrint  = "__kgen_print"  // a value is printed
	guardKeep   = "__kgen_keep"   // a value is stored
	guardPass   = "__kgen_pass"   // values go into a loop, a macro or the body of a call
	guardTest   = "__kgen_test"   // the condition of a loop, tested for each element
	guardResult = "__kgen_result" // filter: what another filter gave
	guardStored = "__kgen_stored" // a container got a value
	guardNumber = "__kgen_number" // filter: the left side of "*"
	guardBound  = "__kgen_bound"  // filter: the bound of a slice
	temporary   = "__kgen_text"   // the body of a filter block, the text of a call block
	discarded   = "__kgen_void"   // the result of do
)

// ownFilters replace filters of the engine; ownMethods are string methods that become filters.
var (
	ownFilters = map[string]string{
		"tojson": "__kgen_tojson", "replace": "__kgen_replace", "join": "__kgen_join", "indent": "__kgen_indent",
		"list": "__kgen_list", "unique": "__kgen_unique", "string": "__kgen_string", "map": "__kgen_map", "trim": "__kgen_trim",
		"e": "__kgen_escape", "escape": "__kgen_escape",
	}
	ownMethods = map[string]string{"replace": "__kgen_replace", "split": "__kgen_split", "format": "__kgen_format"}
)

// mutators are the methods that put a value into a container.
var mutators = []string{"append", "insert", "update"}

// rewriter turns segments into a template for the engine: text as literals, guards added.
type rewriter struct {
	out    []string
	bodies []body // open for and macro blocks
	blocks []string
	macros macroGraph
	count  int // filter and call blocks that are open
}

// body is an open loop or macro. Its guard is written when its end is reached.
type body struct {
	keyword string
	guard   int    // place in out
	names   string // parameters of a macro, each behind a comma
	source  int    // bytes within
	text    int    // bytes of plain text within, without inner bodies
}

// rewrite returns the guarded template.
func rewrite(segments []segment) (string, *Error) {
	r := &rewriter{macros: newMacroGraph()}
	for _, s := range segments {
		if err := r.segment(s); err != nil {
			return "", err
		}
	}
	if n := len(r.blocks); n > 0 {
		return "", errorf(ClassSyntax, 0, "%s is not closed", strings.Fields(r.blocks[n-1])[0])
	}
	if name, line := r.macros.ring(); name != "" {
		return "", errorf(ClassRecursion, line, "macro %s calls itself", name)
	}
	return strings.Join(r.out, ""), nil
}

func (r *rewriter) emit(format string, args ...any) {
	r.out = append(r.out, fmt.Sprintf(format, args...))
}

func (r *rewriter) segment(s segment) *Error {
	for i := range r.bodies {
		r.bodies[i].source += len(s.text)
	}
	if s.kind == textSegment {
		if n := len(r.bodies); n > 0 {
			r.bodies[n-1].text += len(s.text)
		}
		r.emit("{{ %s }}", quote(s.text))
		return nil
	}
	tokens, err := lex(s.text, s.line)
	if err != nil {
		return err
	}
	if err := checkTag(tokens, s.line); err != nil {
		return err
	}
	r.macros.use(tokens)
	if s.kind == outputSegment {
		if len(tokens) == 0 {
			return errorf(ClassSyntax, s.line, "an expression is missing")
		}
		return r.printed(tokens, s.line)
	}
	if len(tokens) == 0 || tokens[0].kind != nameToken {
		return errorf(ClassSyntax, s.line, "a tag without a statement")
	}
	return r.statement(tokens[0].text, tokens[1:], s.line)
}

// checkTag refuses what no tag may hold.
func checkTag(tokens []token, line int) *Error {
	if len(tokens) > maxTagTokens {
		return errorf(ClassTooLarge, line, "a tag of more than %d tokens", maxTagTokens)
	}
	joins := 0
	for _, t := range tokens {
		if t.kind == nameToken && strings.HasPrefix(t.text, "__") {
			return errorf(ClassUnsupported, line, "the name %s", t.text)
		}
		if t.is("~") || t.is("+") {
			joins++
		}
	}
	if joins > maxJoins {
		return errorf(ClassTooLarge, line, "more than %d joins in one tag", maxJoins)
	}
	return nil
}

func (r *rewriter) statement(keyword string, rest []token, line int) *Error {
	if closes, ok := strings.CutPrefix(keyword, "end"); ok {
		return r.end(closes, line)
	}
	switch keyword {
	case "if", "elif", "for", "macro", "call":
		e, err := expression(rest, line)
		if keyword == "for" {
			e, err = loop(rest, line)
		}
		if err != nil {
			return err
		}
		block := keyword
		if keyword == "elif" {
			block = "if"
		}
		if err := try(fmt.Sprintf("{%% %s %s %%}{%% end%s %%}", block, e, block), line); err != nil {
			return err
		}
		if keyword != "elif" {
			if err := r.open(keyword, line); err != nil {
				return err
			}
		}
		if keyword == "call" {
			// What is called prints past the guards, so its text is taken and printed by them.
			r.count++
			r.emit("{%% set %s%d %%}", temporary, r.count)
		}
		r.emit("{%% %s %s %%}", keyword, e)
		switch keyword {
		case "for":
			r.body("for", "")
		case "call":
			if names := parameters(rest); names != "" {
				r.emit("{{ %s(none%s) }}", guardPass, names)
			}
		case "macro":
			if len(rest) == 0 || rest[0].kind != nameToken {
				return errorf(ClassSyntax, line, "a macro without a name")
			}
			if r.macros.count == maxMacros {
				return errorf(ClassTooLarge, line, "more than %d macros", maxMacros)
			}
			r.macros.open(rest[0].text, line)
			r.body("macro", parameters(rest[1:]))
		}
		return nil
	case "else", "break", "continue", "generation":
		if keyword == "generation" {
			if err := r.open(keyword, line); err != nil {
				return err
			}
		}
		r.emit("{%% %s %%}", keyword)
		return nil
	case "set":
		return r.set(rest, line)
	case "do":
		return r.stored(rest, line, "{%% set "+discarded+" = %s %%}", "")
	case "filter":
		if err := r.open("filter "+source(rest), line); err != nil {
			return err
		}
		r.count++
		r.emit("{%% set %s%d %%}", temporary, r.count)
		return nil
	}
	return errorf(ClassUnsupported, line, "the statement %q", keyword)
}

// loop rewrites "x in items if condition": the items are guarded as a whole, the condition for each of them.
func loop(tokens []token, line int) (string, *Error) {
	in := keywordAt(tokens, 0, "in")
	if in < 0 {
		return "", errorf(ClassSyntax, line, "a loop without in")
	}
	recursive := keywordAt(tokens, in, "recursive")
	if recursive >= 0 {
		return "", errorf(ClassUnsupported, line, "a recursive loop")
	}
	end := len(tokens)
	condition := ""
	if at := keywordAt(tokens, in, "if"); at >= 0 {
		e, err := expression(ofPair(tokens[:in], tokens[at+1:]), line)
		if err != nil {
			return "", err
		}
		condition, end = fmt.Sprintf(" if %s(%s)", guardTest, e), at
	}
	items, err := expression(tokens[in+1:end], line)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s in %s(%s)%s", source(tokens[:in]), guardPass, items, condition), nil
}

// ofPair rewrites the condition of a loop over pairs, "k, v". There the engine knows no k, and calls the pair v.
func ofPair(targets, condition []token) []token {
	if len(targets) != 3 || !targets[1].is(",") {
		return condition
	}
	var out []token
	for i, t := range condition {
		attribute := i > 0 && condition[i-1].is(".")
		argument := i+1 < len(condition) && condition[i+1].is("=")
		for n, target := range []token{targets[0], targets[2]} {
			if t == target && !attribute && !argument {
				t.kind, t.text = operatorToken, fmt.Sprintf("%s[%d]", targets[2].text, n)
				break
			}
		}
		out = append(out, t)
	}
	return out
}

// keywordAt finds a word outside of brackets, -1 if there is none.
func keywordAt(tokens []token, from int, word string) int {
	depth := 0
	for i := from; i < len(tokens); i++ {
		switch t := tokens[i]; {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			depth--
		case depth == 0 && t.kind == nameToken && t.text == word && !(i > 0 && tokens[i-1].is(".")):
			return i
		}
	}
	return -1
}

// parameters lists the names in "(a, b=1)", each behind a comma.
func parameters(tokens []token) (names string) {
	if len(tokens) == 0 || !tokens[0].is("(") {
		return ""
	}
	depth := 0
	for i, t := range tokens[:max(0, matching(tokens, 0))] {
		switch {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			depth--
		case depth == 1 && t.kind == nameToken && (tokens[i-1].is("(") || tokens[i-1].is(",")):
			names += ", " + t.text
		}
	}
	return names
}

// open notes a block that has an end.
func (r *rewriter) open(block string, line int) *Error {
	if len(r.blocks) == maxNesting {
		return errorf(ClassTooLarge, line, "more than %d blocks within each other", maxNesting)
	}
	r.blocks = append(r.blocks, block)
	return nil
}

// body begins the inside of a loop or macro.
func (r *rewriter) body(keyword, names string) {
	r.bodies = append(r.bodies, body{keyword: keyword, guard: len(r.out), names: names})
	r.out = append(r.out, "")
}

// end closes the innermost block.
func (r *rewriter) end(keyword string, line int) *Error {
	n := len(r.blocks)
	if n == 0 || strings.Fields(r.blocks[n-1])[0] != keyword {
		return errorf(ClassSyntax, line, "end%s has no %s to end", keyword, keyword)
	}
	block := r.blocks[n-1]
	r.blocks = r.blocks[:n-1]
	switch keyword {
	case "for", "macro":
		b := r.bodies[len(r.bodies)-1]
		r.bodies = r.bodies[:len(r.bodies)-1]
		guard := guardStep
		if keyword == "macro" {
			guard = guardEnter
			r.macros.close()
			r.emit("{{ %s() }}", guardLeave)
		}
		r.out[b.guard] = fmt.Sprintf("{{ %s(%d, %d%s) }}", guard, b.source, b.text, b.names)
	case "call":
		r.emit("{%% endcall %%}{%% endset %%}{{ %s(%s%d) }}", guardPrint, temporary, r.count)
		r.count--
		return nil
	case "filter":
		tokens, err := lex(strings.TrimPrefix(block, "filter"), line)
		if err != nil {
			return err
		}
		r.emit("{%% endset %%}")
		name := temporary + strconv.Itoa(r.count)
		r.count--
		return r.printed(slices.Concat([]token{{nameToken, name}, {operatorToken, "|"}}, tokens), line)
	}
	r.emit("{%% end%s %%}", keyword)
	return nil
}

// set rewrites an assignment, or opens one whose value is a block.
func (r *rewriter) set(tokens []token, line int) *Error {
	equals := slices.IndexFunc(tokens, func(t token) bool { return t.is("=") })
	if equals < 0 {
		if len(tokens) != 1 {
			return errorf(ClassUnsupported, line, "assignment to %q", source(tokens))
		}
		if err := r.open("set", line); err != nil {
			return err
		}
		r.emit("{%% set %s %%}", source(tokens))
		return nil
	}
	target := tokens[:equals]
	if len(target) != 1 && (len(target) != 3 || !target[1].is(".")) || target[0].kind != nameToken {
		return errorf(ClassUnsupported, line, "assignment to %q", source(target))
	}
	owner, name := "", target[0].text
	if len(target) == 3 {
		owner, name = target[0].text, target[0].text+"."+target[2].text
	}
	return r.stored(tokens[equals+1:], line, "{%% set "+name+" = %s %%}", owner)
}

// printed emits an output.
func (r *rewriter) printed(tokens []token, line int) *Error {
	if mutated(tokens) != nil {
		return r.stored(tokens, line, "{{ %s }}", "")
	}
	e, err := expression(tokens, line)
	if err != nil {
		return err
	}
	if err := try("{{ "+e+" }}", line); err != nil {
		return err
	}
	r.emit("{{ %s(%s) }}", guardPrint, e)
	return nil
}

// try compiles a tag alone, without guards: they would hide mistakes, and the engine's line would be a wrong one.
func try(tag string, line int) *Error {
	if _, err := jinja.Compile(tag); err != nil {
		e := asError(err, ClassSyntax)
		e.Line = line
		return e
	}
	return nil
}

// stored emits a statement whose expression's value is kept; owner is the namespace that it goes into.
func (r *rewriter) stored(tokens []token, line int, format, owner string) *Error {
	if container := mutated(tokens); container != nil {
		inside, err := expression(tokens[len(container)+2:], line)
		if err != nil {
			return err
		}
		if err := try("{{ f "+inside+" }}", line); err != nil {
			return err
		}
		c := source(container)
		call := c + " . " + tokens[len(container)+1].text + " " + inside
		r.emit(format, fmt.Sprintf("%s(%s, %s)", guardStored, call, c))
		return nil
	}
	e, err := expression(tokens, line)
	if err != nil {
		return err
	}
	if err := try("{{ "+e+" }}", line); err != nil {
		return err
	}
	if owner != "" {
		e += ", " + owner
	}
	r.emit(format, guardKeep+"("+e+")")
	return nil
}

// mutated recognises name.name.append(...), alone in its tag, and returns the tokens before ".append".
func mutated(tokens []token) []token {
	for i := 0; i+2 < len(tokens) && tokens[i].kind == nameToken && tokens[i+1].is("."); i += 2 {
		if slices.Contains(mutators, tokens[i+2].text) {
			if open := i + 3; open < len(tokens) && tokens[open].is("(") && matching(tokens, open) == len(tokens)-1 {
				return tokens[:i+1]
			}
			return nil
		}
	}
	return nil
}

// matching finds the bracket that closes the one at open, -1 if there is none.
func matching(tokens []token, open int) int {
	depth := 0
	for i := open; i < len(tokens); i++ {
		switch {
		case tokens[i].is("("), tokens[i].is("["), tokens[i].is("{"):
			depth++
		case tokens[i].is(")"), tokens[i].is("]"), tokens[i].is("}"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// source writes tokens as the engine reads them.
func source(tokens []token) string {
	parts := make([]string, len(tokens))
	for i, t := range tokens {
		parts[i] = t.source()
	}
	return strings.Join(parts, " ")
}
