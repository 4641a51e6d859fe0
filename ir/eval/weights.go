package eval

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
)

// Source gives the bytes of a weight as the model file stores them.
type Source interface {
	Bytes(tensor string) ([]byte, error)
}

// Bytes is a Source in memory, by tensor name.
type Bytes map[string][]byte

// Bytes returns the tensor's bytes.
func (b Bytes) Bytes(tensor string) ([]byte, error) {
	if data, ok := b[tensor]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("no tensor %s", tensor)
}

// matrix is a weight in its stored form, read row by row. A vector is one row.
type matrix struct {
	name          string
	elem          quant.Type
	rows, columns int
	rowBytes      int
	data          []byte
}

// loadWeights finds the bytes of all weights of a graph and checks their types and sizes.
func loadWeights(g *ir.Graph, source Source) (map[*ir.Tensor]*matrix, error) {
	weights := map[*ir.Tensor]*matrix{}
	for _, t := range g.Weights {
		m, err := loadWeight(t, source)
		if err != nil {
			return nil, fmt.Errorf("weight %s: %w", t.Name, err)
		}
		weights[t] = m
	}
	return weights, nil
}

func loadWeight(t *ir.Tensor, source Source) (*matrix, error) {
	elem := quant.Type(t.Elem)
	if !quant.Supported(elem) {
		return nil, &quant.UnsupportedError{Type: elem}
	}
	rowBytes, err := quant.RowBytes(elem, t.Columns())
	if err != nil {
		return nil, err
	}
	data, err := source.Bytes(t.Name)
	if err != nil {
		return nil, err
	}
	m := &matrix{name: t.Name, elem: elem, rows: t.Rows(ir.Sizes{}), columns: t.Columns(), rowBytes: rowBytes, data: data}
	if len(data) != m.rows*rowBytes {
		return nil, fmt.Errorf("%s needs %d bytes, the file has %d", t.Type(), m.rows*rowBytes, len(data))
	}
	return m, nil
}

// row dequantises one row into dst.
func (m *matrix) row(dst []float32, row int) {
	if err := quant.Dequantize(m.elem, dst[:m.columns], m.data[row*m.rowBytes:][:m.rowBytes]); err != nil {
		panic(fmt.Sprintf("weight %s was checked when it was loaded: %v", m.name, err))
	}
}
