package sim

import (
	"math"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// The loops of operators over invocations. Registers hold bits: of f32 for both types of floats, 0 or 1 for bool.

// binaryLoop returns the loop of an operator but arithmetic of floats.
func binaryLoop(op string, s wgsl.Scalar) func(d, x, y []uint32) {
	signed := s == wgsl.I32
	switch op {
	case "+":
		return func(d, x, y []uint32) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] + y[i]
			}
		}
	case "-":
		return func(d, x, y []uint32) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] - y[i]
			}
		}
	case "*":
		return func(d, x, y []uint32) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] * y[i]
			}
		}
	case "&":
		return func(d, x, y []uint32) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] & y[i]
			}
		}
	case "|":
		return func(d, x, y []uint32) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] | y[i]
			}
		}
	case "^":
		return func(d, x, y []uint32) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = x[i] ^ y[i]
			}
		}
	case ">>":
		if !signed {
			return func(d, x, y []uint32) {
				x, y = x[:len(d)], y[:len(d)]
				for i := range d {
					d[i] = shiftRightUnsigned(x[i], y[i])
				}
			}
		}
		return each2(shiftRightSigned)
	case "<<":
		return each2(shiftLeft)
	case "/":
		if signed {
			return each2(divideSigned)
		}
		return each2(divideUnsigned)
	case "%":
		if signed {
			return each2(remainderSigned)
		}
		return each2(remainderUnsigned)
	}
	return comparison(op, s)
}

func each2(f func(a, b uint32) uint32) func(d, x, y []uint32) {
	return func(d, x, y []uint32) {
		x, y = x[:len(d)], y[:len(d)]
		for i := range d {
			d[i] = f(x[i], y[i])
		}
	}
}

func eachOf1(f func(a uint32) uint32) func(d, x []uint32) {
	return func(d, x []uint32) {
		x = x[:len(d)]
		for i := range d {
			d[i] = f(x[i])
		}
	}
}

// comparison returns the loop of a comparison. x > y is y < x.
func comparison(op string, s wgsl.Scalar) func(d, x, y []uint32) {
	flip := func(f func(d, x, y []uint32)) func(d, x, y []uint32) {
		return func(d, x, y []uint32) { f(d, y, x) }
	}
	switch {
	case op == ">":
		return flip(comparison("<", s))
	case op == ">=":
		return flip(comparison("<=", s))
	case isFloat(s):
		f := map[string]func(a, b float32) bool{
			"<": func(a, b float32) bool { return a < b }, "<=": func(a, b float32) bool { return a <= b },
			"==": func(a, b float32) bool { return a == b }, "!=": func(a, b float32) bool { return a != b },
		}[op]
		return each2(func(a, b uint32) uint32 { return truth(f(math.Float32frombits(a), math.Float32frombits(b))) })
	case op == "==":
		return each2(func(a, b uint32) uint32 { return truth(a == b) })
	case op == "!=":
		return each2(func(a, b uint32) uint32 { return truth(a != b) })
	case s == wgsl.I32 && op == "<":
		return each2(func(a, b uint32) uint32 { return truth(int32(a) < int32(b)) })
	case s == wgsl.I32:
		return each2(func(a, b uint32) uint32 { return truth(int32(a) <= int32(b)) })
	case op == "<":
		return func(d, x, y []uint32) {
			x, y = x[:len(d)], y[:len(d)]
			for i := range d {
				d[i] = truth(x[i] < y[i])
			}
		}
	}
	return each2(func(a, b uint32) uint32 { return truth(a <= b) })
}

func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// infinite is the exponent of infinities and NaN.
const infinite = 0x7f800000

// floatLoop returns the loop of an arithmetic operator of floats. It returns whether some result is infinite or a NaN.
func floatLoop(op string, s wgsl.Scalar) func(d, x, y []uint32) bool {
	if s == wgsl.F16 {
		return halfLoop(op)
	}
	switch op {
	case "+":
		return func(d, x, y []uint32) bool {
			x, y = x[:len(d)], y[:len(d)]
			bad := false
			for i := range d {
				r := math.Float32bits(math.Float32frombits(x[i]) + math.Float32frombits(y[i]))
				d[i] = r
				if r&infinite == infinite {
					bad = true
				}
			}
			return bad
		}
	case "-":
		return func(d, x, y []uint32) bool {
			x, y = x[:len(d)], y[:len(d)]
			bad := false
			for i := range d {
				r := math.Float32bits(math.Float32frombits(x[i]) - math.Float32frombits(y[i]))
				d[i] = r
				if r&infinite == infinite {
					bad = true
				}
			}
			return bad
		}
	case "*":
		return func(d, x, y []uint32) bool {
			x, y = x[:len(d)], y[:len(d)]
			bad := false
			for i := range d {
				r := math.Float32bits(math.Float32frombits(x[i]) * math.Float32frombits(y[i]))
				d[i] = r
				if r&infinite == infinite {
					bad = true
				}
			}
			return bad
		}
	case "/":
		return func(d, x, y []uint32) bool {
			x, y = x[:len(d)], y[:len(d)]
			bad := false
			for i := range d {
				r := math.Float32bits(math.Float32frombits(x[i]) / math.Float32frombits(y[i]))
				d[i] = r
				if r&infinite == infinite {
					bad = true
				}
			}
			return bad
		}
	}
	return watched2(floatBinary("%", false))
}

func watched2(f func(a, b uint32) uint32) func(d, x, y []uint32) bool {
	return func(d, x, y []uint32) bool {
		x, y = x[:len(d)], y[:len(d)]
		bad := false
		for i := range d {
			r := f(x[i], y[i])
			d[i] = r
			bad = bad || r&infinite == infinite
		}
		return bad
	}
}

// halfLoop computes on f16 in f32 and rounds; the second rounding changes nothing.
func halfLoop(op string) func(d, x, y []uint32) bool {
	f := map[string]func(a, b float32) float32{
		"+": func(a, b float32) float32 { return a + b }, "-": func(a, b float32) float32 { return a - b },
		"*": func(a, b float32) float32 { return a * b }, "/": func(a, b float32) float32 { return a / b },
	}[op]
	if f == nil {
		return watched2(floatBinary(op, true))
	}
	return watched2(func(a, b uint32) uint32 {
		return math.Float32bits(roundHalf(f(math.Float32frombits(a), math.Float32frombits(b))))
	})
}

// fmaLoop is fma of f32.
func fmaLoop(d, x, y, z []uint32) bool {
	x, y, z = x[:len(d)], y[:len(d)], z[:len(d)]
	bad := false
	for i := range d {
		sum := float64(math.Float32frombits(x[i]))*float64(math.Float32frombits(y[i])) + float64(math.Float32frombits(z[i]))
		r := math.Float32bits(float32(sum))
		if math.Float64bits(sum)<<36 == 0 { // perhaps halfway between two floats
			r = math.Float32bits(fma32(math.Float32frombits(x[i]), math.Float32frombits(y[i]), math.Float32frombits(z[i])))
		}
		d[i] = r
		if r&infinite == infinite {
			bad = true
		}
	}
	return bad
}

func unaryLoop(op string, s wgsl.Scalar) func(d, x []uint32) {
	switch {
	case op == "!":
		return eachOf1(func(x uint32) uint32 { return x ^ 1 })
	case op == "~":
		return eachOf1(func(x uint32) uint32 { return ^x })
	case isFloat(s):
		return eachOf1(func(x uint32) uint32 { return x ^ signBit })
	}
	return eachOf1(func(x uint32) uint32 { return -x })
}

// conversion returns the loop of T(x); nil where the bits stay.
func conversion(from, to wgsl.Scalar) func(d, x []uint32) {
	var f func(uint32) uint32
	switch {
	case from == to, from == wgsl.F16 && to == wgsl.F32, from == wgsl.Bool && !isFloat(to):
		return nil
	case to == wgsl.Bool && isFloat(from):
		f = floatToBool
	case to == wgsl.Bool:
		f = integerToBool
	case from == wgsl.Bool:
		f = boolToFloat
	case to == wgsl.F32 && from == wgsl.U32:
		return func(d, x []uint32) {
			x = x[:len(d)]
			for i := range d {
				d[i] = unsignedToFloat(x[i])
			}
		}
	case to == wgsl.F32 && from == wgsl.I32:
		return func(d, x []uint32) {
			x = x[:len(d)]
			for i := range d {
				d[i] = signedToFloat(x[i])
			}
		}
	case to == wgsl.F16 && from == wgsl.U32:
		f = unsignedToHalf
	case to == wgsl.F16 && from == wgsl.I32:
		f = signedToHalf
	case to == wgsl.F16:
		f = floatToHalf
	case from == wgsl.F32 && to == wgsl.I32:
		f = floatToSigned
	case from == wgsl.F32 && to == wgsl.U32:
		f = floatToUnsigned
	case from == wgsl.F16 && to == wgsl.I32:
		f = halfToSigned
	case from == wgsl.F16 && to == wgsl.U32:
		f = halfToUnsigned
	default: // i32 and u32
		return nil
	}
	return eachOf1(f)
}

func lowHalf(d, x []uint32) {
	for i := range d {
		d[i] = math.Float32bits(halfFloat(uint16(x[i])))
	}
}

func highHalf(d, x []uint32) {
	for i := range d {
		d[i] = math.Float32bits(halfFloat(uint16(x[i] >> 16)))
	}
}
