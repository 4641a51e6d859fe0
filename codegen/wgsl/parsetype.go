package wgsl

import (
	"strconv"
	"strings"
)

// shorthands are the predeclared names of vector types.
var shorthands = map[string]Type{
	"vec2f": Vector{F32, 2}, "vec3f": Vector{F32, 3}, "vec4f": Vector{F32, 4},
	"vec2u": Vector{U32, 2}, "vec3u": Vector{U32, 3}, "vec4u": Vector{U32, 4},
	"vec2i": Vector{I32, 2}, "vec3i": Vector{I32, 3}, "vec4i": Vector{I32, 4},
	"vec2h": Vector{F16, 2}, "vec3h": Vector{F16, 3}, "vec4h": Vector{F16, 4},
	"bool": Bool, "i32": I32, "u32": U32, "f32": F32, "f16": F16,
}

// typeName reports whether a name begins a type.
func typeName(name string) bool {
	return shorthands[name] != nil || vectorWidth(name) > 0 || name == "array" || name == "atomic"
}

func vectorWidth(name string) int {
	if len(name) == 4 && strings.HasPrefix(name, "vec") && name[3] >= '2' && name[3] <= '4' {
		return int(name[3] - '0')
	}
	return 0
}

// writtenType keeps the reader's vec4f; types with templates print in one form.
func writtenType(name string, t Type) string {
	if shorthands[name] != nil {
		return name
	}
	return t.String()
}

// ParseType parses a type.
func ParseType(text string, pos Pos) (Type, error) {
	p := newParser(text, pos)
	t := p.typ()
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return t, nil
}

func (p *parser) typ() Type {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.peek(), "the type is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	t := p.name("a type")
	if s := shorthands[t.text]; s != nil {
		if p.noF16 && component(s) == F16 {
			p.fail(t, "%s needs the line enable f16;", t.text)
		}
		return s
	}
	if p.types != nil && p.err == nil {
		if named := p.types(t.text); named != nil {
			return named
		}
	}
	w := vectorWidth(t.text)
	switch {
	case t.text == "ptr" && p.types != nil:
		return p.pointer()
	case outside(t.text) != "":
		p.outside(t, "%s: %s are", t.text, outside(t.text))
		return Bad
	case t.text == "ptr":
		p.fail(t, "pointers can't be passed or stored: naga refuses most of them; pass values or indices")
		return Bad
	case w == 0 && t.text != "array" && t.text != "atomic":
		p.fail(t, "%s is not a type", describe(t))
		return Bad
	}
	p.expect("<")
	inner := p.peek()
	elem := p.typ()
	made := Type(Bad)
	s, scalar := elem.(Scalar)
	switch {
	case p.err != nil:
	case t.text == "array":
		n, size := p.arrayLength()
		made = Array{elem, n, size}
		if p.types != nil && p.err == nil {
			p.element(inner, elem, n)
		} else if SizeOf(elem) == 0 {
			p.fail(inner, "an array can't have elements of type %s", elem)
		}
	case t.text == "atomic" && scalar && (s == U32 || s == I32):
		made = Atomic{s}
	case w > 0 && scalar:
		made = Vector{s, w}
	default:
		p.fail(inner, "%s can't be made of %s", t.text, elem)
	}
	p.closeTemplate()
	return made
}

// arrayLength parses the rest of array<T, n. It is 0 without a length, which makes the array runtime-sized.
func (p *parser) arrayLength() (int, Expr) {
	if !p.accept(",") {
		return 0, nil
	}
	if p.length != nil {
		return p.length()
	}
	t := p.take()
	n, err := strconv.ParseInt(strings.TrimRight(t.text, "ui"), 0, 32)
	if t.kind != numberToken || err != nil || n < 1 {
		p.fail(t, "the length of an array must be a literal from 1 to %d", 1<<31-1)
	}
	return int(n), nil
}

// closeTemplate takes the > that ends a template list, also where the lexer saw two of them, or one with =, as one token.
func (p *parser) closeTemplate() {
	if p.types != nil {
		p.accept(",")
	}
	t := &p.tokens[p.next]
	if t.kind == opToken && len(t.text) == 2 && t.text[0] == '>' {
		t.text, t.at = t.text[1:], t.at+1
		return
	}
	p.expect(">")
}
