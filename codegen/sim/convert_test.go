package sim

import (
	"math"
	"math/big"
	"testing"
)

// TestFloatToInteger has the examples of WGSL's section on conversions, and edges.
func TestFloatToInteger(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, test := range []struct {
		x        float32
		signed   int32
		unsigned uint32
	}{
		{3.9, 3, 3}, {-1, -1, 0}, {-3.9, -3, 0}, {1e20, 2147483520, 4294967040}, {-1e20, -2147483648, 0}, {0, 0, 0}, {-0.5, 0, 0},
		{2147483648, 2147483520, 2147483648}, {2147483520, 2147483520, 2147483520}, {4294967040, 2147483520, 4294967040}, {-2147483648, -2147483648, 0},
		{inf, 2147483520, 4294967040}, {-inf, -2147483648, 0}, {float32(math.NaN()), 0, 0}, {16777217, 16777216, 16777216},
	} {
		b := math.Float32bits(test.x)
		if got := int32(floatToSigned(b)); got != test.signed {
			t.Errorf("i32(%v) = %d, want %d", test.x, got, test.signed)
		}
		if got := floatToUnsigned(b); got != test.unsigned {
			t.Errorf("u32(%v) = %d, want %d", test.x, got, test.unsigned)
		}
	}
	for x, want := range map[float32][2]uint32{inf: {65504, 65504}, -inf: {1<<32 - 65504, 0}, -2.5: {1<<32 - 2, 0}, 65504: {65504, 65504}} {
		if got := [2]uint32{halfToSigned(math.Float32bits(x)), halfToUnsigned(math.Float32bits(x))}; got != want {
			t.Errorf("the f16 %v became %d, want %d", x, got, want)
		}
	}
}

func TestIntegerToFloat(t *testing.T) {
	list := halves()
	for _, x := range append(words(), 16777217, 16777219, 0x7fffffbf, 0x7fffffc0, 2049, 2051, 65519, 65520, 65504) {
		for _, signed := range []bool{true, false} {
			single, half := unsignedToFloat, unsignedToHalf
			if signed {
				single, half = signedToFloat, signedToHalf
			}
			v := new(big.Float).SetInt(value(x, signed))
			want, _ := v.Float32()
			if got := math.Float32frombits(single(x)); got != want {
				t.Errorf("f32(%v) = %v, want %v", v, got, want)
			}
			if got, want := math.Float32frombits(half(x)), nearestHalf(list, v); got != want {
				t.Errorf("f16(%v) = %v, want %v", v, got, want)
			}
		}
	}
	if got := math.Float32frombits(floatToHalf(math.Float32bits(1.0009765))); got != 1.0009765625 {
		t.Error("f16(1.0009765) =", got)
	}
}

func TestBools(t *testing.T) {
	for x, want := range map[float32]uint32{0: 0, float32(math.Copysign(0, -1)): 0, -1: 1, 1e-45: 1, float32(math.NaN()): 1} {
		if got := floatToBool(math.Float32bits(x)); got != want {
			t.Errorf("bool(%v) = %d", x, got)
		}
	}
	if integerToBool(0) != 0 || integerToBool(1<<31) != 1 || boolToFloat(1) != math.Float32bits(1) || boolToFloat(0) != 0 {
		t.Error("bools and numbers convert wrongly")
	}
}
