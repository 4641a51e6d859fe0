package suite

import (
	"fmt"
	"math"
	"slices"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// Product is what rows of y = W·x + added should be, and how far rounding may move them.
type Product struct {
	Want    []float64
	bound   []float64
	power   []float64 // the sum of the squared terms of each row
	columns int
}

// Row is a row of a product: of a weight, with what is added to it.
type Row struct {
	Weight Weight
	Row    int
	Added  []float32 // residual, bias
}

// NewProduct computes a product in float64. The bound of a row comes from the number of terms, K, and what they reach: n rounded
// sums in any order are off by about √n units of the last place (2^-24) of Σ|terms|, 4 of which leave room for every order and for
// rounded products. Formats that take an offset out of the sum reach d times the largest code before it is subtracted.
func NewProduct(format quant.Type, columns int, x []float32, rows []Row) Product {
	p := Product{columns: columns}
	for _, r := range rows {
		sum, reach, power := 0.0, 0.0, 0.0
		for _, v := range r.Added {
			sum += float64(v)
			reach += math.Abs(float64(v))
			power += float64(v) * float64(v)
		}
		for c := range columns {
			at := r.Row*columns + c
			term := float64(r.Weight.Values[at]) * float64(x[c])
			sum += term
			reach += r.Weight.reach(format, at) * math.Abs(float64(x[c]))
			power += term * term
		}
		p.Want, p.power = append(p.Want, sum), append(p.power, power)
		p.bound = append(p.bound, 4*math.Sqrt(float64(columns))*0x1p-24*reach)
	}
	return p
}

// reach is the largest size of a value on the way to its product. Formats whose offsets leave the sum have the product of scale and
// code, and the offset: at most what separates the values of a group, which are many and random, and the largest of them.
func (w Weight) reach(format quant.Type, at int) float64 {
	switch format {
	case quant.Q4_0, quant.Q4_1, quant.Q5_0, quant.Q5_1, quant.Q2_K, quant.Q3_K, quant.Q4_K, quant.Q5_K, quant.Q6_K:
		const group = 16 // the values that share a scale, in the formats with the smallest groups
		values := w.Values[at/group*group:][:group]
		low, high := float64(slices.Min(values)), float64(slices.Max(values))
		return high - low + max(math.Abs(low), math.Abs(high))
	}
	return math.Abs(float64(w.Values[at]))
}

// Check holds every row to its bound and to 1e-5·√K of the rows' root mean square, and all of them to an NMSE of 1e-10. The terms of one
// row may cancel each other out, so that nothing is left to compare an error with: where there are few rows, errors are compared
// with what the terms would add up to if they were independent.
func (p Product) Check(got []float32) error {
	if err := p.CheckRows(got); err != nil {
		return err
	}
	squares, wrong := 0.0, 0.0
	for row, want := range p.Want {
		square := want * want
		if len(p.Want) < few {
			square = max(square, p.power[row])
		}
		squares += square
		wrong += (float64(got[row]) - want) * (float64(got[row]) - want)
	}
	if wrong == 0 {
		return nil
	}
	for row, want := range p.Want {
		if e := math.Abs(float64(got[row]) - want); e > 1e-5*math.Sqrt(float64(p.columns)*squares/float64(len(p.Want))) {
			return fmt.Errorf("row %d of %d is off by %.3g", row, len(got), e)
		}
	}
	if e := wrong / squares; !(e <= 1e-10) {
		return fmt.Errorf("NMSE %.3g exceeds 1e-10", e)
	}
	return nil
}

// few is the number of rows below which chance may cancel out most of them.
const few = 16

// CheckRows holds every row to its own bound.
func (p Product) CheckRows(got []float32) error {
	if len(got) != len(p.Want) {
		return fmt.Errorf("%d rows, want %d", len(got), len(p.Want))
	}
	for row, want := range p.Want {
		if e := math.Abs(float64(got[row]) - want); !(e <= p.bound[row]) {
			return fmt.Errorf("row %d of %d is %v, want %v: off by %.3g, which exceeds %.3g", row, len(got), got[row], want, e, p.bound[row])
		}
	}
	return nil
}
