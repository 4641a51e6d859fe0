package chat

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// tojson writes JSON as Python's json.dumps does, since that is what models were trained on: keys in order,
// ", " and ": " between, no escapes for HTML, and for characters outside ASCII only if asked. Its parameters are
// tojson(ensure_ascii, indent, separators, sort_keys), as in Hugging Face's renderer.
func (r *run) tojson(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	if _, err := r.measure(args[0], nil, 0); err != nil {
		return jinja.None(), err
	}
	w := jsonWriter{item: ", ", key: ": ", most: r.maxValue}
	if v, ok := argument(args, kwargs, 1, "ensure_ascii"); ok {
		w.ascii = v.IsTruthy()
	}
	if v, ok := argument(args, kwargs, 2, "indent"); ok && v.IsInt() {
		if v.AsInt() < 0 || v.AsInt() > maxPadding {
			return jinja.None(), limit("indent by %s", v)
		}
		w.indented, w.indent, w.item = true, int(v.AsInt()), ","
	}
	if v, ok := argument(args, kwargs, 3, "separators"); ok && v.IsList() && v.AsList().Len() == 2 {
		w.item, w.key = text(v.AsList().Get(0)), text(v.AsList().Get(1))
	}
	if v, ok := argument(args, kwargs, 4, "sort_keys"); ok && v.IsTruthy() {
		return jinja.None(), errorf(ClassUnsupported, 0, "tojson with sort_keys")
	}
	if err := w.value(args[0], 0); err != nil {
		return jinja.None(), err
	}
	return r.sized(w.b.String())
}

type jsonWriter struct {
	b         strings.Builder
	item, key string
	ascii     bool
	indented  bool
	indent    int // spaces per level
	most      int // bytes
}

func (w *jsonWriter) value(v jinja.Value, level int) error {
	if w.b.Len() > w.most {
		return limit("a value of more than %d bytes", w.most)
	}
	switch {
	case v.IsBool():
		w.b.WriteString(strconv.FormatBool(v.AsBool()))
	case v.IsInt():
		w.b.WriteString(strconv.FormatInt(v.AsInt(), 10))
	case v.IsFloat():
		w.b.WriteString(pythonFloat(v.AsFloat()))
	case v.IsString():
		w.string(v.AsString())
	case v.IsList():
		w.b.WriteByte('[')
		for i, item := range v.AsList().Items {
			w.between(i, level+1)
			if err := w.value(item, level+1); err != nil {
				return err
			}
		}
		w.close(']', v.AsList().Len(), level)
	case v.IsDict():
		w.b.WriteByte('{')
		for i, key := range v.AsDict().Keys {
			w.between(i, level+1)
			w.string(key)
			w.b.WriteString(w.key)
			if err := w.value(v.AsDict().Data[key], level+1); err != nil {
				return err
			}
		}
		w.close('}', v.AsDict().Len(), level)
	default:
		w.b.WriteString("null")
	}
	return nil
}

// between separates element i from the one before it.
func (w *jsonWriter) between(i, level int) {
	if i > 0 {
		w.b.WriteString(w.item)
	}
	w.newline(level)
}

func (w *jsonWriter) close(bracket byte, elements, level int) {
	if elements > 0 {
		w.newline(level)
	}
	w.b.WriteByte(bracket)
}

func (w *jsonWriter) newline(level int) {
	if w.indented {
		w.b.WriteByte('\n')
		w.b.WriteString(strings.Repeat(" ", level*w.indent))
	}
}

func (w *jsonWriter) string(s string) {
	const hex = "0123456789abcdef"
	escape := func(r rune) {
		w.b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			w.b.WriteByte(hex[r>>shift&0xF])
		}
	}
	w.b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.b.WriteByte('\\')
			w.b.WriteByte(byte(r))
		case r == '\n':
			w.b.WriteString(`\n`)
		case r == '\r':
			w.b.WriteString(`\r`)
		case r == '\t':
			w.b.WriteString(`\t`)
		case r == '\b':
			w.b.WriteString(`\b`)
		case r == '\f':
			w.b.WriteString(`\f`)
		case r < ' ':
			escape(r)
		case w.ascii && r > 0xFFFF:
			escape(0xD800 + (r-0x10000)>>10)
			escape(0xDC00 + (r-0x10000)&0x3FF)
		case w.ascii && r >= utf8.RuneSelf:
			escape(r)
		default:
			w.b.WriteRune(r)
		}
	}
	w.b.WriteByte('"')
}

// pythonFloat writes a float as Python's repr does.
func pythonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if strings.IndexByte(s, '.') < 0 {
		s += ".0"
	}
	return s
}
