package sim

import "math"

// The functions of this file take and give scalars as the bits of float32. With half they compute on f16: arguments are f16 values,
// the result is rounded once to f16. Where WGSL allows an error, the result is the float nearest to the exact value, but for float64's
// own errors, about 2^-50. Outside of a function's domain it is NaN.

// floatUnary returns a built-in function of one float, or "negate" for the operator. It is nil for a name that is none.
func floatUnary(name string, half bool) func(uint32) uint32 {
	if f := exactUnary(name); f != nil {
		return f
	}
	f := realUnary(name)
	switch {
	case f == nil:
		return nil
	case half:
		return func(x uint32) uint32 { return math.Float32bits(halfOf64(f(wide(x)))) }
	}
	return func(x uint32) uint32 { return math.Float32bits(float32(f(wide(x)))) }
}

func wide(x uint32) float64 { return float64(math.Float32frombits(x)) }

const (
	signBit  = 1 << 31
	floatOne = 0x3f800000
)

// exactUnary returns a function whose result needs no rounding: it is as good for f16.
func exactUnary(name string) func(uint32) uint32 {
	switch name {
	case "abs":
		return func(x uint32) uint32 { return x &^ signBit }
	case "negate":
		return func(x uint32) uint32 { return x ^ signBit }
	case "ceil":
		return integral(math.Ceil)
	case "floor":
		return integral(math.Floor)
	case "round":
		return integral(math.RoundToEven)
	case "trunc":
		return integral(math.Trunc)
	case "sign":
		return signFloat
	case "saturate":
		return func(x uint32) uint32 { return minFloat(maxFloat(x, 0), floatOne) }
	case "quantizeToF16":
		return func(x uint32) uint32 { return math.Float32bits(roundHalf(math.Float32frombits(x))) }
	}
	return nil
}

func integral(f func(float64) float64) func(uint32) uint32 {
	return func(x uint32) uint32 { return math.Float32bits(float32(f(wide(x)))) }
}

func signFloat(x uint32) uint32 {
	switch f := math.Float32frombits(x); {
	case f > 0:
		return floatOne
	case f < 0:
		return floatOne | signBit
	case f == 0:
		return 0
	}
	return x
}

// realUnary returns a function of real numbers. Those of package math are used where they are good to the last bits of float64 for
// every float32.
func realUnary(name string) func(float64) float64 {
	switch name {
	case "acos": // math.Acos loses digits near 1
		return func(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }
	case "acosh":
		return math.Acosh
	case "asin":
		return math.Asin
	case "asinh":
		return math.Asinh
	case "atan":
		return math.Atan
	case "atanh":
		return math.Atanh
	case "cos":
		return math.Cos
	case "cosh":
		return math.Cosh
	case "degrees":
		return func(x float64) float64 { return x * (180 / math.Pi) }
	case "exp":
		return math.Exp
	case "exp2":
		return math.Exp2
	case "fract":
		return func(x float64) float64 { return x - math.Floor(x) }
	case "inverseSqrt":
		return func(x float64) float64 { return 1 / math.Sqrt(x) }
	case "log":
		return math.Log
	case "log2": // math.Log2 loses digits near 1
		return func(x float64) float64 { return math.Log(x) * math.Log2E }
	case "radians":
		return func(x float64) float64 { return x * (math.Pi / 180) }
	case "sin":
		return math.Sin
	case "sinh":
		return math.Sinh
	case "sqrt":
		return math.Sqrt
	case "tan":
		return math.Tan
	case "tanh":
		return math.Tanh
	}
	return nil
}

// floatBinary returns a built-in function of two floats, or the operator %. It is nil for a name that is none.
func floatBinary(name string, half bool) func(a, b uint32) uint32 {
	var f func(a, b float64) float64
	switch name {
	case "max":
		return maxFloat
	case "min":
		return minFloat
	case "step":
		return func(edge, x uint32) uint32 {
			if wide(edge) <= wide(x) {
				return floatOne
			}
			return 0
		}
	case "%":
		f = remainder
	case "atan2":
		f = math.Atan2
	case "pow":
		f = power
	default:
		return nil
	}
	if half {
		return func(a, b uint32) uint32 { return math.Float32bits(halfOf64(f(wide(a), wide(b)))) }
	}
	return func(a, b uint32) uint32 { return math.Float32bits(float32(f(wide(a), wide(b)))) }
}

// maxFloat returns the larger of two floats. Of a NaN and a number it is the number.
func maxFloat(a, b uint32) uint32 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	if x < y || x != x {
		return b
	}
	return a
}

// minFloat returns the smaller of two floats. Of a NaN and a number it is the number.
func minFloat(a, b uint32) uint32 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	if y < x || x != x {
		return b
	}
	return a
}

// power is pow within WGSL's domain.
func power(x, y float64) float64 {
	if x < 0 || x == 1 && math.IsInf(y, 0) || math.IsInf(x, 0) && y == 0 {
		return math.NaN()
	}
	return math.Pow(x, y)
}

// remainder is x - y·trunc(x/y), exact.
func remainder(x, y float64) float64 {
	if math.IsInf(y, 0) {
		return math.NaN()
	}
	return math.Mod(x, y)
}

// floatTernary returns a built-in function of three floats. It is nil for a name that is none.
func floatTernary(name string, half bool) func(a, b, c uint32) uint32 {
	switch name {
	case "clamp":
		return func(x, low, high uint32) uint32 { return minFloat(maxFloat(x, low), high) }
	case "fma":
		f := fma32
		if half {
			f = fmaHalf
		}
		return func(a, b, c uint32) uint32 {
			return math.Float32bits(f(math.Float32frombits(a), math.Float32frombits(b), math.Float32frombits(c)))
		}
	case "mix":
		return rounded(mix, half)
	case "smoothstep":
		return rounded(smoothstep, half)
	}
	return nil
}

func rounded(f func(a, b, c float64) float64, half bool) func(a, b, c uint32) uint32 {
	if half {
		return func(a, b, c uint32) uint32 { return math.Float32bits(halfOf64(f(wide(a), wide(b), wide(c)))) }
	}
	return func(a, b, c uint32) uint32 { return math.Float32bits(float32(f(wide(a), wide(b), wide(c)))) }
}

func mix(x, y, t float64) float64 {
	first, second := x*(1-t), y*t
	return first + second
}

func smoothstep(low, high, x float64) float64 {
	t := (x - low) / (high - low)
	t = min(max(t, 0), 1)
	return t * t * (3 - 2*t)
}
