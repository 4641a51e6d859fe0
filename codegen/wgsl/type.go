package wgsl

import "strconv"

// Type is a WGSL type: a Scalar, Vector, Array, *Struct, Atomic or Pointer. Types are equal when == says so. A nil Type is that of a
// call that returns nothing; Bad is that of an expression whose mistake was reported.
type Type interface{ String() string }

// Scalar is a scalar type, or one of the two abstract types that literals have until something fixes them.
type Scalar uint8

// The scalar types.
const (
	Bad Scalar = iota
	AbstractInt
	AbstractFloat
	Bool
	I32
	U32
	F32
	F16
)

var scalarNames = [...]string{"?", "abstract int", "abstract float", "bool", "i32", "u32", "f32", "f16"}

func (s Scalar) String() string { return scalarNames[s] }

// Vector is vec2, vec3 or vec4 of a scalar.
type Vector struct {
	Elem  Scalar
	Width int
}

func (v Vector) String() string { return "vec" + strconv.Itoa(v.Width) + "<" + v.Elem.String() + ">" }

// Array is an array of Len elements; Len is 0 for a runtime-sized one. Size is set where the length depends on an override: Len
// is 1 then. Arrays sized by the same override have the same Size.
type Array struct {
	Elem Type
	Len  int
	Size Expr
}

func (a Array) String() string {
	switch {
	case a.Size != nil:
		return "array<" + a.Elem.String() + ", " + lengthText(a.Size) + ">"
	case a.Len == 0:
		return "array<" + a.Elem.String() + ">"
	}
	return "array<" + a.Elem.String() + ", " + strconv.Itoa(a.Len) + ">"
}

// Atomic is an atomic u32 or i32.
type Atomic struct{ Elem Scalar }

func (a Atomic) String() string { return "atomic<" + a.Elem.String() + ">" }

// Pointer is what & makes of a variable. Parameters of functions may be pointers to function and private memory: naga refuses those
// to storage and workgroup memory.
type Pointer struct {
	Space    Space
	Elem     Type
	Writable bool
}

func (p Pointer) String() string { return "ptr<" + p.Space.String() + ", " + p.Elem.String() + ">" }

// Space is an address space.
type Space uint8

// The address spaces. Values have none.
const (
	NoSpace Space = iota
	FunctionSpace
	PrivateSpace
	WorkgroupSpace
	StorageSpace
	UniformSpace
)

func (s Space) String() string {
	return [...]string{"value", "function", "private", "workgroup", "storage", "uniform"}[s]
}

// SizeOf returns the bytes of a sized type in memory, by the layout rules of WGSL; 0 for a type that has no place there.
func SizeOf(t Type) int {
	switch t := t.(type) {
	case Scalar:
		switch t {
		case I32, U32, F32, Bool: // a bool can't be shared with the host, but takes 4 bytes of workgroup memory
			return 4
		case F16:
			return 2
		}
	case Atomic:
		return 4
	case Vector:
		return t.Width * SizeOf(t.Elem)
	case Array:
		return t.Len * Stride(t.Elem)
	case *Struct:
		return t.Size
	}
	return 0
}

// AlignOf returns the alignment of a type in memory.
func AlignOf(t Type) int {
	switch t := t.(type) {
	case Vector:
		if t.Width == 3 {
			return 4 * SizeOf(t.Elem)
		}
		return t.Width * SizeOf(t.Elem)
	case Array:
		return AlignOf(t.Elem)
	case *Struct:
		return t.Align
	}
	return SizeOf(t)
}

// Stride returns the bytes from one element of an array to the next.
func Stride(elem Type) int { return roundUp(SizeOf(elem), AlignOf(elem)) }

func roundUp(n, to int) int {
	if to == 0 {
		return n
	}
	return (n + to - 1) / to * to
}

// component returns the scalar of a scalar or vector, and Bad for other types.
func component(t Type) Scalar {
	switch t := t.(type) {
	case Scalar:
		return t
	case Vector:
		return t.Elem
	}
	return Bad
}

// width returns 1 for a scalar, the width of a vector, and 0 for other types.
func width(t Type) int {
	switch t := t.(type) {
	case Scalar:
		return 1
	case Vector:
		return t.Width
	}
	return 0
}

// shaped returns s, or the vector of it, with the width given.
func shaped(s Scalar, width int) Type {
	if width == 1 {
		return s
	}
	return Vector{s, width}
}

func (s Scalar) abstract() bool { return s == AbstractInt || s == AbstractFloat }
func (s Scalar) integer() bool  { return s == I32 || s == U32 || s == AbstractInt }
func (s Scalar) float() bool    { return s == F32 || s == F16 || s == AbstractFloat }
func (s Scalar) numeric() bool  { return s.integer() || s.float() }

// converts reports whether a value of abstract type from becomes one of type to without being asked.
func (s Scalar) converts(to Scalar) bool {
	switch s {
	case AbstractInt:
		return to.numeric()
	case AbstractFloat:
		return to.float()
	}
	return s == to
}

func convertible(from, to Type) bool {
	if from == to {
		return true
	}
	if a, ok := from.(Array); ok {
		b, ok := to.(Array)
		return ok && a.Len == b.Len && a.Size == nil && b.Size == nil && convertible(a.Elem, b.Elem)
	}
	return width(from) != 0 && width(from) == width(to) && component(from).converts(component(to))
}

// concrete returns the type that a value of an abstract type takes when nothing asks for another.
func concrete(t Type) Type {
	if a, ok := t.(Array); ok {
		return Array{concrete(a.Elem), a.Len, a.Size}
	}
	switch component(t) {
	case AbstractInt:
		return shaped(I32, width(t))
	case AbstractFloat:
		return shaped(F32, width(t))
	}
	return t
}
