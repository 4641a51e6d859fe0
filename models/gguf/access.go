package gguf

import (
	"encoding/binary"
	"iter"
	"math"
	"strconv"
)

// Entries returns the keys in file order. It is not to be changed.
func (f *File) Entries() []Entry { return f.entries }

// Has reports whether the file has a key.
func (f *File) Has(key string) bool {
	_, ok := f.keys[key]
	return ok
}

// Entry returns what the header says of a key, ClassMissingKey if there is none.
func (f *File) Entry(key string) (*Entry, error) {
	i, ok := f.keys[key]
	if !ok {
		return nil, &Error{Class: ClassMissingKey, Field: printable(key), Offset: -1, Detail: "the file has no such key"}
	}
	return &f.entries[i], nil
}

// Default calls an accessor and gives fallback for a key that is missing; a key that is there but wrong stays an error.
//
//	scale, err := gguf.Default(f.Float, "llama.attention.scale", 0)
func Default[T any](get func(key string) (T, error), key string, fallback T) (T, error) {
	v, err := get(key)
	if IsMissing(err) {
		return fallback, nil
	}
	return v, err
}

// Uint returns a value of any integer type that is not negative.
func (f *File) Uint(key string) (uint64, error) {
	e, b, err := f.scalar(key, "an integer", isInteger)
	if err != nil {
		return 0, err
	}
	v, negative := integer(e.Type, b)
	if negative {
		return 0, e.outOfRange(strconv.FormatInt(int64(v), 10) + " is negative")
	}
	return v, nil
}

// Int returns a value of any integer type that an int holds.
func (f *File) Int(key string) (int, error) {
	e, b, err := f.scalar(key, "an integer", isInteger)
	if err != nil {
		return 0, err
	}
	return e.int(b, e.Type)
}

// Float returns a number. An integer must be one that a float64 holds exactly.
func (f *File) Float(key string) (float64, error) {
	e, b, err := f.scalar(key, "a number", isNumber)
	if err != nil {
		return 0, err
	}
	return e.float(b, e.Type)
}

// Bool returns a truth value, which must be stored as 0 or 1.
func (f *File) Bool(key string) (bool, error) {
	e, b, err := f.scalar(key, "a bool", func(t ValueType) bool { return t == Bool })
	if err != nil {
		return false, err
	}
	return e.bool(b)
}

// String returns a string, which need not be valid UTF-8.
func (f *File) String(key string) (string, error) {
	e, err := f.scalarEntry(key, "a string", isString)
	if err != nil {
		return "", err
	}
	return f.header.text(e.start+8, e.end), nil
}

// Ints returns an array of integers of any type.
func (f *File) Ints(key string) ([]int, error) {
	return list(f, key, "integers", isInteger, (*Entry).int)
}

// Floats returns an array of numbers, as Float does.
func (f *File) Floats(key string) ([]float64, error) {
	return list(f, key, "numbers", isNumber, (*Entry).float)
}

// Bools returns an array of truth values.
func (f *File) Bools(key string) ([]bool, error) {
	return list(f, key, "bools", func(t ValueType) bool { return t == Bool },
		func(e *Entry, b []byte, _ ValueType) (bool, error) { return e.bool(b) })
}

// Strings returns an array of strings. They share one copy of the array's bytes, so that a vocabulary costs two allocations.
func (f *File) Strings(key string) ([]string, error) {
	e, err := f.array(key, "strings", isString)
	if err != nil {
		return nil, err
	}
	shared, out := f.header.text(e.start, e.end), make([]string, e.Count)
	at := 0
	for i := range out {
		n := int(binary.LittleEndian.Uint64([]byte(shared[at : at+8])))
		out[i] = shared[at+8 : at+8+n]
		at += 8 + n
	}
	return out, nil
}

// texts walks an array of strings and gives the place of each in the header.
func (f *File) texts(e *Entry) iter.Seq2[int, span] {
	return func(yield func(int, span) bool) {
		at := e.start
		for i := range e.Count {
			start := at + 8
			at = start + int(binary.LittleEndian.Uint64(f.header.part(at, start)))
			if !yield(i, span{start, at}) {
				return
			}
		}
	}
}

// span is a stretch of the header.
type span struct{ from, to int }

// IntPerLayer returns one integer for each of n layers, from a key that holds either one for all or an array of n.
func (f *File) IntPerLayer(key string, n int) ([]int, error) {
	e, err := f.Entry(key)
	if err != nil {
		return nil, err
	}
	if e.Type == Array {
		if e.Count != n {
			return nil, e.error(ClassBadHyperparameter, "an array of "+strconv.Itoa(e.Count)+" for "+strconv.Itoa(n)+" layers")
		}
		return f.Ints(key)
	}
	v, err := f.Int(key)
	if err != nil {
		return nil, err
	}
	out := make([]int, n)
	for i := range out {
		out[i] = v
	}
	return out, nil
}

// scalar returns the encoded value of a key whose type is accepted.
func (f *File) scalar(key, want string, accept func(ValueType) bool) (*Entry, []byte, error) {
	e, err := f.scalarEntry(key, want, accept)
	if err != nil {
		return nil, nil, err
	}
	return e, f.header.part(e.start, e.end), nil
}

func (f *File) scalarEntry(key, want string, accept func(ValueType) bool) (*Entry, error) {
	e, err := f.Entry(key)
	if err == nil && !accept(e.Type) {
		err = e.error(ClassWrongType, "a value of type "+e.typeText()+", want "+want)
	}
	return e, err
}

// array returns an array whose element type is accepted.
func (f *File) array(key, want string, accept func(ValueType) bool) (*Entry, error) {
	e, err := f.Entry(key)
	if err != nil {
		return nil, err
	}
	if e.Type != Array || !accept(e.Elem) {
		return nil, e.error(ClassWrongType, "a value of type "+e.typeText()+", want an array of "+want)
	}
	return e, nil
}

// list decodes an array of a fixed-size type.
func list[T any](f *File, key, want string, accept func(ValueType) bool, decode func(*Entry, []byte, ValueType) (T, error)) ([]T, error) {
	e, err := f.array(key, want, accept)
	if err != nil {
		return nil, err
	}
	size := valueTypes[e.Elem].bytes
	out := make([]T, e.Count)
	for i := range out {
		at := e.start + i*size
		if out[i], err = decode(e, f.header.part(at, at+size), e.Elem); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func isString(t ValueType) bool { return t == String }

func isInteger(t ValueType) bool {
	return t.known() && t != Float32 && t != Float64 && t != Bool && t != String && t != Array
}

func isNumber(t ValueType) bool { return isInteger(t) || t == Float32 || t == Float64 }

// integer decodes any integer type. A negative one is returned as its two's complement.
func integer(t ValueType, b []byte) (v uint64, negative bool) {
	switch t {
	case Uint8:
		return uint64(b[0]), false
	case Uint16:
		return uint64(binary.LittleEndian.Uint16(b)), false
	case Uint32:
		return uint64(binary.LittleEndian.Uint32(b)), false
	case Uint64:
		return binary.LittleEndian.Uint64(b), false
	}
	var signed int64
	switch t {
	case Int8:
		signed = int64(int8(b[0]))
	case Int16:
		signed = int64(int16(binary.LittleEndian.Uint16(b)))
	case Int32:
		signed = int64(int32(binary.LittleEndian.Uint32(b)))
	case Int64:
		signed = int64(binary.LittleEndian.Uint64(b))
	}
	return uint64(signed), signed < 0
}

func (e *Entry) int(b []byte, t ValueType) (int, error) {
	v, negative := integer(t, b)
	if negative && int64(v) >= math.MinInt {
		return int(int64(v)), nil
	}
	if negative || v > math.MaxInt {
		return 0, e.outOfRange("the integer does not fit")
	}
	return int(v), nil
}

func (e *Entry) float(b []byte, t ValueType) (float64, error) {
	switch t {
	case Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), nil
	case Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	}
	v, negative := integer(t, b)
	const exact = 1 << 53
	if negative && int64(v) >= -exact {
		return float64(int64(v)), nil
	}
	if negative || v > exact {
		return 0, e.outOfRange("the integer is no exact float")
	}
	return float64(v), nil
}

func (e *Entry) bool(b []byte) (bool, error) {
	if b[0] > 1 {
		return false, e.outOfRange("a bool stored as " + strconv.Itoa(int(b[0])))
	}
	return b[0] == 1, nil
}

func (e *Entry) error(class Class, detail string) *Error {
	return &Error{Class: class, Field: printable(e.Key), Offset: int64(e.start), Detail: detail}
}

func (e *Entry) outOfRange(detail string) *Error { return e.error(ClassOutOfRange, detail) }

func (e *Entry) typeText() string {
	if e.Type == Array {
		return "array of " + e.Elem.String()
	}
	return e.Type.String()
}
