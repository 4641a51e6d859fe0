package sim

import "math"

// Conversions of scalars. A bool is 0 or 1, an f16 the bits of the float32 that equals it. i32 and u32 convert to each other, and
// floats and f16 to f32, by keeping the bits.

// floatToSigned returns an f32 as i32: cut towards zero after it was clamped to what both types have, so at most 2147483520. NaN
// gives 0.
func floatToSigned(x uint32) uint32 {
	const most = 1<<31 - 1<<7
	f := wide(x)
	if f != f {
		return 0
	}
	return uint32(int32(min(max(f, math.MinInt32), most)))
}

// floatToUnsigned returns an f32 as u32: cut towards zero after it was clamped to what both types have, so at most 4294967040. NaN
// gives 0.
func floatToUnsigned(x uint32) uint32 {
	const most = 1<<32 - 1<<8
	f := wide(x)
	if f != f {
		return 0
	}
	return uint32(min(max(f, 0), most))
}

// halfToSigned returns an f16 as i32. Infinities give ±65504, NaN 0.
func halfToSigned(x uint32) uint32 { return floatToSigned(finiteHalf(x)) }

// halfToUnsigned returns an f16 as u32. Infinities give 65504 and 0, NaN 0.
func halfToUnsigned(x uint32) uint32 { return floatToUnsigned(finiteHalf(x)) }

func finiteHalf(x uint32) uint32 {
	return math.Float32bits(min(max(math.Float32frombits(x), -largestHalf), largestHalf))
}

// Integers become the nearest float, of two the even one.

func signedToFloat(x uint32) uint32   { return math.Float32bits(float32(int32(x))) }
func unsignedToFloat(x uint32) uint32 { return math.Float32bits(float32(x)) }

// Numbers become the nearest f16 in one rounding, of two the even one, infinite from 65520 on; WGSL allows that, or 65504.

func signedToHalf(x uint32) uint32   { return math.Float32bits(halfOf64(float64(int32(x)))) }
func unsignedToHalf(x uint32) uint32 { return math.Float32bits(halfOf64(float64(x))) }
func floatToHalf(x uint32) uint32    { return math.Float32bits(roundHalf(math.Float32frombits(x))) }

// integerToBool reports whether an integer isn't 0.
func integerToBool(x uint32) uint32 { return min(x, 1) }

// floatToBool reports whether a float isn't 0, of either sign.
func floatToBool(x uint32) uint32 { return min(x&^signBit, 1) }

// boolToFloat returns 1 or 0 as f32 or f16.
func boolToFloat(x uint32) uint32 { return x * floatOne }
