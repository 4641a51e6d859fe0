package sim

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The functions below compute with 300 bits by series of their own, for arguments of moderate size.

const digits = 300

func number(x float64) *big.Float { return new(big.Float).SetPrec(digits).SetFloat64(x) }
func sum(a, b *big.Float) *big.Float {
	return number(0).Add(a, b)
}
func minus(a, b *big.Float) *big.Float      { return number(0).Sub(a, b) }
func times(a, b *big.Float) *big.Float      { return number(0).Mul(a, b) }
func over(a, b *big.Float) *big.Float       { return number(0).Quo(a, b) }
func root(a *big.Float) *big.Float          { return number(0).Sqrt(a) }
func scaled(a *big.Float, n int) *big.Float { return number(0).SetMantExp(a, n) }

// series adds terms until they are too small to count. next returns term n from the one before it.
func series(first *big.Float, next func(term *big.Float, n int) *big.Float) *big.Float {
	total, term := number(0).Set(first), first
	for n := 1; term.Sign() != 0 && n < 2000; n++ {
		if term = next(term, n); total.Sign() != 0 && term.MantExp(nil) < total.MantExp(nil)-digits {
			break
		}
		total = sum(total, term)
	}
	return total
}

// bigExp is the series of e^x at x/256, squared eight times.
func bigExp(x *big.Float) *big.Float {
	small := scaled(x, -8)
	y := series(number(1), func(term *big.Float, n int) *big.Float { return over(times(term, small), number(float64(n))) })
	for range 8 {
		y = times(y, y)
	}
	return y
}

// bigLog solves e^y = x by Newton's steps.
func bigLog(x *big.Float) *big.Float {
	f, _ := x.Float64()
	y := number(math.Log(f))
	for range 5 {
		y = sum(y, minus(times(x, bigExp(number(0).Neg(y))), number(1)))
	}
	return y
}

func bigSin(x *big.Float) *big.Float {
	square := number(0).Neg(times(x, x))
	return series(x, func(term *big.Float, n int) *big.Float {
		return over(times(term, square), number(float64(2*n*(2*n+1))))
	})
}

func bigCos(x *big.Float) *big.Float {
	square := number(0).Neg(times(x, x))
	return series(number(1), func(term *big.Float, n int) *big.Float {
		return over(times(term, square), number(float64(2*n*(2*n-1))))
	})
}

// bigAtan halves the angle six times, then takes x - x³/3 + x⁵/5 ….
func bigAtan(x *big.Float) *big.Float {
	for range 6 {
		x = over(x, sum(number(1), root(sum(number(1), times(x, x)))))
	}
	square := number(0).Neg(times(x, x))
	power := x
	y := series(x, func(_ *big.Float, n int) *big.Float {
		power = times(power, square)
		return over(power, number(float64(2*n+1)))
	})
	return scaled(y, 6)
}

func bigPi() *big.Float { return scaled(bigAtan(number(1)), 2) }

// bigAtan2 is the angle of a point that isn't 0.
func bigAtan2(y, x *big.Float) *big.Float {
	length := root(sum(times(x, x), times(y, y)))
	if y.Sign() == 0 && x.Sign() < 0 {
		return bigPi()
	}
	if x.Sign() > 0 { // y/(length + x) cancels for x below 0
		return scaled(bigAtan(over(y, sum(length, x))), 1)
	}
	return scaled(bigAtan(over(minus(length, x), y)), 1)
}

func bigFloor(x *big.Float) *big.Float {
	n, _ := x.Int(nil)
	y := number(0).SetInt(n)
	if y.Cmp(x) > 0 {
		y = minus(y, number(1))
	}
	return y
}

// realCase is a function with an independent computation of it, for arguments from low to high.
type realCase struct {
	name      string
	low, high float64
	exact     func(x *big.Float) *big.Float
}

func realCases() []realCase {
	one := number(1)
	square := func(x *big.Float) *big.Float { return times(x, x) }
	exp, invert := bigExp, func(x *big.Float) *big.Float { return over(one, x) }
	sinh := func(x *big.Float) *big.Float { return scaled(minus(exp(x), invert(exp(x))), -1) }
	cosh := func(x *big.Float) *big.Float { return scaled(sum(exp(x), invert(exp(x))), -1) }
	return []realCase{
		{"acos", -1, 1, func(x *big.Float) *big.Float { return bigAtan2(root(minus(one, square(x))), x) }},
		{"acosh", 1, 100, func(x *big.Float) *big.Float { return bigLog(sum(x, root(minus(square(x), one)))) }},
		{"asin", -1, 1, func(x *big.Float) *big.Float { return bigAtan2(x, root(minus(one, square(x)))) }},
		{"asinh", -20, 20, func(x *big.Float) *big.Float { return bigLog(sum(x, root(sum(square(x), one)))) }},
		{"atan", -50, 50, bigAtan},
		{"atanh", -1, 1, func(x *big.Float) *big.Float { return scaled(bigLog(over(sum(one, x), minus(one, x))), -1) }},
		{"cos", -20, 20, bigCos},
		{"cosh", -20, 20, cosh},
		{"degrees", -500, 500, func(x *big.Float) *big.Float { return over(times(x, number(180)), bigPi()) }},
		{"exp", -80, 80, bigExp},
		{"exp2", -100, 100, func(x *big.Float) *big.Float { return bigExp(times(x, bigLog(number(2)))) }},
		{"fract", -100, 100, func(x *big.Float) *big.Float { return minus(x, bigFloor(x)) }},
		{"inverseSqrt", 0, 1000, func(x *big.Float) *big.Float { return invert(root(x)) }},
		{"log", 0, 1000, bigLog},
		{"log2", 0, 1000, func(x *big.Float) *big.Float { return over(bigLog(x), bigLog(number(2))) }},
		{"radians", -500, 500, func(x *big.Float) *big.Float { return over(times(x, bigPi()), number(180)) }},
		{"sin", -20, 20, bigSin},
		{"sinh", -20, 20, sinh},
		{"sqrt", 0, 1000, root},
		{"tan", -20, 20, func(x *big.Float) *big.Float { return over(bigSin(x), bigCos(x)) }},
		{"tanh", -8, 8, func(x *big.Float) *big.Float { return over(sinh(x), cosh(x)) }},
	}
}

// TestRealFunctions wants f32 and f16 results within 0.500001 of a unit in the last place of results of 300 bits, and
// 44 right bits before that is rounded.
func TestRealFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, c := range realCases() {
		single, half := floatUnary(c.name, false), floatUnary(c.name, true)
		for range 150 {
			x := float32(c.low + r.Float64()*(c.high-c.low))
			switch r.IntN(4) {
			case 0: // around the ends, and 1
				x = float32([]float64{c.low, c.high, min(c.high, 1)}[r.IntN(3)] * (1 + math.Ldexp(2*r.Float64()-1, -r.IntN(24))))
			case 1: // near 0
				x *= float32(math.Ldexp(1, -r.IntN(20)))
			}
			if float64(x) <= c.low || float64(x) >= c.high {
				continue
			}
			want := c.exact(number(float64(x)))
			near(t, c.name, single(math.Float32bits(x)), want, 24, -149, x)
			off := minus(number(realUnary(c.name)(float64(x))), want)
			if off.Sign() != 0 && off.MantExp(nil) > want.MantExp(nil)-44 {
				t.Errorf("%s(%v) before it is rounded differs by %.2g from %.10g", c.name, x, off, want)
			}
			if h := roundHalf(x); float64(h) > c.low && float64(h) < c.high {
				near(t, c.name+" in f16", half(math.Float32bits(h)), c.exact(number(float64(h))), 11, -24, h)
			}
		}
	}
}

// near fails unless got is want rounded to precision bits, as a multiple of at least 2^least.
func near(t *testing.T, name string, got uint32, want *big.Float, precision, least int, args ...float32) {
	t.Helper()
	f := math.Float32frombits(got)
	last := max(want.MantExp(nil)-precision, least)
	if largest := scaled(number(1), 16); precision == 11 && number(0).Abs(want).Cmp(largest) >= 0 {
		if !math.IsInf(float64(f), want.Sign()) {
			t.Fatalf("%s(%v) = %v, want an infinity", name, args, f)
		}
		return
	}
	if f-f != 0 {
		t.Fatalf("%s(%v) = %v, want %.10g", name, args, f, want)
	}
	off := minus(number(float64(f)), want)
	if off.Abs(off).Cmp(times(number(0.500001), scaled(number(1), last))) > 0 {
		t.Fatalf("%s(%v) = %v, want %.10g", name, args, f, want)
	}
}

func TestPowerAtan2Mix(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	one, two, three := number(1), number(2), number(3)
	pow, atan2 := floatBinary("pow", false), floatBinary("atan2", false)
	mix, smooth := floatTernary("mix", false), floatTernary("smoothstep", false)
	bits := math.Float32bits
	for range 500 {
		x, y, z := float32(r.Float64()*8), float32(r.Float64()*8-4), float32(r.Float64())
		a, b, c := number(float64(x)), number(float64(y)), number(float64(z))
		near(t, "pow", pow(bits(x), bits(y)), bigExp(times(b, bigLog(a))), 24, -149, x, y)
		near(t, "atan2", atan2(bits(y), bits(x)), bigAtan2(b, a), 24, -149, y, x)
		near(t, "atan2", atan2(bits(y), bits(-x)), bigAtan2(b, number(float64(-x))), 24, -149, y, -x)
		near(t, "mix", mix(bits(x), bits(-y), bits(z)), sum(times(a, minus(one, c)), times(number(float64(-y)), c)), 24, -120, x, -y, z)
		low, high := float32(-5), float32(9)
		u := over(sum(b, number(5)), number(14))
		near(t, "smoothstep", smooth(bits(low), bits(high), bits(y)), times(times(u, u), minus(three, times(two, u))), 24, -149, y)
	}
	// The remainder is exact: it and x differ by a whole number of y.
	rest := floatBinary("%", false)
	for range 20000 {
		x, y := scatter(r), scatter(r)
		if y == 0 {
			continue
		}
		a, _ := big.NewFloat(float64(x)).Rat(nil)
		b, _ := big.NewFloat(float64(y)).Rat(nil)
		quotient := new(big.Rat).Quo(a, b)
		whole := new(big.Int).Quo(quotient.Num(), quotient.Denom())
		want, _ := a.Sub(a, b.Mul(b, new(big.Rat).SetInt(whole))).Float32()
		if got := math.Float32frombits(rest(bits(x), bits(y))); got != want {
			t.Fatalf("%v %% %v = %v, want %v", x, y, got, want)
		}
	}
}
