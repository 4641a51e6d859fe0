package gguf

import "strconv"

// ValueType is the type of a key's value, with the numbers that files hold.
type ValueType uint32

// The value types.
const (
	Uint8 ValueType = iota
	Int8
	Uint16
	Int16
	Uint32
	Int32
	Float32
	Bool
	String
	Array
	Uint64
	Int64
	Float64
)

var valueTypes = [...]struct {
	name  string
	bytes int // 0 for types of varying size
}{
	{"u8", 1}, {"i8", 1}, {"u16", 2}, {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4}, {"bool", 1},
	{"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8},
}

func (t ValueType) known() bool { return int64(t) < int64(len(valueTypes)) }

// String returns a short name: u32, f32, string.
func (t ValueType) String() string {
	if t.known() {
		return valueTypes[t].name
	}
	return "value type " + strconv.FormatUint(uint64(t), 10)
}

// Entry is a key of the header. Its value stays encoded until an accessor asks for it.
type Entry struct {
	Key   string
	Type  ValueType
	Elem  ValueType // of an array's elements
	Count int       // elements of an array, 1 for anything else

	start, end int // of the value's bytes in the header; for an array of its elements
}

// Size returns the bytes that the value takes in the file, so that a caller can turn away what is too long before it is read.
func (e *Entry) Size() int { return e.end - e.start }
