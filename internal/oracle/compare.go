package oracle

import (
	"fmt"
	"math"
	"slices"
)

// Limits are the largest differences that a path may show. Zero means that there is no limit.
type Limits struct {
	NMSE   float64 // of logits, and of the first values of each layer's input
	MaxAbs float64 // of logits
	RMS    float64 // of a layer's input, relative
	NLL    float64 // of a text's mean negative log-likelihood
}

// The limits of the paths.
var (
	CPU   = Limits{NMSE: 1e-10, MaxAbs: 2e-4, RMS: 1e-5, NLL: 1e-4} // f32 values, f64 or f32 sums, f32 KV cache
	GPU   = Limits{NMSE: 1e-8, MaxAbs: 2e-3, RMS: 1e-5, NLL: 1e-4}  // f32 throughout
	KVF16 = Limits{NMSE: 1e-5, RMS: 1e-3, NLL: 1e-3}                // f16 KV cache

	FastTiny = Limits{NMSE: 5e-3} // activations of 8 bits, tiny models
	FastReal = Limits{NMSE: 1e-2} // and real ones
)

// Figures are the largest differences that were seen.
type Figures struct {
	Limits
	Greedy, Excused int // greedy ids compared, and those not compared because they come after a near tie that differed
}

// String prints the figures for a log.
func (f Figures) String() string {
	return fmt.Sprintf("logits NMSE %.1e, max abs %.1e; layer RMS %.1e; mean NLL %.1e; %d greedy ids equal, %d excused",
		f.NMSE, f.MaxAbs, f.RMS, f.NLL, f.Greedy, f.Excused)
}

func (f *Figures) merge(g Figures) {
	f.NMSE, f.MaxAbs = max(f.NMSE, g.NMSE), max(f.MaxAbs, g.MaxAbs)
	f.RMS, f.NLL = max(f.RMS, g.RMS), max(f.NLL, g.NLL)
	f.Greedy += g.Greedy
	f.Excused += g.Excused
}

// NMSE returns Σ(want-got)² / Σwant². A NaN anywhere makes it one.
func NMSE(got, want []float32) float64 {
	var difference, norm float64
	for i, w := range want {
		d := float64(w) - float64(got[i])
		difference += d * d
		norm += float64(w) * float64(w)
	}
	if norm == 0 {
		return difference
	}
	return difference / norm
}

// MaxAbs returns the largest |want-got|; a NaN anywhere makes it one.
func MaxAbs(got, want []float32) float64 {
	var largest float64
	for i, w := range want {
		largest = max(largest, math.Abs(float64(w)-float64(got[i])))
	}
	return largest
}

// FirstDifference compares greedy ids. It returns the step of the first difference, -1 for none, and whether it is
// excused because the reference was nearly tied there: what follows has no reference then.
func FirstDifference(got, want []uint32, nearTies []int) (step int, excused bool) {
	for i, id := range want {
		if i >= len(got) {
			return i, false
		}
		if got[i] != id {
			return i, slices.Contains(nearTies, i)
		}
	}
	return -1, false
}

// LogSumExp returns ln Σ e^x.
func LogSumExp(x []float32) float64 {
	largest := float64(slices.Max(x))
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v) - largest)
	}
	return largest + math.Log(sum)
}
