package wgsl

import (
	"math"
	mathbits "math/bits"
)

// constantCall returns the value of a call with constant scalars, for the functions whose result is exact. It is what lengths of arrays
// and the like are made with.
func (c *checker) constantCall(call *Call, v []Value) Value {
	if !c.plain || call.Value.Kind != NoValue {
		return call.Value
	}
	s := scalarOf(call)
	if f := exactFloat[call.Name]; f != nil && v[0].Kind == FloatValue {
		r, _ := floatValue(f(v[0].Float)).convert(s)
		return r
	}
	word := uint32(v[0].Int)
	switch call.Name {
	case "countOneBits":
		return intValue(int64(mathbits.OnesCount32(word)))
	case "countLeadingZeros":
		return intValue(int64(mathbits.LeadingZeros32(word)))
	case "countTrailingZeros":
		return intValue(int64(mathbits.TrailingZeros32(word)))
	case "firstTrailingBit":
		if word != 0 {
			return intValue(int64(mathbits.TrailingZeros32(word)))
		}
	case "firstLeadingBit":
		if word != 0 && (s == U32 || int32(word) > 0) {
			return intValue(int64(31 - mathbits.LeadingZeros32(word)))
		}
	case "sqrt":
		if r, _ := floatValue(math.Sqrt(v[0].Float)).convert(s); r.Float*r.Float == v[0].Float {
			return r
		}
	}
	return Value{}
}

// exactFloat holds functions of one float whose result is a float without rounding.
var exactFloat = map[string]func(float64) float64{
	"ceil": math.Ceil, "floor": math.Floor, "trunc": math.Trunc, "round": math.RoundToEven,
}

// bounds refuses constant bounds that no value satisfies.
func (c *checker) bounds(e *Call) {
	known := func(i int) bool { return valueOf(e.Args[i]).Kind != NoValue }
	at := func(i int) Value { return valueOf(e.Args[i]) }
	switch e.Name {
	case "clamp":
		if known(1) && known(2) && (at(2).Int < at(1).Int || at(2).Float < at(1).Float) {
			c.fail(e, "clamp's lower bound is above its upper one")
		}
	case "extractBits", "insertBits":
		n := len(e.Args)
		if known(n-1) && at(n-1).Int > 32 || known(n-2) && at(n-2).Int > 32 || known(n-1) && known(n-2) && at(n-1).Int+at(n-2).Int > 32 {
			c.fail(e, "%s reaches past bit 31", e.Name)
		}
	}
}

// constantDot returns the product of two constant vectors of integers, where it is in range.
func constantDot(e *Call, v Vector) Value {
	sum := intValue(0)
	for i := range v.Width {
		x, y := partOf(e.Args[0], i), partOf(e.Args[1], i)
		const most = 1 << 30 // four such products have a sum
		if x.Kind != IntValue || y.Kind != IntValue || max(x.Int, -x.Int, y.Int, -y.Int) > most {
			return Value{}
		}
		sum.Int += x.Int * y.Int
	}
	if r, ok := sum.convert(v.Elem); ok {
		return r
	}
	return Value{}
}
