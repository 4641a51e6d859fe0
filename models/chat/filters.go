package chat

import (
	"strconv"
	"strings"

	"github.com/ardanlabs/jinja"
)

// argument finds a parameter of a filter by position (the value that is filtered is at 0) or name.
func argument(args []jinja.Value, kwargs map[string]jinja.Value, position int, name string) (jinja.Value, bool) {
	if position < len(args) {
		return args[position], true
	}
	v, ok := kwargs[name]
	return v, ok
}

// text prints a value as the engine does: nothing for none and undefined.
func text(v jinja.Value) string {
	switch {
	case v.IsString():
		return v.AsString()
	case v.IsNone(), v.IsUndefined(), v.IsCallable():
		return ""
	}
	return v.String()
}

// sized returns a string if its length is within the bound on values.
func (r *run) sized(s string) (jinja.Value, error) {
	if len(s) > r.maxValue {
		return jinja.None(), limit("a value of more than %d bytes", r.maxValue)
	}
	return jinja.NewString(s), nil
}

// replace is replace(old, new, count) of strings.
func (r *run) replace(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	from, ok1 := argument(args, kwargs, 1, "old")
	to, ok2 := argument(args, kwargs, 2, "new")
	if !ok1 || !ok2 {
		return jinja.None(), errorf(ClassRender, 0, "replace needs two strings")
	}
	s, old, new := text(args[0]), text(from), text(to)
	n := -1
	if count, ok := argument(args, kwargs, 3, "count"); ok && count.IsInt() {
		n = int(count.AsInt())
	}
	found := strings.Count(s, old)
	if n >= 0 {
		found = min(found, n)
	}
	if found > 0 && int64(len(s))+int64(found)*int64(len(new)-len(old)) > int64(r.maxValue) {
		return jinja.None(), limit("a value of more than %d bytes", r.maxValue)
	}
	return jinja.NewString(strings.Replace(s, old, new, n)), nil
}

// split is str.split(separator, maxsplit).
func split(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	s, n := text(args[0]), -1
	if most, ok := argument(args, kwargs, 2, "maxsplit"); ok && most.IsInt() && most.AsInt() >= 0 {
		n = int(min(most.AsInt(), maxElements)) + 1
	}
	separator, ok := argument(args, kwargs, 1, "sep")
	var parts []string
	switch {
	case !ok || separator.IsNone():
		if n >= 0 {
			return jinja.None(), errorf(ClassUnsupported, 0, "split at white space with a maximum")
		}
		if len(s) > 2*maxElements && len(strings.Fields(s)) > maxElements {
			return jinja.None(), limit("split into more than %d parts", maxElements)
		}
		parts = strings.Fields(s)
	case text(separator) == "":
		return jinja.None(), errorf(ClassRender, 0, "split at an empty string")
	default:
		if strings.Count(s, text(separator)) >= maxElements {
			return jinja.None(), limit("split into more than %d parts", maxElements)
		}
		parts = strings.SplitN(s, text(separator), n)
	}
	items := make([]jinja.Value, len(parts))
	for i, part := range parts {
		items[i] = jinja.NewString(part)
	}
	return jinja.NewList(items), nil
}

// join is join(separator, attribute).
func (r *run) join(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	separator, _ := argument(args, kwargs, 1, "d")
	attribute, byAttribute := argument(args, kwargs, 2, "attribute")
	var items []jinja.Value
	switch v := args[0]; {
	case v.IsList():
		items = v.AsList().Items
	case v.IsDict():
		for _, key := range v.AsDict().Keys {
			items = append(items, jinja.NewString(key))
		}
	default:
		return jinja.NewString(text(v)), nil
	}
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteString(text(separator))
		}
		if byAttribute && item.IsDict() {
			item, _ = item.AsDict().Get(text(attribute))
		}
		if _, err := r.measure(item, nil, 0); err != nil {
			return jinja.None(), err
		}
		b.WriteString(text(item))
		if b.Len() > r.maxValue {
			break
		}
	}
	return r.sized(b.String())
}

// escape is the filter escape.
func (r *run) escape(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	s, err := r.stringFilter(args[:1], nil)
	if err != nil {
		return jinja.None(), err
	}
	return r.sized(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;").Replace(s.AsString()))
}

// format is str.format(...) with fields {}, {0} and {name}.
func (r *run) format(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	s := text(args[0])
	var b strings.Builder
	for next := 1; s != ""; {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		if strings.HasPrefix(s[i+1:], s[i:i+1]) {
			b.WriteByte(s[i])
			s = s[i+2:]
			continue
		}
		end := strings.IndexByte(s[i:], '}')
		if s[i] == '}' || end < 0 {
			return jinja.None(), errorf(ClassRender, 0, "format with a single %c", s[i])
		}
		field := s[i+1 : i+end]
		s = s[i+end+1:]
		if field == "" {
			field = strconv.Itoa(next - 1)
			next++
		}
		v, ok := kwargs[field]
		if n, err := strconv.Atoi(field); err == nil && n >= 0 && n+1 < len(args) {
			v, ok = args[n+1], true
		}
		if !ok {
			return jinja.None(), errorf(ClassUnsupported, 0, "format with the field {%.20s}", field)
		}
		if _, err := r.measure(v, nil, 0); err != nil {
			return jinja.None(), err
		}
		b.WriteString(pythonString(v))
		if b.Len() > r.maxValue {
			break
		}
	}
	return r.sized(b.String())
}

// indent is indent(width, first, blank).
func (r *run) indent(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	padding := "    "
	if width, ok := argument(args, kwargs, 1, "width"); ok {
		switch {
		case width.IsString():
			padding = width.AsString()
		case width.IsInt() && width.AsInt() >= 0 && width.AsInt() <= maxPadding:
			padding = strings.Repeat(" ", int(width.AsInt()))
		default:
			return jinja.None(), limit("indent by %s", width)
		}
	}
	first, _ := argument(args, kwargs, 2, "first")
	blank, _ := argument(args, kwargs, 3, "blank")
	s := text(args[0])
	if int64(len(s))+int64(strings.Count(s, "\n"))*int64(len(padding)) > int64(r.maxValue) {
		return jinja.None(), limit("a value of more than %d bytes", r.maxValue)
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if i == 0 && !first.IsTruthy() || i > 0 && line == "" && !blank.IsTruthy() {
			continue
		}
		lines[i] = padding + line
	}
	return r.sized(strings.Join(lines, "\n"))
}

// list makes a list of any collection; of a string, of its characters.
func list(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	var items []jinja.Value
	switch v := args[0]; {
	case v.IsList():
		items = append(items, v.AsList().Items...)
	case v.IsDict():
		for _, key := range v.AsDict().Keys {
			items = append(items, jinja.NewString(key))
		}
	case v.IsString():
		if len(v.AsString()) > maxElements {
			return jinja.None(), limit("a list of more than %d characters", maxElements)
		}
		for _, c := range v.AsString() {
			items = append(items, jinja.NewString(string(c)))
		}
	}
	return jinja.NewList(items), nil
}

// unique keeps the first of equal elements.
func unique(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	const maxUnique = 1 << 10 // compared each with each
	var items []jinja.Value
	if !args[0].IsList() {
		return jinja.NewList(nil), nil
	}
next:
	for _, item := range args[0].AsList().Items {
		for _, kept := range items {
			if kept.Equals(item) {
				continue next
			}
		}
		if len(items) == maxUnique {
			return jinja.None(), limit("unique of more than %d elements", maxUnique)
		}
		items = append(items, item)
	}
	return jinja.NewList(items), nil
}

// mapList is map(attribute=name, default=value), or map(filter) with one of the filters that need no arguments.
func (r *run) mapList(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error) {
	if !args[0].IsList() {
		return jinja.NewList(nil), nil
	}
	convert := func(v jinja.Value) (jinja.Value, error) {
		if item, ok := attribute(v, text(kwargs["attribute"])); ok {
			return item, nil
		}
		return kwargs["default"], nil
	}
	if len(args) > 1 {
		if convert = r.simpleFilter(text(args[1])); convert == nil || len(args) > 2 {
			return jinja.None(), errorf(ClassUnsupported, 0, "map with the filter %s", args[1])
		}
	}
	items := make([]jinja.Value, args[0].AsList().Len())
	for i, item := range args[0].AsList().Items {
		var err error
		if items[i], err = convert(item); err != nil {
			return jinja.None(), err
		}
	}
	return jinja.NewList(items), nil
}

// attribute looks up a.b.c in nested dictionaries.
func attribute(v jinja.Value, path string) (jinja.Value, bool) {
	for name := range strings.SplitSeq(path, ".") {
		if !v.IsDict() {
			return jinja.Undefined(), false
		}
		var ok bool
		if v, ok = v.AsDict().Get(name); !ok {
			return jinja.Undefined(), false
		}
	}
	return v, true
}

// simpleFilter gives the filters that map applies, nil for others.
func (r *run) simpleFilter(name string) func(jinja.Value) (jinja.Value, error) {
	of := func(f func(string) string) func(jinja.Value) (jinja.Value, error) {
		return func(v jinja.Value) (jinja.Value, error) { return r.sized(f(pythonString(v))) }
	}
	switch name {
	case "upper":
		return of(strings.ToUpper)
	case "lower":
		return of(strings.ToLower)
	case "trim":
		return of(strings.TrimSpace)
	case "string":
		return of(func(s string) string { return s })
	case "tojson":
		return func(v jinja.Value) (jinja.Value, error) { return r.tojson([]jinja.Value{v}, nil) }
	}
	return nil
}
