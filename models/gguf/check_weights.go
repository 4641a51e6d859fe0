package gguf

import (
	"math"
	"strconv"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// CheckWeights reads every tensor of a type that package quant dequantises and looks for values that are infinite or NaN. The
// error, ClassNaNWeight, names the tensor, the row and the place of the block. It takes about a second for a thousand million
// weights; opening a file does not do it.
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

// checkTensor reads a tensor in parts of a fixed size: a single row may be as long as the file.
func (f *File) checkTensor(t *Tensor) error {
	const most = 1 << 16 // elements, whole blocks of every type
	block, _ := t.Type.Block()
	n := t.Elements()
	values := make([]float32, min(most, n))
	data := make([]byte, len(values)/block.Elems*block.Bytes)
	for at := 0; at < n; at += len(values) {
		values = values[:min(n-at, len(values))]
		data = data[:len(values)/block.Elems*block.Bytes]
		offset := int64(at/block.Elems) * int64(block.Bytes)
		if err := f.ReadTensor(t.Name, offset, data); err != nil {
			return err
		}
		if err := quant.Dequantize(t.Type, values, data); err != nil {
			return err
		}
		for i, x := range values {
			if math.Float32bits(x)&0x7f800000 == 0x7f800000 {
				return &Error{Class: ClassNaNWeight, Field: printable(t.Name), Offset: t.Offset + offset + int64(i/block.Elems*block.Bytes),
					Detail: "row " + strconv.Itoa((at+i)/t.Columns()) + ", column " + strconv.Itoa((at+i)%t.Columns()) + " is " +
						strconv.FormatFloat(float64(x), 'g', -1, 32)}
			}
		}
	}
	return nil
}
