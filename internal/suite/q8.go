package suite

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/ir/eval"
	"github.com/kgen-wgsl/kgen/models/quant"
)

// Q8 is a vector as kernels.QuantQ8 writes it: the codes of all values, scale and scaled sum of each block.
type Q8 struct{ Codes, D, S []float32 }

// ReadQ8 takes the parts out of the bytes of a vector of n values.
func ReadQ8(b []byte, n int) (Q8, error) {
	if len(b) != kernels.Q8Bytes(n) {
		return Q8{}, fmt.Errorf("%d values in %d bytes, want %d", n, len(b), kernels.Q8Bytes(n))
	}
	var v Q8
	for _, code := range b[:n] {
		v.Codes = append(v.Codes, float32(int8(code)))
	}
	pairs := Unfloats(b[n:])
	for i := range n / 32 {
		v.D, v.S = append(v.D, pairs[2*i]), append(v.S, pairs[2*i+1])
	}
	for _, pad := range pairs[n/32*2:] {
		if math.Float32bits(pad) != 0 {
			return v, fmt.Errorf("%d values: the padding holds %v", n, pad)
		}
	}
	return v, nil
}

// Bytes is the opposite of ReadQ8.
func (v Q8) Bytes() []byte {
	var b []byte
	for _, code := range v.Codes {
		b = append(b, byte(int8(code)))
	}
	for i := range v.D {
		b = append(b, Floats([]float32{v.D[i], v.S[i]})...)
	}
	return append(b, make([]byte, kernels.Q8Bytes(len(v.Codes))-len(b))...)
}

// values is what the vector stands for, rounded to f32.
func (v Q8) values() []float32 {
	var all []float32
	for i, code := range v.Codes {
		all = append(all, v.D[i/32]*code)
	}
	return all
}

// ends is a vector of n values whose codes are the largest of either sign, with scales of many sizes. Others number the signs anew.
func ends(n, other int) Q8 {
	var v Q8
	for b := range n / 32 {
		sum := float32(0)
		for j := range 32 {
			v.Codes = append(v.Codes, float32(127-254*((j*(b+1+2*other)/3)%2)))
			sum += v.Codes[b*32+j]
		}
		scale := float32(math.Ldexp(1.3, b%20-10))
		v.D, v.S = append(v.D, scale), append(v.S, scale*sum)
	}
	return v
}

// hard draws a vector whose blocks are of the kinds that quantising may get wrong, in turn. The largest values have sums that no f32
// holds, unless the halves of their blocks are to balance.
func hard(seed uint64, n int, balanced bool) []float32 {
	const least = 0x1p-118
	r := Random(seed)
	x := Normal(r, n, 1)
	for at := 0; at < n; at += 32 {
		block := x[at : at+32]
		scale := func(by float64) {
			for i := range block {
				block[i] = float32(float64(block[i]) * by)
			}
		}
		switch kind := (uint64(at/32) + seed) % 9; kind {
		case 0:
			clear(block)
		case 1:
			scale(math.MaxFloat32 / 8)
			block[r.IntN(16)] = -math.MaxFloat32
			for i := range block[:16] {
				if balanced {
					block[16+i] = -0.9 * block[i]
				}
			}
		case 2: // below what is kept, subnormals among them
			scale(least / 8)
			block[3] = 0x1p-149
		case 3: // kept, with values that are subnormal
			scale(least / 16)
			block[r.IntN(32)] = least
		case 4: // ties: d is 2 where division is exact
			for i := range block {
				block[i] = float32(2*r.IntN(127)+1) * float32(1-2*(i%2))
			}
			block[r.IntN(32)] = 254
		case 5: // all at the ends
			for i := range block {
				block[i] = float32(1-2*r.IntN(2)) * 0.3
			}
		case 6: // one value far above the rest
			scale(1e-4)
			block[r.IntN(32)] = 50
		}
	}
	return x
}

// ulp is the distance between f32 numbers of the size of x.
func ulp(x float64) float64 {
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, exponent-24)
}

// checkQ8 holds a quantised vector to its definition as far as WGSL promises it, which lets a division be off by 2.5 units in
// the last place. So d is max|x|/127 within that, and codes are the integers closest to x/d but where x/d is as close as that to
// a tie. What follows from them is exact: s, zeros, and ties where dividing is exact because d is a power of two.
func checkQ8(x []float32, v Q8) error {
	for b := range v.D {
		if err := checkBlock(x[32*b:][:32], v.Codes[32*b:][:32], v.D[b], v.S[b]); err != nil {
			return fmt.Errorf("block %d: %w", b, err)
		}
	}
	return nil
}

func checkBlock(x, codes []float32, d, s float32) error {
	largest, sum := 0.0, 0
	for i, value := range x {
		largest = max(largest, math.Abs(float64(value)))
		sum += int(codes[i])
	}
	if largest < 0x1p-118 {
		if d != 0 || s != 0 || slices.ContainsFunc(codes, func(c float32) bool { return c != 0 }) {
			return fmt.Errorf("values below 2^-118 are %v, %v, %v", d, s, codes)
		}
		return nil
	}
	if !(math.Abs(float64(d)-largest/127) <= 2.5*ulp(largest/127)) {
		return fmt.Errorf("the scale is %v, want %v", d, largest/127)
	}
	if want := d * float32(sum); s != want {
		return fmt.Errorf("the sum is %v, want %v", s, want)
	}
	fraction, _ := math.Frexp(float64(d))
	for i, value := range x {
		q, code := float64(value)/float64(d), float64(codes[i])
		slack := 2.5 * ulp(q)
		if fraction == 0.5 {
			slack = 0
		}
		if math.Abs(code-q) > 0.5+slack || slack == 0 && code != math.RoundToEven(q) || math.Abs(code) > 127 {
			return fmt.Errorf("value %d is %v of the scale, its code %v", i, q, code)
		}
	}
	return nil
}

// Quantise is what the evaluator makes of a vector.
func Quantise(x []float32) (Q8, error) {
	b := ir.NewBuilder("quantise")
	n := len(x)
	in := b.Input("x", ir.F32, ir.T, ir.Dim(n))
	w := b.Weight("w", ir.Elem(quant.Q8_0), 1, ir.Dim(n))
	b.Output(b.Linear([]string{"y"}, false, in, w)...)
	g, err := b.Graph()
	if err != nil {
		return Q8{}, err
	}
	ir.QuantiseActivations(g)
	got, err := eval.Evaluate(g, map[string]eval.Value{"x": {F32: x}}, eval.Bytes{"w": make([]byte, n/32*34)}, ir.Sizes{T: 1, S: 1})
	return Q8{got["x.q8"].F32, got["x.q8.d"].F32, got["x.q8.s"].F32}, err
}

// quantTrials quantises vectors of hard blocks, each kind of which comes at every place.
func quantTrials(q kernels.QuantQ8, seed uint64) []Trial {
	trial := func(name string, x []float32) Trial {
		return Trial{Name: name, Inputs: map[string][]Part{kernels.X: Whole(Floats(x))}, Check: func(out map[string][]byte) error {
			v, err := ReadQ8(out[kernels.Y], q.Columns)
			return errors.Join(err, checkQ8(x, v))
		}}
	}
	var all []Trial
	for kind := range uint64(9) {
		all = append(all, trial(fmt.Sprint("vector ", kind), hard(seed*9+kind, q.Columns, true)))
	}
	beyond := trial("sums beyond f32", hard(seed*9+1, q.Columns, false))
	beyond.Infinite = true
	return append(all, beyond)
}
