package schedules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A schedule prints as one line of key=value pairs in a fixed order, and the line parses back:
//
//	workgroup=64 rows=1 scale=thread x=global grid=tile threads=1 vec=4 unroll=1 xtype=f32 math=deferred reduce=none splitk=1

// field ties a key of the text form to a field: a pointer to int or to one of the string types.
type field struct {
	key   string
	value any
}

func (s *GEMV) fields() []field {
	o := &s.Order
	return []field{
		{"workgroup", &s.Workgroup}, {"rows", &s.RowsPerThread}, {"scale", &s.ScaleFetch}, {"x", &s.XSource},
		{"grid", &s.Grid}, {"threads", &o.ThreadsPerRow}, {"vec", &o.VecWidth}, {"unroll", &o.Unroll},
		{"xtype", &o.XType}, {"math", &o.Math}, {"reduce", &o.Reduce}, {"splitk", &o.SplitK},
	}
}

func (s *RowReduce) fields() []field {
	return []field{{"workgroup", &s.Workgroup}, {"reduce", &s.Reduce}}
}
func (s *ArgMax) fields() []field {
	return []field{{"workgroup", &s.Workgroup}, {"partials", &s.Partials}}
}
func (s *Elementwise) fields() []field { return []field{{"workgroup", &s.Workgroup}} }
func (s *QuantQ8) fields() []field     { return []field{{"workgroup", &s.Workgroup}} }
func (s *Attention) fields() []field   { return []field{{"workgroup", &s.Workgroup}} }

// String prints the schedule as one line.
func (s GEMV) String() string { return text(s.fields()) }

// String prints the schedule as one line.
func (s RowReduce) String() string { return text(s.fields()) }

// String prints the schedule as one line.
func (s ArgMax) String() string { return text(s.fields()) }

// String prints the schedule as one line.
func (s Elementwise) String() string { return text(s.fields()) }

// String prints the schedule as one line.
func (s QuantQ8) String() string { return text(s.fields()) }

// String prints the schedule as one line.
func (s Attention) String() string { return text(s.fields()) }

// UnmarshalText reads what String prints.
func (s *GEMV) UnmarshalText(b []byte) error { return parse(string(b), s.fields()) }

// UnmarshalText reads what String prints.
func (s *RowReduce) UnmarshalText(b []byte) error { return parse(string(b), s.fields()) }

// UnmarshalText reads what String prints.
func (s *ArgMax) UnmarshalText(b []byte) error { return parse(string(b), s.fields()) }

// UnmarshalText reads what String prints.
func (s *Elementwise) UnmarshalText(b []byte) error { return parse(string(b), s.fields()) }

// UnmarshalText reads what String prints.
func (s *QuantQ8) UnmarshalText(b []byte) error { return parse(string(b), s.fields()) }

// UnmarshalText reads what String prints.
func (s *Attention) UnmarshalText(b []byte) error { return parse(string(b), s.fields()) }

func text(fields []field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		value := ""
		switch v := f.value.(type) {
		case *int:
			value = strconv.Itoa(*v)
		default:
			value = *choice(v).text
		}
		parts[i] = f.key + "=" + value
	}
	return strings.Join(parts, " ")
}

// parse sets every field from the line; each key must come once.
func parse(line string, fields []field) error {
	seen := map[string]bool{}
	for _, part := range strings.Fields(line) {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("schedule %q: %q is no key=value", line, part)
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if i < 0 {
			return fmt.Errorf("schedule %q: %w", line, unknown("key", key, keys(fields)))
		}
		if seen[key] {
			return fmt.Errorf("schedule %q: %s comes twice", line, key)
		}
		seen[key] = true
		if err := fields[i].set(value); err != nil {
			return fmt.Errorf("schedule %q: %s: %w", line, key, err)
		}
	}
	for _, key := range keys(fields) {
		if !seen[key] {
			return fmt.Errorf("schedule %q: %s is missing", line, key)
		}
	}
	return nil
}

func keys(fields []field) []string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.key
	}
	return all
}

func (f field) set(value string) error {
	if v, ok := f.value.(*int); ok {
		n, err := strconv.Atoi(value)
		*v = n
		return err
	}
	c := choice(f.value)
	if !slices.Contains(c.known, value) {
		return unknown("choice", value, c.known)
	}
	*c.text = value
	return nil
}

// choices is a field of a string type: where its text is, and what it may be.
type choices struct {
	text  *string
	known []string
}

func choice(value any) choices {
	switch v := value.(type) {
	case *ScaleFetch:
		return choices{(*string)(v), names(ScalePerThread, ScaleBroadcast, ScalePrefetched)}
	case *XSource:
		return choices{(*string)(v), names(XGlobal, XStaged, XRegisters)}
	case *Grid:
		return choices{(*string)(v), names(GridTile, GridPersistent)}
	case *XType:
		return choices{(*string)(v), names(XF32, XF16Pairs, XQ8)}
	case *Math:
		return choices{(*string)(v), names(Dequantise, DeferredScale, F16Pairs, Dot4I8, UnpackedI8)}
	case *Reduce:
		return choices{(*string)(v), names(ReduceNone, ReduceSubgroup, ReduceSubgroupWorkgroup, ReduceTree)}
	}
	panic(fmt.Sprintf("schedules: no choices for %T", value)) // fields lists only the types above
}

func names[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
