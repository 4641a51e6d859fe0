package chat

import (
	"strings"

	"github.com/ardanlabs/jinja"
)

// pythonString prints a value as Python's str does, for output and the string filter; undefined prints nothing.
func pythonString(v jinja.Value) string {
	switch {
	case v.IsString():
		return v.AsString()
	case v.IsUndefined(), v.IsCallable():
		return ""
	}
	var b strings.Builder
	appendRepr(&b, v)
	return b.String()
}

// appendRepr prints a value as Python's repr does.
func appendRepr(b *strings.Builder, v jinja.Value) {
	switch {
	case v.IsString():
		appendStringRepr(b, v.AsString())
	case v.IsFloat():
		b.WriteString(pythonFloat(v.AsFloat()))
	case v.IsList():
		b.WriteByte('[')
		for i, item := range v.AsList().Items {
			if i > 0 {
				b.WriteString(", ")
			}
			appendRepr(b, item)
		}
		b.WriteByte(']')
	case v.IsDict():
		b.WriteByte('{')
		for i, key := range v.AsDict().Keys {
			if i > 0 {
				b.WriteString(", ")
			}
			appendStringRepr(b, key)
			b.WriteString(": ")
			appendRepr(b, v.AsDict().Data[key])
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.String()) // None, True, 42, Undefined
	}
}

// appendStringRepr quotes with ' unless that alone occurs inside, as Python does.
func appendStringRepr(b *strings.Builder, s string) {
	mark := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = `"`
	}
	b.WriteString(mark)
	b.WriteString(strings.NewReplacer(`\`, `\\`, mark, `\`+mark, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s))
	b.WriteString(mark)
}

// print lets a value pass that is printed, as a string.
func (r *run) print(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	v, err := r.keep(args, kwargs)
	if err != nil {
		return jinja.None(), err
	}
	return r.sized(pythonString(v))
}

// stringFilter is the filter string.
func (r *run) stringFilter(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	if _, err := r.measure(args[0], nil, 0); err != nil {
		return jinja.None(), err
	}
	return r.sized(pythonString(args[0]))
}

// trim is trim(chars), which prints its value first as Python does.
func (r *run) trim(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	s, err := r.stringFilter(args[:1], nil)
	if err != nil {
		return jinja.None(), err
	}
	if chars, ok := argument(args, kwargs, 1, "chars"); ok && chars.IsString() {
		return jinja.NewString(strings.Trim(s.AsString(), chars.AsString())), nil
	}
	return jinja.NewString(strings.TrimSpace(s.AsString())), nil
}
