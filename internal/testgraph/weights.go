package testgraph

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/x448/float16"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
)

// Weights is the bytes of tensors by name: a source for the evaluator and for an engine.
type Weights map[string][]byte

// Bytes returns a tensor's bytes.
func (w Weights) Bytes(tensor string) ([]byte, error) {
	data, ok := w[tensor]
	if !ok {
		return nil, fmt.Errorf("no tensor %s", tensor)
	}
	return data, nil
}

// ReadTensor fills p with a tensor's bytes from offset on.
func (w Weights) ReadTensor(tensor string, offset int64, p []byte) error {
	data, err := w.Bytes(tensor)
	if err != nil {
		return err
	}
	if offset < 0 || offset > int64(len(data)) || copy(p, data[offset:]) < len(p) {
		return fmt.Errorf("%d bytes at %d of %s, which has %d", len(p), offset, tensor, len(data))
	}
	return nil
}

// NewWeights draws weights for a graph. Vectors are about 1, as norm weights are; a product with a matrix keeps the size of
// what it multiplies.
func NewWeights(g *ir.Graph, seed uint64) Weights {
	random := rand.New(rand.NewPCG(seed, 1))
	all := Weights{}
	for _, t := range g.Weights {
		rows := 1
		if len(t.Shape) > 1 {
			rows = t.Rows(ir.Sizes{T: 1, S: 1, B: 1})
		}
		all[t.Name] = tensor(random, quant.Type(t.Elem), rows, t.Columns(), len(t.Shape) == 1)
	}
	return all
}

func tensor(random *rand.Rand, elem quant.Type, rows, columns int, vector bool) []byte {
	rowBytes, err := quant.RowBytes(elem, columns)
	if err != nil {
		panic(err) // ir.Parse has refused rows that are not whole blocks
	}
	data := make([]byte, rows*rowBytes)
	scale := 1.5 / math.Sqrt(float64(columns))
	number := func() float64 {
		if vector {
			return 0.5 + random.Float64()
		}
		return random.NormFloat64() * scale
	}
	switch elem {
	case quant.F32:
		for at := 0; at < len(data); at += 4 {
			binary.LittleEndian.PutUint32(data[at:], math.Float32bits(float32(number())))
		}
	case quant.F16:
		for at := 0; at < len(data); at += 2 {
			putF16(data[at:], number())
		}
	default:
		blocks(random, data, elem, scale)
	}
	return data
}

// blocks draws codes, and scales that suit them.
func blocks(random *rand.Rand, data []byte, elem quant.Type, scale float64) {
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	block, _ := elem.Block()
	at := ScalesOf(elem)
	spread := float64(at.Most) * 5 / 8 // the standard deviation of codes, about
	for b := range slices.Chunk(data, block.Bytes) {
		if at.Unit < 0 {
			b[0] = byte(128 + math.Round(math.Log2((0.5+random.Float64())*scale/spread)))
			continue
		}
		putF16(b[at.Unit:], (random.Float64()-0.5)*4*scale/spread)
		if at.Offset >= 0 {
			putF16(b[at.Offset:], random.NormFloat64()*5*scale/spread)
		}
	}
}

func putF16(b []byte, v float64) {
	binary.LittleEndian.PutUint16(b, float16.Fromfloat32(float32(v)).Bits())
}
