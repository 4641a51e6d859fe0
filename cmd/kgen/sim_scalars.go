package main

import (
	"bufio"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// eachScalar visits the scalars of a value of type t that lies at an offset, as far as it has bytes; a runtime-sized array has as many
// elements as fit there. It stops when visit returns false.
func eachScalar(t wgsl.Type, offset, bytes int, visit func(s wgsl.Scalar, offset int) bool) bool {
	switch t := t.(type) {
	case wgsl.Scalar:
		return visit(t, offset)
	case wgsl.Atomic:
		return visit(t.Elem, offset)
	case wgsl.Vector:
		for i := range t.Width {
			if !visit(t.Elem, offset+i*wgsl.SizeOf(t.Elem)) {
				return false
			}
		}
	case wgsl.Array:
		stride, n := wgsl.Stride(t.Elem), t.Len
		if n == 0 && stride > 0 {
			n = (bytes - offset) / stride
		}
		for i := range n {
			if !eachScalar(t.Elem, offset+i*stride, bytes, visit) {
				return false
			}
		}
	case *wgsl.Struct:
		for _, m := range t.Members {
			if !eachScalar(m.Type, offset+m.Offset, bytes, visit) {
				return false
			}
		}
	}
	return true
}

// scalarAt reads a scalar from memory. Integers up to 32 bits and floats up to f32 are exact in a float64.
func scalarAt(s wgsl.Scalar, data []byte, offset int) float64 {
	switch s {
	case wgsl.F16:
		return halfValue(binary.LittleEndian.Uint16(data[offset:]))
	case wgsl.F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[offset:])))
	case wgsl.I32:
		return float64(int32(binary.LittleEndian.Uint32(data[offset:])))
	}
	return float64(binary.LittleEndian.Uint32(data[offset:]))
}

// halfValue is the value of the bits of an f16.
func halfValue(h uint16) float64 {
	exponent, mantissa := int(h>>10&31), float64(h&1023)
	value := math.Ldexp(mantissa, -24) // subnormal
	switch {
	case exponent == 31 && mantissa != 0:
		value = math.NaN()
	case exponent == 31:
		value = math.Inf(1)
	case exponent > 0:
		value = math.Ldexp(1024+mantissa, exponent-25)
	}
	return math.Copysign(value, 1-2*float64(h>>15))
}

// appendScalar appends a scalar as text: the shortest number that reads back as the same f32, or NaN, Infinity, -Infinity.
func appendScalar(to []byte, s wgsl.Scalar, value float64) []byte {
	switch {
	case s != wgsl.F32 && s != wgsl.F16:
		return strconv.AppendInt(to, int64(value), 10)
	case math.IsNaN(value):
		return append(to, "NaN"...)
	case math.IsInf(value, 1):
		return append(to, "Infinity"...)
	case math.IsInf(value, -1):
		return append(to, "-Infinity"...)
	}
	return strconv.AppendFloat(to, value, 'g', -1, 32)
}

// simValues is memory of a type.
type simValues struct {
	Type wgsl.Type
	Data []byte
}

func (v simValues) each(visit func(s wgsl.Scalar, value float64) bool) {
	eachScalar(v.Type, 0, len(v.Data), func(s wgsl.Scalar, offset int) bool { return visit(s, scalarAt(s, v.Data, offset)) })
}

// write writes the scalars with commas between, NaN and infinities as strings. The first error is kept by the writer.
func (v simValues) write(to *bufio.Writer) {
	first := true
	var text []byte
	v.each(func(s wgsl.Scalar, value float64) bool {
		if text = text[:0]; !first {
			text = append(text, ',')
		}
		first = false
		if math.IsNaN(value) || math.IsInf(value, 0) {
			text = append(appendScalar(append(text, '"'), s, value), '"')
		} else {
			text = appendScalar(text, s, value)
		}
		_, err := to.Write(text)
		return err == nil
	})
}

// first returns the first n scalars as text, and how many there are.
func (v simValues) first(n int) (text string, count int) {
	var shown []byte
	v.each(func(s wgsl.Scalar, value float64) bool {
		if count < n {
			shown = appendScalar(append(shown, ' '), s, value)
		}
		count++
		return true
	})
	return string(shown), count
}
