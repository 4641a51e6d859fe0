package wgsl

import "math"

// Value is a constant scalar. The zero Value is none.
type Value struct {
	Kind  ValueKind
	Int   int64   // integers: u32 from 0 to 2^32-1; bool: 0 or 1
	Float float64 // floats
}

// ValueKind says which field of a Value holds.
type ValueKind uint8

// The kinds of values.
const (
	NoValue ValueKind = iota
	BoolValue
	IntValue
	FloatValue
)

func intValue(n int64) Value     { return Value{Kind: IntValue, Int: n} }
func floatValue(f float64) Value { return Value{Kind: FloatValue, Float: f} }
func boolValue(b bool) Value {
	if b {
		return Value{Kind: BoolValue, Int: 1}
	}
	return Value{Kind: BoolValue}
}

// convert returns the value as one of type to; false when it is out of range. Floats round to the nearest.
func (v Value) convert(to Scalar) (Value, bool) {
	if v.Kind == IntValue && to.float() {
		v = floatValue(float64(v.Int))
	}
	switch to {
	case I32:
		return v, v.Kind == IntValue && v.Int >= math.MinInt32 && v.Int <= math.MaxInt32
	case U32:
		return v, v.Kind == IntValue && v.Int >= 0 && v.Int <= math.MaxUint32
	case AbstractInt:
		return v, v.Kind == IntValue
	case F32:
		v.Float = float64(float32(v.Float))
		return v, v.Kind == FloatValue && finite(v.Float)
	case F16:
		v.Float = roundHalf(v.Float)
		return v, v.Kind == FloatValue && finite(v.Float)
	case AbstractFloat:
		return v, v.Kind == FloatValue && finite(v.Float)
	case Bool:
		return v, v.Kind == BoolValue
	}
	return v, false
}

// cast is convert for T(x), which also takes integers modulo 2^32, floats to integers and bools to numbers.
func (v Value) cast(to Scalar) (Value, bool) {
	switch {
	case v.Kind == BoolValue && to != Bool:
		v.Kind = IntValue
	case to == Bool:
		return boolValue(v.Int != 0 || v.Float != 0), true
	case v.Kind == FloatValue && to == I32:
		v = intValue(int64(math.Max(math.MinInt32, math.Min(math.MaxInt32, math.Trunc(v.Float)))))
	case v.Kind == FloatValue && to == U32:
		v = intValue(int64(math.Max(0, math.Min(math.MaxUint32, math.Trunc(v.Float)))))
	}
	return v.convert(to)
}

// wrap reduces an integer to 32 bits of type t.
func wrap(n int64, t Scalar) int64 {
	switch t {
	case U32:
		return int64(uint32(n))
	case I32:
		return int64(int32(n))
	}
	return n
}

func finite(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }
