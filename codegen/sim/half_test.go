package sim

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/x448/float16"
)

// TestHalfBits compares all 65536 binary16 with package float16, both ways.
func TestHalfBits(t *testing.T) {
	for h := range 1 << 16 {
		want, got := float16.Frombits(uint16(h)).Float32(), halfFloat(uint16(h))
		if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
			t.Fatalf("%#04x is %v, want %v", h, got, want)
		}
		switch back := halfBits(want); {
		case want != want && (back&0x7c00 != 0x7c00 || back&0x3ff == 0):
			t.Fatalf("the NaN %#04x became %#04x", h, back)
		case want == want && back != uint16(h):
			t.Fatalf("%v became %#04x, want %#04x", want, back, h)
		}
	}
}

// halves are the finite values of binary16 from -65504 to 65504, and what the next ones would be, which stand for infinities.
func halves() []float64 {
	list := []float64{-65536, 65536}
	for h := range 1 << 16 {
		if v := float64(float16.Frombits(uint16(h)).Float32()); !math.IsInf(v, 0) && v == v && h != 0x8000 {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return list
}

// nearestHalf looks for the nearest among halves, of two the one with an even fraction.
func nearestHalf(list []float64, x *big.Float) float32 {
	f, _ := x.Float64()
	at, _ := slices.BinarySearch(list, f)
	best, distance := 0.0, new(big.Float).SetInf(false)
	for _, v := range list[max(at-2, 0):min(at+3, len(list))] {
		d := new(big.Float).SetPrec(2000).Sub(x, big.NewFloat(v))
		c := d.Abs(d).Cmp(distance)
		if c < 0 || c == 0 && (math.Abs(v) == 65536 || float16.Fromfloat32(float32(v)).Bits()&1 == 0) {
			best, distance = v, d
		}
	}
	if math.Abs(best) == 65536 {
		best = math.Inf(int(best))
	}
	return float32(best)
}

func TestRoundHalf(t *testing.T) {
	list := halves()
	check := func(x float64) {
		t.Helper()
		if want, got := nearestHalf(list, big.NewFloat(x)), halfOf64(x); got != want {
			t.Fatalf("%v rounds to %v, want %v", x, got, want)
		}
		if f := float32(x); float64(f) == x && roundHalf(f) != halfOf64(x) {
			t.Fatalf("%v rounds to %v as a float32, to %v as a float64", x, roundHalf(f), halfOf64(x))
		}
	}
	for i, v := range list[1:] {
		middle := (v + list[i]) / 2
		check(v)
		check(middle)
		check(math.Nextafter(middle, v))
		check(math.Nextafter(middle, list[i]))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		check(math.Ldexp(r.Float64()-0.5, r.IntN(48)-30))
	}
	for _, x := range []float64{70000, -1e10, 1e-20, -1e-300, 65519.999, 65520} {
		check(x)
	}
	if x := halfOf64(math.Copysign(0, -1)); !math.Signbit(float64(x)) {
		t.Error("-0 lost its sign")
	}
	if x := halfOf64(math.NaN()); x == x {
		t.Error("NaN became", x)
	}
}

// TestHalfOperators compares operations on f16 in float32, rounded then, with the exact results rounded once.
func TestHalfOperators(t *testing.T) {
	list := halves()
	list = list[1 : len(list)-1]
	r := rand.New(rand.NewPCG(3, 4))
	exact := func() *big.Float { return new(big.Float).SetPrec(400) }
	for range 100000 {
		x, y := list[r.IntN(len(list))], list[r.IntN(len(list))]
		a, b, p, q := float32(x), float32(y), big.NewFloat(x), big.NewFloat(y)
		type result struct {
			got  float32
			want *big.Float
		}
		results := map[string]result{
			"+": {roundHalf(a + b), exact().Add(p, q)},
			"-": {roundHalf(a - b), exact().Sub(p, q)},
			"*": {roundHalf(a * b), exact().Mul(p, q)},
		}
		if b != 0 {
			results["/"] = result{roundHalf(a / b), exact().Quo(p, q)}
		}
		for operator, v := range results {
			if want := nearestHalf(list, v.want); math.Abs(float64(want)) < 65504 && v.got != want {
				t.Fatalf("%v %s %v = %v, want %v", a, operator, b, v.got, want)
			}
		}
	}
}
