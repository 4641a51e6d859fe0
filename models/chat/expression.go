package chat

import (
	"slices"
	"strconv"
)

// expression rewrites the tokens of an expression, or of a statement behind its keyword: own filters in place of the
// engine's, results of filters, bounds of slices and products guarded. What could tie a container to itself is refused; the one form
// that may, an append alone in its tag, is split off before.
func expression(tokens []token, line int) (string, *Error) {
	var out []token
	filters := make(map[int]bool) // closing brackets of filters' arguments
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.is("|") && truthTest(tokens[i+1:]) > 0:
			n := truthTest(tokens[i+1:])
			out = append(append(out, t), withTest(tokens[i+1:i+1+n])...)
			out = append(out, result...)
			i += n
		case t.is("|") && i+1 < len(tokens):
			name := tokens[i+1]
			if own := ownFilters[name.text]; own != "" {
				name.text = own
			}
			out = append(out, t, name)
			i++
			if i+1 < len(tokens) && tokens[i+1].is("(") {
				filters[matching(tokens, i+1)] = true
			} else {
				out = append(out, result...)
			}
		case t.is(".") && i+1 < len(tokens) && slices.Contains(mutators, tokens[i+1].text):
			return "", errorf(ClassUnsupported, line, "%s inside an expression; it must be the whole of one", tokens[i+1].text)
		case t.is(".") && i+1 < len(tokens) && ownMethods[tokens[i+1].text] != "":
			if i+2 < len(tokens) && tokens[i+2].is("(") {
				out = append(out, token{operatorToken, "|"}, token{nameToken, ownMethods[tokens[i+1].text]})
				filters[matching(tokens, i+2)] = true
			} else {
				// Not called, it is a key. As an attribute it could be the engine's method, to be called elsewhere.
				out = append(out, token{operatorToken, "["}, token{stringToken, tokens[i+1].text}, token{operatorToken, "]"})
			}
			i++
		case t.is("*") && !shortRepeat(tokens, i):
			out = append(out, token{operatorToken, "|"}, token{nameToken, guardNumber}, t)
		case t.is("["):
			end := matching(tokens, i)
			if end < 0 {
				return "", errorf(ClassSyntax, line, "[ is not closed")
			}
			inside, err := brackets(tokens[i+1:end], line)
			if err != nil {
				return "", err
			}
			out = append(out, t)
			out = append(out, inside...)
			out = append(out, tokens[end])
			i = end
		default:
			out = append(out, t)
			if filters[i] {
				out = append(out, result...)
			}
		}
	}
	return source(out), nil
}

// result checks what a filter gave.
var result = []token{{operatorToken, "|"}, {nameToken, guardResult}, {operatorToken, "("}, {operatorToken, ")"}}

// shortRepeat recognises "-" * 20, a product of literals that may be a string.
func shortRepeat(tokens []token, i int) bool {
	if i == 0 || i+1 >= len(tokens) || tokens[i-1].kind != stringToken || tokens[i+1].kind != numberToken {
		return false
	}
	n, err := strconv.Atoi(tokens[i+1].text)
	return err == nil && n <= maxPadding && (i+2 == len(tokens) || !tokens[i+2].is("*"))
}

// brackets rewrites what stands between [ and ]: list elements, an index, or a slice, whose bounds are guarded.
func brackets(tokens []token, line int) ([]token, *Error) {
	var parts [][]token
	from, depth := 0, 0
	for i, t := range tokens {
		switch {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			depth--
		case t.is(":") && depth == 0:
			parts = append(parts, tokens[from:i])
			from = i + 1
		}
	}
	parts = append(parts, tokens[from:])
	var out []token
	for i, part := range parts {
		if i > 0 {
			out = append(out, token{operatorToken, ":"})
		}
		if len(part) == 0 {
			continue
		}
		e, err := expression(part, line)
		if err != nil {
			return nil, err
		}
		// The text of a rewritten expression travels on as one token.
		if len(parts) > 1 {
			e = "(" + e + ") | " + guardBound
		}
		out = append(out, token{operatorToken, e})
	}
	return out, nil
}

// truthTest measures a select or reject without a test, which keeps or drops what is true; 0 for other filters.
func truthTest(tokens []token) int {
	switch {
	case len(tokens) == 0:
		return 0
	case tokens[0].text == "select" || tokens[0].text == "reject":
		if len(tokens) == 1 || !tokens[1].is("(") {
			return 1
		}
	case tokens[0].text == "selectattr" || tokens[0].text == "rejectattr":
		if len(tokens) > 3 && tokens[1].is("(") && tokens[2].kind == stringToken && tokens[3].is(")") {
			return 4
		}
	}
	return 0
}

// withTest spells out the test, which the engine does not do without.
func withTest(filter []token) []token {
	open, comma, end := token{operatorToken, "("}, token{operatorToken, ","}, token{operatorToken, ")"}
	if len(filter) == 1 {
		return []token{filter[0], open, {stringToken, ""}, end}
	}
	return []token{filter[0], open, filter[2], comma, {stringToken, "truthy"}, end}
}
