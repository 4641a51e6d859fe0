package sim

import (
	"math"
	"math/bits"
)

// The operators of integers that Go defines otherwise than WGSL does at run time, where nothing traps.

// divideSigned returns a / b, a where b is 0 or the quotient too large.
func divideSigned(a, b uint32) uint32 {
	if b == 0 || overflows(a, b) {
		return a
	}
	return uint32(int32(a) / int32(b))
}

// remainderSigned returns a - a/b·b with the sign of a, 0 where b is 0 or the quotient too large.
func remainderSigned(a, b uint32) uint32 {
	if b == 0 || overflows(a, b) {
		return 0
	}
	return uint32(int32(a) % int32(b))
}

func overflows(a, b uint32) bool { return a == 1<<31 && b == math.MaxUint32 }

// divideUnsigned returns a / b, a where b is 0.
func divideUnsigned(a, b uint32) uint32 {
	if b == 0 {
		return a
	}
	return a / b
}

// remainderUnsigned returns a mod b, 0 where b is 0.
func remainderUnsigned(a, b uint32) uint32 {
	if b == 0 {
		return 0
	}
	return a % b
}

// Shifts take the amount modulo 32.

func shiftLeft(a, n uint32) uint32          { return a << (n & 31) }
func shiftRightUnsigned(a, n uint32) uint32 { return a >> (n & 31) }
func shiftRightSigned(a, n uint32) uint32   { return uint32(int32(a) >> (n & 31)) }

// integerUnary returns a built-in function of one integer, an i32 when signed, else a u32, or "negate" for the operator. It is nil
// for a name that is none.
func integerUnary(name string, signed bool) func(uint32) uint32 {
	switch name {
	case "abs":
		if signed {
			return absSigned
		}
		return func(x uint32) uint32 { return x }
	case "negate":
		return func(x uint32) uint32 { return -x }
	case "sign":
		if signed {
			return signSigned
		}
		return func(x uint32) uint32 { return min(x, 1) }
	case "countLeadingZeros":
		return func(x uint32) uint32 { return uint32(bits.LeadingZeros32(x)) }
	case "countOneBits":
		return func(x uint32) uint32 { return uint32(bits.OnesCount32(x)) }
	case "countTrailingZeros":
		return func(x uint32) uint32 { return uint32(bits.TrailingZeros32(x)) }
	case "firstLeadingBit":
		if signed {
			return func(x uint32) uint32 { return firstLeadingBit(x ^ shiftRightSigned(x, 31)) }
		}
		return firstLeadingBit
	case "firstTrailingBit":
		return firstTrailingBit
	case "reverseBits":
		return bits.Reverse32
	}
	return nil
}

// absSigned returns |x|, and the least i32 for itself.
func absSigned(x uint32) uint32 {
	if int32(x) < 0 {
		return -x
	}
	return x
}

func signSigned(x uint32) uint32 {
	if x == 0 {
		return 0
	}
	return shiftRightSigned(x, 31) | 1
}

// firstLeadingBit returns the position of the highest 1, -1 for 0.
func firstLeadingBit(x uint32) uint32 { return uint32(bits.Len32(x)) - 1 }

// firstTrailingBit returns the position of the lowest 1, -1 for 0.
func firstTrailingBit(x uint32) uint32 {
	if x == 0 {
		return math.MaxUint32
	}
	return uint32(bits.TrailingZeros32(x))
}

// integerBinary returns min or max of two integers, i32 when signed, else u32. It is nil for a name that is none.
func integerBinary(name string, signed bool) func(a, b uint32) uint32 {
	switch {
	case name == "max" && signed:
		return func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }
	case name == "max":
		return func(a, b uint32) uint32 { return max(a, b) }
	case name == "min" && signed:
		return func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) }
	case name == "min":
		return func(a, b uint32) uint32 { return min(a, b) }
	}
	return nil
}

// clampInteger returns min(max(x, low), high) of integers, i32 when signed, else u32.
func clampInteger(signed bool) func(x, low, high uint32) uint32 {
	if signed {
		return func(x, low, high uint32) uint32 { return uint32(min(max(int32(x), int32(low)), int32(high))) }
	}
	return func(x, low, high uint32) uint32 { return min(max(x, low), high) }
}

// extractBits returns a function that reads count bits from offset on, the highest as a sign when signed. Both are cut at bit 32.
func extractBits(signed bool) func(x, offset, count uint32) uint32 {
	return func(x, offset, count uint32) uint32 {
		offset = min(offset, 32)
		count = min(count, 32-offset)
		if count == 0 {
			return 0
		}
		x <<= 32 - offset - count
		if signed {
			return uint32(int32(x) >> (32 - count))
		}
		return x >> (32 - count)
	}
}

// insertBits returns x with count bits from offset on replaced by the lowest bits of replacement. Both are cut at bit 32.
func insertBits(x, replacement, offset, count uint32) uint32 {
	offset = min(offset, 32)
	count = min(count, 32-offset)
	mask := uint32(1<<count-1) << offset // Go shifts all bits out where WGSL starts again
	return x&^mask | replacement<<offset&mask
}
