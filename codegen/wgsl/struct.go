package wgsl

// Struct is a struct type. Two are equal when they are the same declaration.
type Struct struct {
	Name    string
	Members []Field
	Size    int // bytes; without the last member where that is a runtime-sized array
	Align   int

	traits traits
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
	s.traits = s.membersTraits()
	return true
}

// traits are what decides where a type can be used. Structs keep theirs: a struct of structs may have more members, all told, than
// anyone can visit.
type traits struct {
	atomic     bool   // it has atomics
	unsized    bool   // it is sized at run time
	overridden bool   // its size depends on an override
	boolean    bool   // it has a bool, which has no form in a buffer
	uniform    string // why it can't lie in a uniform buffer; empty when it can
}

func traitsOf(t Type) traits {
	switch t := t.(type) {
	case Scalar, Vector:
		return traits{boolean: component(t) == Bool}
	case Atomic:
		return traits{atomic: true}
	case Array:
		of := traitsOf(t.Elem)
		of.unsized = of.unsized || t.Len == 0
		of.overridden = of.overridden || t.Size != nil
		if Stride(t.Elem)%16 != 0 {
			of.uniform = "the elements of " + t.String() + " in a uniform buffer must be a multiple of 16 bytes"
		}
		return of
	case *Struct:
		return t.traits
	}
	return traits{}
}

func (s *Struct) membersTraits() traits {
	all := traits{}
	for i, m := range s.Members {
		of := traitsOf(m.Type)
		all.atomic = all.atomic || of.atomic
		all.unsized = all.unsized || of.unsized
		all.overridden = all.overridden || of.overridden
		all.boolean = all.boolean || of.boolean
		_, array := m.Type.(Array)
		inner, structure := m.Type.(*Struct)
		switch {
		case all.uniform != "":
		case (array || structure) && m.Offset%16 != 0:
			all.uniform = "member " + m.Name + " of " + s.Name + " in a uniform buffer must start at a multiple of 16 bytes"
		case structure && i+1 < len(s.Members) && s.Members[i+1].Offset < m.Offset+roundUp(inner.Size, 16):
			all.uniform = "the member after " + m.Name + " of " + s.Name + " in a uniform buffer must be 16 bytes further on"
		default:
			all.uniform = of.uniform
		}
	}
	return all
}

// constructible reports whether values of a type can be made, stored in variables and passed: everything of fixed size without
// atomics.
func constructible(t Type) bool {
	switch t.(type) {
	case Scalar, Vector, Array, *Struct:
		of := traitsOf(t)
		return t != Type(Bad) && !of.atomic && !of.unsized && !of.overridden
	}
	return false
}

func atomicType(t Type) bool { _, ok := t.(Atomic); return ok }

// sized reports whether the size of a type is known when the kernel's pipeline is made.
func sized(t Type) bool { return !traitsOf(t).unsized }

// overrideSized reports whether the size depends on an override.
func overrideSized(t Type) bool { return traitsOf(t).overridden }
