package sim

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// part is one scalar of a type and where it lies in memory.
type part struct {
	scalar wgsl.Scalar
	bytes  int
}

// halves returns how many halves of words a scalar takes.
func (p part) halves() int {
	if p.scalar == wgsl.F16 {
		return 1
	}
	return 2
}

// halvesAt returns how many halves of words the scalar takes that lies at a byte of a type.
func halvesAt(t wgsl.Type, at int64) int {
	switch t := t.(type) {
	case wgsl.Array:
		return halvesAt(t.Elem, at%int64(wgsl.Stride(t.Elem)))
	case wgsl.Vector:
		return part{scalar: t.Elem}.halves()
	case *wgsl.Struct:
		for i := len(t.Members) - 1; i >= 0; i-- {
			if m := t.Members[i]; at >= int64(m.Offset) {
				return halvesAt(m.Type, at-int64(m.Offset))
			}
		}
	}
	return part{scalar: component(t)}.halves()
}

// maxParts bounds the scalars of a value: they take a register each.
const maxParts = 1 << 14

// parts lists the scalars of a type in order; nil with more than maxParts, or without a fixed size.
func parts(t wgsl.Type) []part { return appendParts(nil, t, 0) }

func appendParts(list []part, t wgsl.Type, at int) []part {
	if len(list) > maxParts {
		return nil
	}
	switch t := t.(type) {
	case wgsl.Scalar:
		return append(list, part{t, at})
	case wgsl.Atomic:
		return append(list, part{t.Elem, at})
	case wgsl.Vector:
		for i := range t.Width {
			list = append(list, part{t.Elem, at + i*wgsl.SizeOf(t.Elem)})
		}
	case wgsl.Array:
		if t.Len == 0 || t.Len > maxParts {
			return nil
		}
		for i := range t.Len {
			if list = appendParts(list, t.Elem, at+i*wgsl.Stride(t.Elem)); list == nil {
				return nil
			}
		}
	case *wgsl.Struct:
		for _, m := range t.Members {
			if list = appendParts(list, m.Type, at+m.Offset); list == nil {
				return nil
			}
		}
	}
	return list
}

// partsBefore returns how many scalars of a struct stand before its member n.
func partsBefore(s *wgsl.Struct, n int) int {
	count := 0
	for _, m := range s.Members[:n] {
		count += len(parts(m.Type))
	}
	return count
}

func memberNumber(s *wgsl.Struct, name string) int {
	for i := range s.Members {
		if s.Members[i].Name == name {
			return i
		}
	}
	return -1
}

// components returns the numbers that a swizzle such as xyz or r names.
func components(name string) []int {
	out := make([]int, len(name))
	for i := range name {
		switch name[i] {
		case 'x', 'r':
			out[i] = 0
		case 'y', 'g':
			out[i] = 1
		case 'z', 'b':
			out[i] = 2
		default:
			out[i] = 3
		}
	}
	return out
}

// elementOf returns what indexing a vector or array gives, and how many there are: 0 for a runtime-sized array.
func elementOf(t wgsl.Type) (wgsl.Type, int) {
	switch t := t.(type) {
	case wgsl.Vector:
		return t.Elem, t.Width
	case wgsl.Array:
		return t.Elem, t.Len
	}
	return nil, 0
}

func component(t wgsl.Type) wgsl.Scalar {
	switch t := t.(type) {
	case wgsl.Scalar:
		return t
	case wgsl.Vector:
		return t.Elem
	case wgsl.Atomic:
		return t.Elem
	}
	return wgsl.Bad
}

func isFloat(s wgsl.Scalar) bool { return s == wgsl.F32 || s == wgsl.F16 }

// elementAt returns the number of the element of a variable that a byte belongs to, as the text indexes it: that of its array, or of
// the array that its struct has there; -1 for a variable that is neither.
func elementAt(t wgsl.Type, at int64) int64 {
	switch t := t.(type) {
	case wgsl.Array:
		return at / int64(wgsl.Stride(t.Elem))
	case *wgsl.Struct:
		for i := len(t.Members) - 1; i >= 0; i-- {
			if m := t.Members[i]; at >= int64(m.Offset) {
				return elementAt(m.Type, at-int64(m.Offset))
			}
		}
	}
	return -1
}
