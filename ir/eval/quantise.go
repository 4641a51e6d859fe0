package eval

import (
	"math"

	"github.com/kgen-wgsl/kgen/ir"
)

// codeBlock is the number of values that share a scale.
const codeBlock = 32

// leastLargest is the largest magnitude below which a block is zero: see ir.QuantQ8.
const leastLargest = 0x1p-118

// quantQ8 makes codes, scales and scaled sums of every block of x.
func (r *run) quantQ8(n *ir.Node) {
	x := r.floats(n.In[0])
	codes, scales, sums := r.make(n.Out[0]), r.make(n.Out[1]), r.make(n.Out[2])
	for i := range scales {
		at := i * codeBlock
		scales[i], sums[i] = quantise(codes[at:at+codeBlock], x[at:at+codeBlock])
	}
}

// quantise writes the codes of a block and returns its scale and scaled sum. A block with a NaN or an infinity has the scale
// NaN, so that it is seen.
func quantise(codes, x []float32) (d, s float32) {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(float64(v))) // NaN when v is
	}
	clear(codes)
	switch {
	case math.IsNaN(largest) || math.IsInf(largest, 0):
		d = float32(math.NaN())
		return d, d
	case largest < leastLargest:
		return 0, 0
	}
	d = float32(largest) / 127
	sum := float32(0) // of integers: exact
	for i, v := range x {
		// A quotient of two f32 is never so close to a tie that rounding it to f64 makes it one.
		codes[i] = float32(math.RoundToEven(float64(v) / float64(d)))
		sum += codes[i]
	}
	return d, d * sum
}

// linearQ8 is linear on d·codes, which are exact in f64.
func (r *run) linearQ8(n *ir.Node) {
	codes, scales := r.floats(n.In[0]), r.floats(n.In[1])
	x := sized(r.wide, len(codes))
	r.wide = x
	for i, code := range codes {
		x[i] = float64(code) * float64(scales[i/codeBlock])
	}
	r.products(n, 3, x)
}
