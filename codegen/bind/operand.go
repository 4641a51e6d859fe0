package bind

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Class says what the planner may do with an operand.
type Class uint8

// The classes.
const (
	Tensor   Class = iota // any array; bound as it lies
	Metadata              // a small read-only array of u32 or i32: indices, lengths, offsets
	Vector                // a small read-only array that is as fast to read from a uniform
)

// Operand is an array that a kernel uses. Place is where it lives: its offset is aligned as ranges are, and it holds at
// least Count elements. To plan on paper leave the places of all operands zero.
type Operand struct {
	Name   string
	Elem   string // WGSL type: f32, u32, i32 or a vec2 or vec4 of them
	Count  int
	Access plan.Access
	Class  Class
	Place  plan.Range
}

// elemBytes lists the sizes of the element types. A vec3 is none of them: its stride is not its size.
var elemBytes = map[string]uint64{
	"f32": 4, "u32": 4, "i32": 4,
	"vec2<f32>": 8, "vec2<u32>": 8, "vec2<i32>": 8,
	"vec4<f32>": 16, "vec4<u32>": 16, "vec4<i32>": 16,
}

// bytes is the size of the array that the kernel declares.
func (o Operand) bytes() uint64 { return uint64(o.Count) * elemBytes[o.Elem] }

func (o Operand) placed() bool { return o.Place != plan.Range{} }

// check refuses an operand that is wrong in itself.
func (o Operand) check() error {
	switch {
	case o.Name == "":
		return fmt.Errorf("an operand has no name")
	case elemBytes[o.Elem] == 0:
		return fmt.Errorf("%s: element type %q is not one that arrays have", o.Name, o.Elem)
	case o.Count <= 0 || uint64(o.Count) > 1<<40:
		return fmt.Errorf("%s: %d elements", o.Name, o.Count)
	case o.Access < plan.Uniform || o.Access > plan.ReadWrite:
		return fmt.Errorf("%s: has no access", o.Name)
	case o.Class == Metadata && (o.Access != plan.Read || o.Elem != "u32" && o.Elem != "i32"):
		return fmt.Errorf("%s: metadata is a read-only array of u32 or i32, not %s %s", o.Name, o.Access, o.Elem)
	case o.Class == Vector && o.Access != plan.Read:
		return fmt.Errorf("%s: a vector that may move to a uniform is read-only, not %s", o.Name, o.Access)
	case !o.placed():
		return nil
	case o.Place.Offset%plan.RangeAlignment != 0:
		return fmt.Errorf("%s: offset %d is not a multiple of %d", o.Name, o.Place.Offset, plan.RangeAlignment)
	case o.Place.Bytes < o.bytes():
		return fmt.Errorf("%s: %d bytes at its place, %d needed", o.Name, o.Place.Bytes, o.bytes())
	}
	return nil
}
