package suite

import (
	"fmt"
	"math"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
)

// rmsNormTrials normalises values of a usual size, and some whose squares are about as large as what is added to their mean.
func rmsNormTrials(n kernels.RMSNorm, seed uint64) []Trial {
	trials := []Trial{rmsNormTrial(n, 2, seed), rmsNormTrial(n, math.Sqrt(n.Eps), seed)}
	trials[1].Name = "small values"
	return trials
}

func rmsNormTrial(n kernels.RMSNorm, deviation float64, seed uint64) Trial {
	r := Random(seed)
	x, w := Normal(r, n.Rows*n.Columns, deviation), Normal(r, n.Columns, 1)
	want := make([]float64, n.Rows*n.Columns)
	for row := range n.Rows {
		sum := 0.0
		for _, v := range x[row*n.Columns:][:n.Columns] {
			sum += float64(v) * float64(v)
		}
		for c := range n.Columns {
			want[row*n.Columns+c] = float64(x[row*n.Columns+c]) / math.Sqrt(sum/float64(n.Columns)+n.Eps) * float64(w[c])
		}
	}
	result := kernels.Y
	if n.InPlace {
		result = kernels.X
	}
	return Trial{
		Inputs: map[string][]Part{kernels.X: Whole(Floats(x)), kernels.NormWeights: Whole(Floats(w))},
		Check:  func(out map[string][]byte) error { return within(Unfloats(out[result]), want, 1e-10) },
	}
}

// eachTrials computes every value of x and y by itself. The first x is one whose exponential is no f32, the second its negative.
func eachTrials(left, right, result string, n int, seed uint64, f func(x, y float64) float64) []Trial {
	r := Random(seed)
	x, y := Normal(r, n, 4), Normal(r, n, 1)
	x[0] = -1000
	if n > 1 {
		x[1] = 1000
	}
	want := make([]float64, n)
	for i := range want {
		want[i] = f(float64(x[i]), float64(y[i]))
	}
	inputs := map[string][]Part{left: Whole(Floats(x))}
	if right != "" {
		inputs[right] = Whole(Floats(y))
	}
	return []Trial{{Inputs: inputs, Check: func(out map[string][]byte) error {
		return checkEach(Unfloats(out[result]), want)
	}}}
}

// checkEach holds the two extreme values to a relative error of 1e-6, and the others to an NMSE of 1e-12.
func checkEach(got []float32, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	extremes := min(2, len(want))
	for i, w := range want[:extremes] {
		if e := math.Abs(float64(got[i]) - w); !(e <= 1e-6*math.Abs(w)+1e-30) { // f32 may flush what is left
			return fmt.Errorf("value %d is %v, want %v", i, got[i], w)
		}
	}
	return within(got[extremes:], want[extremes:], 1e-12)
}

func addTrials(a kernels.Add, seed uint64) []Trial {
	result := kernels.Y
	if a.InPlace {
		result = kernels.AddLeft
	}
	return eachTrials(kernels.AddLeft, kernels.AddRight, result, a.N, seed, func(x, y float64) float64 { return x + y })
}

func gluTrials(g kernels.GLU, seed uint64) []Trial {
	act := func(x float64) float64 { return x / (1 + math.Exp(-x)) }
	if g.Act == ir.GELU {
		act = func(x float64) float64 { return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) }
	}
	return eachTrials(kernels.Gate, kernels.Up, kernels.Y, g.N, seed, func(x, y float64) float64 { return act(x) * y })
}

func softcapTrials(c kernels.Softcap, seed uint64) []Trial {
	return eachTrials(kernels.X, "", kernels.Y, c.N, seed, func(x, _ float64) float64 { return c.Cap * math.Tanh(x/c.Cap) })
}
