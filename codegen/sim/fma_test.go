package sim

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFMA compares with sums of 2000 bits, rounded by math/big.
func TestFMA(t *testing.T) {
	check := func(a, b, c float32) {
		t.Helper()
		want, _ := exactFMA(a, b, c).Float32()
		if got := fma32(a, b, c); got != want {
			t.Fatalf("fma(%b, %b, %b) = %b, want %b", a, b, c, got, want)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	wide := 0
	for range 300000 {
		c := float32(math.Ldexp(1+float64(r.IntN(1<<23))/(1<<23), r.IntN(40)-20))
		check(scatter(r), scatter(r), scatter(r))
		check(scatter(r), scatter(r), c)
		// Half of c's last place, and a part beyond float64.
		half := math.Ldexp(1, math.Ilogb(float64(c))-24)
		factor := 1 + float64(r.IntN(5)-2)/(1<<23)
		a, b := float32(factor), float32(half*(1+float64(r.IntN(5)-2)/(1<<23)))
		for _, sign := range []float32{1, -1} {
			check(sign*a, b, c)
			check(sign*a, b, -c)
			check(sign*float32(math.Ldexp(float64(a), -30)), float32(math.Ldexp(1, -10)), c)
		}
		if s := float32(float64(a)*float64(b) + float64(c)); s != fma32(a, b, c) {
			wide++
		}
	}
	if wide == 0 {
		t.Error("no case needed more than float64")
	}
	tiny := math.Float32frombits(1)
	for _, c := range []float32{tiny, -tiny, 3 * tiny, 0x1p-126, -0x1p-126} {
		for _, a := range []float32{0x1p-75, 0x1.8p-75, 0x1.000002p-75, 0x1.fffffep-76} {
			for _, b := range []float32{0x1p-75, 0x1p-74, 0x1.000002p-75, -0x1.fffffep-76, tiny} {
				check(a, b, c)
			}
		}
	}
	inf := float32(math.Inf(1))
	for _, x := range []float32{fma32(inf, 0, 1), fma32(inf, 1, -inf), fma32(1, 1, float32(math.NaN()))} {
		if x == x {
			t.Error("got", x, "want NaN")
		}
	}
	if x := fma32(math.MaxFloat32, 2, 0); x != inf {
		t.Error("got", x)
	}
}

func exactFMA(a, b, c float32) *big.Float {
	product := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
	return product.Add(product, big.NewFloat(float64(c)))
}

// scatter returns a finite float32 of any exponent, with few bits or many.
func scatter(r *rand.Rand) float32 {
	for {
		b := r.Uint32()
		if r.IntN(2) == 0 {
			b &^= 1<<r.IntN(23) - 1
		}
		if f := math.Float32frombits(b); f-f == 0 {
			return f
		}
	}
}

func TestFMAHalf(t *testing.T) {
	list := halves()
	finite := list[1 : len(list)-1]
	r := rand.New(rand.NewPCG(7, 8))
	for range 200000 {
		a, b, c := finite[r.IntN(len(finite))], finite[r.IntN(len(finite))], finite[r.IntN(len(finite))]
		if r.IntN(2) == 0 && c != 0 { // near half of c's last place
			b = float64(roundHalf(float32(math.Ldexp(1+float64(r.IntN(3)-1)/1024, math.Ilogb(c)-11-math.Ilogb(a+1e-9)))))
		}
		if math.IsInf(b, 0) {
			continue
		}
		x := exactFMA(float32(a), float32(b), float32(c))
		if f, _ := x.Float64(); math.Abs(f) > 65504 {
			continue
		}
		if want, got := nearestHalf(list, x), fmaHalf(float32(a), float32(b), float32(c)); got != want {
			t.Fatalf("fma(%v, %v, %v) = %v, want %v", a, b, c, got, want)
		}
	}
}
