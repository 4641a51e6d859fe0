package gguf

import (
	"math"
	"strconv"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// CheckWeights reads every tensor of a type that package quant dequantises and looks for values that are infinite or NaN. The
// error, ClassNaNWeight, names the tensor and the row. It takes about a second for a thousand million weights; opening a file does not do it.
func CheckWeights(f *File) error {
	for i := range f.tensors {
		t := &f.tensors[i]
		if !quant.Supported(t.Type) || t.Size == 0 {
			continue
		}
		if err := f.checkTensor(t); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) checkTensor(t *Tensor) error {
	rowBytes, err := quant.RowBytes(t.Type, t.Columns())
	if err != nil {
		return err
	}
	row, values := make([]byte, rowBytes), make([]float32, t.Columns())
	for r := range t.Rows() {
		if err := f.ReadTensor(t.Name, int64(r)*int64(rowBytes), row); err != nil {
			return err
		}
		if err := quant.Dequantize(t.Type, values, row); err != nil {
			return err
		}
		for column, x := range values {
			if math.Float32bits(x)&0x7f800000 == 0x7f800000 {
				return &Error{Class: ClassNaNWeight, Field: printable(t.Name), Offset: t.Offset + int64(r)*int64(rowBytes),
					Detail: "row " + strconv.Itoa(r) + ", column " + strconv.Itoa(column) + " is " + strconv.FormatFloat(float64(x), 'g', -1, 32)}
			}
		}
	}
	return nil
}
