package wgsl

// Struct is a struct type. Two are equal when they are the same declaration.
type Struct struct {
	Name    string
	Members []Field
	Size    int // bytes; without the last member where that is a runtime-sized array
	Align   int
}

// Field is a member of a struct.
type Field struct {
	Name    string
	Type    Type
	Offset  int    // bytes from the start of the struct
	Align   int    // as @align says; 0 without
	Size    int    // as @size says; 0 without
	Builtin string // where the struct is a parameter of an entry point
}

func (s *Struct) String() string { return s.Name }

// member returns the member of a name, or nil.
func (s *Struct) member(name string) *Field {
	for i := range s.Members {
		if s.Members[i].Name == name {
			return &s.Members[i]
		}
	}
	return nil
}

// maxBytes bounds types: no buffer is larger, and sums of two sizes don't overflow.
const maxBytes = 1 << 40

// layout places the members by the rules of WGSL. It returns false when the struct is larger than any buffer.
func (s *Struct) layout() bool {
	s.Align = 1
	at := 0
	for i := range s.Members {
		m := &s.Members[i]
		align := max(AlignOf(m.Type), m.Align, 1)
		s.Align = max(s.Align, align)
		m.Offset = roundUp(at, align)
		at = m.Offset + max(SizeOf(m.Type), m.Size)
		if at > maxBytes {
			return false
		}
	}
	s.Size = roundUp(at, s.Align)
	return true
}

// constructible reports whether values of a type can be made, stored in variables and passed: everything of fixed size without
// atomics.
func constructible(t Type) bool {
	switch t := t.(type) {
	case Scalar, Vector:
		return t != Type(Bad)
	case Array:
		return t.Len > 0 && t.Size == nil && constructible(t.Elem)
	case *Struct:
		for _, m := range t.Members {
			if !constructible(m.Type) {
				return false
			}
		}
		return true
	}
	return false
}

// contains reports whether a type is made of one for which is holds, or is one.
func contains(t Type, is func(Type) bool) bool {
	if is(t) {
		return true
	}
	switch t := t.(type) {
	case Array:
		return contains(t.Elem, is)
	case *Struct:
		for _, m := range t.Members {
			if contains(m.Type, is) {
				return true
			}
		}
	}
	return false
}

func atomicType(t Type) bool { _, ok := t.(Atomic); return ok }

// sized reports whether the size of a type is known when the kernel's pipeline is made.
func sized(t Type) bool {
	return !contains(t, func(t Type) bool { a, ok := t.(Array); return ok && a.Len == 0 })
}

// overrideSized reports whether the size depends on an override.
func overrideSized(t Type) bool {
	return contains(t, func(t Type) bool { a, ok := t.(Array); return ok && a.Size != nil })
}

// shareable reports whether a type can lie in a buffer: no bool, nothing sized by an override.
func shareable(t Type) bool {
	return !contains(t, func(t Type) bool {
		a, array := t.(Array)
		return component(t) == Bool && width(t) > 0 || array && a.Size != nil
	})
}

// uniformLayout returns why a type can't lie in a uniform buffer, or "".
func uniformLayout(t Type) string {
	switch t := t.(type) {
	case Array:
		if Stride(t.Elem)%16 != 0 {
			return "the elements of " + t.String() + " in a uniform buffer must be a multiple of 16 bytes"
		}
		return uniformLayout(t.Elem)
	case *Struct:
		for i, m := range t.Members {
			_, array := m.Type.(Array)
			inner, structure := m.Type.(*Struct)
			if (array || structure) && m.Offset%16 != 0 {
				return "member " + m.Name + " of " + t.Name + " in a uniform buffer must start at a multiple of 16 bytes"
			}
			if structure && i+1 < len(t.Members) && t.Members[i+1].Offset < m.Offset+roundUp(inner.Size, 16) {
				return "the member after " + m.Name + " of " + t.Name + " in a uniform buffer must be 16 bytes further on"
			}
			if why := uniformLayout(m.Type); why != "" {
				return why
			}
		}
	}
	return ""
}
