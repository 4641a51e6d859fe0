package quant

import "strconv"

// UnsupportedError says that values of a type cannot be read, or that a number is no type at all.
type UnsupportedError struct{ Type Type }

// Error names the type.
func (e *UnsupportedError) Error() string {
	if _, known := e.Type.Block(); !known {
		return "quant: " + e.Type.String() + " is no known tensor type"
	}
	text := ""
	for i, t := range Types() {
		if i > 0 {
			text += ", "
		}
		text += t.String()
	}
	return "quant: tensors of type " + e.Type.String() + " are not supported; supported are " + text
}

// SizeError says that a number of columns or of bytes does not fit a type.
type SizeError struct {
	Type    Type
	Columns int // values asked for
	Bytes   int // bytes given; -1 where the columns alone are wrong
}

// Error gives the numbers, and the ones that would fit.
func (e *SizeError) Error() string {
	b := e.Type.block()
	text := "quant: " + strconv.Itoa(e.Columns) + " columns of " + e.Type.String()
	switch {
	case e.Columns < 0:
		return text + ": negative"
	case e.Columns%b.Elems != 0:
		return text + ": not a multiple of the block of " + strconv.Itoa(b.Elems)
	case e.Bytes < 0:
		return text + ": too many bytes to address"
	}
	return text + ": want " + strconv.Itoa(e.Columns/b.Elems*b.Bytes) + " bytes, have " + strconv.Itoa(e.Bytes)
}
