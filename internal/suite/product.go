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
		sum, reach := 0.0, 0.0
		for _, v := range r.Added {
			sum += float64(v)
			reach += math.Abs(float64(v))
		}
		for c := range columns {
			at := r.Row*columns + c
			sum += float64(r.Weight.Values[at]) * float64(x[c])
			reach += r.Weight.reach(format, at) * math.Abs(float64(x[c]))
		}
		p.Want = append(p.Want, sum)
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

// Check holds every row to its bound and to 1e-5·√K of the rows' root mean square, and all of them to an NMSE of 1e-10.
func (p Product) Check(got []float32) error { return new(pool).check(p, got, true) }

// few is the number of rows below which chance may cancel out most of them: then nothing is left to compare an error with.
const few = 16

// vectors returns how many vectors a weight of some rows is multiplied with, so that their results together are no longer few.
func vectors(rows int) int { return max(1, (few+rows-1)/max(rows, 1)) }

// pool takes the results of several vectors together.
type pool struct {
	values                int
	squares, wrong, worst float64
}

// check holds every row to its bound, and with last all rows of the pool to 1e-5·√K of their root mean square and to an NMSE of 1e-10.
func (o *pool) check(p Product, got []float32, last bool) error {
	if err := p.CheckRows(got); err != nil {
		return err
	}
	for row, want := range p.Want {
		e := math.Abs(float64(got[row]) - want)
		o.squares, o.wrong, o.worst = o.squares+want*want, o.wrong+e*e, max(o.worst, e)
	}
	o.values += len(p.Want)
	switch {
	case !last || o.wrong == 0:
	case o.worst > 1e-5*math.Sqrt(float64(p.columns)*o.squares/float64(o.values)):
		return fmt.Errorf("a row of %d is off by %.3g", o.values, o.worst)
	case !(o.wrong <= 1e-10*o.squares):
		return fmt.Errorf("NMSE %.3g exceeds 1e-10", o.wrong/o.squares)
	}
	return nil
}

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
