package quant

import (
	"math"
	"slices"
)

// RowBytes returns the number of bytes of a row of the given number of columns. It fails with a [SizeError] when the
// columns are negative, no multiple of the type's block or too many, and with an [UnsupportedError] for an unknown type.
func RowBytes(t Type, columns int) (int, error) {
	b, ok := t.Block()
	if !ok {
		return 0, &UnsupportedError{t}
	}
	if columns < 0 || columns%b.Elems != 0 || columns/b.Elems > math.MaxInt/b.Bytes {
		return 0, &SizeError{Type: t, Columns: columns, Bytes: -1}
	}
	return columns / b.Elems * b.Bytes, nil
}

// Dequantize reads len(dst) values of type t from src, which must be exactly as long as they are stored. One call may
// take a row, part of a row cut at a block, or several rows. It fails with an [UnsupportedError] or a [SizeError].
func Dequantize(t Type, dst []float32, src []byte) error {
	read := reader(t)
	if read == nil {
		return &UnsupportedError{t}
	}
	want, err := RowBytes(t, len(dst))
	if err != nil {
		return err
	}
	if len(src) != want {
		return &SizeError{Type: t, Columns: len(dst), Bytes: len(src)}
	}
	read(dst, src)
	return nil
}

// Supported reports whether Dequantize reads the type.
func Supported(t Type) bool { return reader(t) != nil }

// Types returns the types that Dequantize reads, by number.
func Types() []Type {
	var all []Type
	for t := range blocks {
		if Supported(t) {
			all = append(all, t)
		}
	}
	slices.Sort(all)
	return all
}

// reader returns the function that reads blocks of a type, which is in the file of the type's name; lengths are checked before
// it is called.
func reader(t Type) func(dst []float32, src []byte) {
	switch t {
	case F32:
		return readF32
	case F16:
		return readF16
	case BF16:
		return readBF16
	case Q8_0:
		return readQ8_0
	case Q4_0:
		return readQ4_0
	case Q4_1:
		return readQ4_1
	case Q5_0:
		return readQ5_0
	case Q5_1:
		return readQ5_1
	case Q2_K:
		return readQ2_K
	case Q3_K:
		return readQ3_K
	case Q4_K:
		return readQ4_K
	case Q5_K:
		return readQ5_K
	case Q6_K:
		return readQ6_K
	case IQ4_NL:
		return readIQ4_NL
	case MXFP4:
		return readMXFP4
	}
	return nil
}
