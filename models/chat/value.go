package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/ardanlabs/jinja"
)

// Object is a dictionary whose keys keep their order, as tojson shows it.
type Object []Field

// Field is one entry of an Object. Values are nil, bool, int, int64, float64, json.Number, string, []any and Object.
type Field struct {
	Key   string
	Value any
}

// ParseJSON reads one JSON value with the order of keys kept: objects become Object, arrays []any, numbers
// json.Number. Of a repeated key the last value counts, at the first's place.
func ParseJSON(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := parseJSON(d, 0)
	if err != nil {
		return nil, &Error{Class: ClassMessage, Detail: "JSON: " + err.Error()}
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &Error{Class: ClassMessage, Detail: "JSON: text behind the value"}
	}
	return v, nil
}

func parseJSON(d *json.Decoder, depth int) (any, error) {
	if depth > maxDataDepth {
		return nil, errorf(ClassMessage, 0, "nested deeper than %d", maxDataDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseJSON(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	case json.Delim('{'):
		object := Object{}
		places := make(map[string]int)
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := parseJSON(d, depth+1)
			if err != nil {
				return nil, err
			}
			k := key.(string)
			if i, ok := places[k]; ok {
				object[i].Value = v
				continue
			}
			places[k] = len(object)
			object = append(object, Field{k, v})
		}
		_, err := d.Token()
		return object, err
	}
	return t, nil
}

// converter turns data into the engine's values and marks the untrusted strings on the way.
type converter struct {
	mark func(text string) string // nil: none
}

// value converts v. Short words, such as types and names, which templates compare, are left unmarked unless all is
// set.
func (c *converter) value(v any, all bool, depth int) (jinja.Value, *Error) {
	if depth > maxDataDepth {
		return jinja.Undefined(), errorf(ClassMessage, 0, "data nested deeper than %d", maxDataDepth)
	}
	switch v := v.(type) {
	case nil, bool, int, int64, float64, json.Number:
		return jinja.FromGoValue(v), nil
	case string:
		return jinja.NewString(c.text(v, all)), nil
	case []any:
		items := make([]jinja.Value, len(v))
		for i, item := range v {
			converted, err := c.value(item, false, depth+1)
			if err != nil {
				return jinja.Undefined(), err
			}
			items[i] = converted
		}
		return jinja.NewList(items), nil
	case Object:
		return c.object(v, depth)
	}
	return jinja.Undefined(), errorf(ClassMessage, 0, "a value of type %T; known: nil, bool, int, int64, float64, json.Number, string, []any, chat.Object", v)
}

func (c *converter) object(o Object, depth int) (jinja.Value, *Error) {
	out := jinja.NewDict()
	for _, f := range o {
		v, err := c.value(f.Value, false, depth+1)
		if err != nil {
			return jinja.Undefined(), err
		}
		out.AsDict().Set(c.text(f.Key, false), v)
	}
	return out, nil
}

// message converts one turn: role, content, then the further keys.
func (c *converter) message(m Message) (jinja.Value, *Error) {
	content, err := c.value(m.Content, true, 0)
	if err != nil {
		return jinja.Undefined(), err
	}
	fields, err := c.object(m.Fields, 0)
	if err != nil {
		return jinja.Undefined(), err
	}
	out := jinja.NewDict()
	out.AsDict().Set("role", jinja.NewString(m.Role))
	if !m.NoContent {
		out.AsDict().Set("content", content)
	}
	for _, key := range fields.AsDict().Keys {
		out.AsDict().Set(key, fields.AsDict().Data[key])
	}
	return out, nil
}

// valid replaces invalid bytes, which templates' strings cannot hold, by U+FFFD.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (c *converter) text(s string, all bool) string {
	s = valid(s)
	if c.mark == nil || !all && word(s) {
		return s
	}
	return c.mark(s)
}

// word tells strings of letters, digits, "_", "-" and ".", in which nothing can be spelled out.
func word(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r >= 0x80 || !isNameByte(byte(r)) && r != '-' && r != '.'
	}) < 0
}

// eachString calls f for every string in v, keys included.
func eachString(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, item := range v {
			eachString(item, f)
		}
	case Object:
		for _, field := range v {
			f(field.Key)
			eachString(field.Value, f)
		}
	}
}
