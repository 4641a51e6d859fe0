package suite

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// Words returns the bytes of words, as devices hold them.
func Words(w []uint32) []byte {
	b := make([]byte, 4*len(w))
	for i, v := range w {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	return b
}

// Unwords is the opposite of Words.
func Unwords(b []byte) []uint32 {
	w := make([]uint32, len(b)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return w
}

// Floats returns the bytes of numbers, as devices hold them.
func Floats(f []float32) []byte {
	b := make([]byte, 4*len(f))
	for i, v := range f {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
	}
	return b
}

// Unfloats is the opposite of Floats.
func Unfloats(b []byte) []float32 {
	f := make([]float32, len(b)/4)
	for i := range f {
		f[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return f
}

// Random is a source of numbers that a seed fixes.
func Random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 17)) }

// Normal draws n values of a normal distribution with the given deviation.
func Normal(r *rand.Rand, n int, deviation float64) []float32 {
	f := make([]float32, n)
	for i := range f {
		f[i] = float32(r.NormFloat64() * deviation)
	}
	return f
}

// NMSE is the squared error relative to the squared values wanted; it is NaN when a value is.
func NMSE(got []float32, want []float64) float64 {
	wrong, all := 0.0, 0.0
	for i, w := range want {
		wrong += (float64(got[i]) - w) * (float64(got[i]) - w)
		all += w * w
	}
	return wrong / all
}

// within holds a result to a bound of its NMSE. What should be all zeros has to be.
func within(got []float32, want []float64, bound float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	e := NMSE(got, want)
	if e <= bound {
		return nil
	}
	worst, at := -1.0, 0
	zeros := true
	for i, w := range want {
		zeros = zeros && w == 0 && got[i] == 0
		if off := math.Abs(float64(got[i]) - w); off > worst || off != off {
			worst, at = off, i
		}
	}
	if zeros {
		return nil
	}
	return fmt.Errorf("NMSE %.3g exceeds %.3g; value %d of %d is %v, want %v", e, bound, at, len(want), got[at], want[at])
}
