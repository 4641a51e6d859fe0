package sim

import (
	"math"
	"testing"
)

// TestFloatFunctions holds functions of floats to values that follow from WGSL's text.
func TestFloatFunctions(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tiny := float64(math.Float32frombits(1))
	tests := []struct {
		name string
		args []float64
		want float64
	}{
		{"abs", []float64{-1.5}, 1.5}, {"abs", []float64{-inf}, inf}, {"negate", []float64{1.5}, -1.5},
		{"ceil", []float64{1.2}, 2}, {"ceil", []float64{-1.2}, -1}, {"floor", []float64{-1.2}, -2}, {"floor", []float64{16777217}, 16777216},
		{"round", []float64{0.5}, 0}, {"round", []float64{1.5}, 2}, {"round", []float64{2.5}, 2}, {"round", []float64{-2.5}, -2},
		{"round", []float64{-0.75}, -1}, {"trunc", []float64{-1.9}, -1}, {"trunc", []float64{1.9}, 1},
		{"sign", []float64{-tiny}, -1}, {"sign", []float64{0}, 0}, {"sign", []float64{inf}, 1}, {"sign", []float64{nan}, nan},
		{"saturate", []float64{-3}, 0}, {"saturate", []float64{0.25}, 0.25}, {"saturate", []float64{3}, 1},
		{"fract", []float64{-0.25}, 0.75}, {"fract", []float64{-1e-9}, 1}, {"fract", []float64{3.5}, 0.5},
		{"quantizeToF16", []float64{1 + 1.0/2048}, 1}, {"quantizeToF16", []float64{1 + 3.0/2048}, 1 + 4.0/2048},
		{"quantizeToF16", []float64{65520}, inf}, {"quantizeToF16", []float64{1.0 / (1 << 25)}, 0},
		{"exp", []float64{0}, 1}, {"exp", []float64{100}, inf}, {"exp", []float64{-200}, 0}, {"exp2", []float64{10}, 1024},
		{"exp2", []float64{-149}, tiny}, {"log2", []float64{8}, 3}, {"log2", []float64{tiny}, -149}, {"log", []float64{0}, -inf},
		{"log", []float64{-1}, nan}, {"sqrt", []float64{9}, 3}, {"sqrt", []float64{-1}, nan}, {"inverseSqrt", []float64{4}, 0.5},
		{"inverseSqrt", []float64{0}, inf}, {"acos", []float64{1}, 0}, {"acos", []float64{-1}, float64(float32(math.Pi))},
		{"acos", []float64{1.5}, nan}, {"asin", []float64{2}, nan}, {"acosh", []float64{0.5}, nan}, {"atanh", []float64{1}, inf},
		{"sin", []float64{inf}, nan}, {"tanh", []float64{100}, 1}, {"degrees", []float64{0}, 0}, {"radians", []float64{180}, float64(float32(math.Pi))},

		{"min", []float64{1, 2}, 1}, {"min", []float64{nan, 2}, 2}, {"min", []float64{2, nan}, 2}, {"max", []float64{-1, -2}, -1},
		{"max", []float64{nan, 2}, 2}, {"max", []float64{2, nan}, 2}, {"max", []float64{nan, nan}, nan}, {"max", []float64{-inf, inf}, inf},
		{"step", []float64{1, 1}, 1}, {"step", []float64{1, 0.5}, 0}, {"step", []float64{0.5, 1}, 1},
		{"atan2", []float64{1, 0}, float64(float32(math.Pi / 2))}, {"atan2", []float64{1, -1}, float64(float32(3 * math.Pi / 4))},
		{"atan2", []float64{-1, -1}, float64(float32(-3 * math.Pi / 4))},
		{"pow", []float64{2, 10}, 1024}, {"pow", []float64{-2, 2}, nan}, {"pow", []float64{0, 2}, 0}, {"pow", []float64{inf, 0}, nan},
		{"pow", []float64{1, inf}, nan}, {"%", []float64{5.5, 2}, 1.5}, {"%", []float64{-5.5, 2}, -1.5}, {"%", []float64{1, 0}, nan},
		{"%", []float64{1, inf}, nan}, {"%", []float64{5.5, -2}, 1.5},

		{"clamp", []float64{5, 1, 3}, 3}, {"clamp", []float64{0, 1, 3}, 1}, {"clamp", []float64{2, 1, 3}, 2}, {"clamp", []float64{2, 3, 1}, 1},
		{"fma", []float64{2, 3, 4}, 10}, {"mix", []float64{1, 3, 0.25}, 1.5}, {"mix", []float64{1, 3, 2}, 5},
		{"smoothstep", []float64{0, 2, 1}, 0.5}, {"smoothstep", []float64{0, 2, -1}, 0}, {"smoothstep", []float64{0, 2, 3}, 1},
		{"smoothstep", []float64{2, 0, 0.5}, 0.84375},
	}
	for _, test := range tests {
		for _, half := range []bool{false, true} {
			got := apply(test.name, half, test.args)
			want := float32(test.want)
			if half && representable(test.args) {
				want = halfOf64(test.want)
			} else if half {
				continue
			}
			if math.Float32bits(got)&^signBit != math.Float32bits(want)&^signBit && (got == got || want == want) || got*want < 0 {
				t.Errorf("%s(%v) = %v, want %v (f16 %v)", test.name, test.args, got, want, half)
			}
		}
	}
}

func representable(values []float64) bool {
	for _, v := range values {
		if h := float64(halfOf64(v)); h != v {
			return false
		}
	}
	return true
}

func apply(name string, half bool, args []float64) float32 {
	var x [3]uint32
	for i, a := range args {
		x[i] = math.Float32bits(float32(a))
	}
	switch len(args) {
	case 1:
		return math.Float32frombits(floatUnary(name, half)(x[0]))
	case 2:
		return math.Float32frombits(floatBinary(name, half)(x[0], x[1]))
	}
	return math.Float32frombits(floatTernary(name, half)(x[0], x[1], x[2]))
}

func TestUnknownFunctions(t *testing.T) {
	for _, name := range []string{"", "dot", "sine"} {
		width, _ := packer(name)
		other, _ := unpacker(name)
		if floatUnary(name, false) != nil || floatBinary(name, true) != nil || floatTernary(name, false) != nil || width+other != 0 ||
			integerUnary(name, true) != nil || integerBinary(name, false) != nil {
			t.Errorf("%q is a function", name)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, x := range []float32{0, 1, -1, 0.75, -3.5, 1e30, -1e-30, math.SmallestNonzeroFloat32, 0x1p-126, math.MaxFloat32, 65504} {
		fract, exp := frexp(math.Float32bits(x))
		f := math.Float32frombits(fract)
		if a := math.Abs(float64(f)); x != 0 && (a < 0.5 || a >= 1) || float64(f)*math.Pow(2, float64(int32(exp))) != float64(x) {
			t.Errorf("frexp(%v) = %v, %d", x, f, int32(exp))
		}
		if back := math.Float32frombits(ldexp(fract, exp, false)); back != x {
			t.Errorf("ldexp(%v, %d) = %v, want %v", f, int32(exp), back, x)
		}
	}
	for x, want := range map[float32][2]float32{1.5: {0.5, 1}, -1.25: {-0.25, -1}, 3: {0, 3}, 0.5: {0.5, 0}} {
		fract, whole := modf(math.Float32bits(x))
		if got := [2]float32{math.Float32frombits(fract), math.Float32frombits(whole)}; got != want {
			t.Errorf("modf(%v) = %v, want %v", x, got, want)
		}
	}
	three := math.Float32bits(3) // 3·2^-150 is halfway between 1 and 2 of the least float32; 2 is even
	for _, test := range []struct {
		exp  int32
		half bool
		want float32
	}{
		{-150, false, 0x1p-148}, {-151, false, 0x1p-149}, {-152, false, 0}, {200, false, float32(math.Inf(1))}, {-2147483648, false, 0},
		{14, true, 49152}, {15, true, float32(math.Inf(1))}, {-25, true, 0x1p-23}, {-26, true, 0x1p-24}, {-27, true, 0},
	} {
		if got := math.Float32frombits(ldexp(three, uint32(test.exp), test.half)); got != test.want {
			t.Errorf("ldexp(3, %d) = %v, want %v (f16 %v)", test.exp, got, test.want, test.half)
		}
	}
}
