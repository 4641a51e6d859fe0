package gguf

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// FuzzTensorTable makes files whose header is right up to the tensor table, and judges the table with numbers of any size.
// An entry takes 12 bytes of the input, see describe.
func FuzzTensorTable(f *testing.F) {
	f.Add(uint8(5), uint16(100), []byte("\x00\x00\x01\x00\x03\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(uint8(5), uint16(300), []byte("\x00\x08\x02\x05\x01\x00\x02\x00\x00\x00\x00\x00"+"\x01\x08\x01\x05\x01\x00\x00\x00\x00\x00\x05\x05"))
	f.Add(uint8(6), uint16(64), []byte("\x00\x00\x01\x3e\x01\x02\x01\x00\x00\x00\x00\x00"+"\x00\x04\x04\x01\x01\x01\x01\x01\x01\x01\x3f\x02"))
	f.Add(uint8(0), uint16(8), []byte("\x07\x63\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, alignment uint8, tail uint16, data []byte) {
		table := describe(data)
		w := start(uint64(len(table)), 1).key("general.alignment", Uint32).u32(1 << (alignment % 16))
		for _, e := range table {
			w.tensor(e.name, e.typ, e.offset, e.dims...)
		}
		w.data(1<<(alignment%16), int(tail))
		file, err := w.parse()
		if want := sound(table, int64(1)<<(alignment%16), int64(tail)); (err == nil) != want {
			t.Fatalf("%+v\nin %d bytes: %v, want sound = %v", table, tail, err, want)
		}
		if err == nil {
			exercise(w.Bytes())
			for i, e := range table {
				if got := file.Tensors()[i]; got.Offset-int64(e.offset)+int64(tail) != int64(w.Len()) {
					t.Fatalf("%+v placed at %d of %d", e, got.Offset, w.Len())
				}
			}
		}
	})
}

type tableEntry struct {
	name   string
	typ    uint32
	dims   []uint64
	offset uint64
}

// describe makes entries of 12 bytes: name, type, number of dimensions, four of a byte for the power of two and a byte to
// add, and the offset likewise.
func describe(data []byte) (table []tableEntry) {
	number := func(power, add byte) uint64 { return uint64(1)<<(power%64) - 1 + uint64(add) }
	for row := range slices.Chunk(data, 12) {
		if len(row) < 12 || len(table) == 50 {
			break
		}
		e := tableEntry{name: fmt.Sprint("t", row[0]), typ: uint32(row[1]), offset: number(row[10], row[11])}
		for i := range int(row[2] % 5) {
			e.dims = append(e.dims, number(row[3+i], row[7+i%3]))
		}
		table = append(table, e)
	}
	return table
}

// sound judges a table by the specification.
func sound(table []tableEntry, alignment, available int64) bool {
	names := map[string]bool{}
	type stretch struct{ from, to *big.Int }
	var taken []stretch
	for _, e := range table {
		if names[e.name] || slices.Contains([]uint32{4, 5, 31, 32, 33, 36, 37, 38}, e.typ) {
			return false
		}
		names[e.name] = true
		product, elements := big.NewInt(1), big.NewInt(1)
		for _, d := range e.dims {
			elements.Mul(elements, new(big.Int).SetUint64(d))
			product.Mul(product, new(big.Int).SetUint64(max(d, 1)))
		}
		if product.Cmp(big.NewInt(math.MaxInt)) > 0 {
			return false
		}
		size := new(big.Int)
		if block, known := quant.Type(e.typ).Block(); known {
			columns := uint64(1)
			if len(e.dims) > 0 {
				columns = e.dims[0]
			}
			if columns%uint64(block.Elems) != 0 {
				return false
			}
			size.Div(elements, big.NewInt(int64(block.Elems)))
			size.Mul(size, big.NewInt(int64(block.Bytes)))
		}
		from := new(big.Int).SetUint64(e.offset)
		to := new(big.Int).Add(from, size)
		if e.offset%uint64(alignment) != 0 || to.Cmp(big.NewInt(available)) > 0 {
			return false
		}
		for _, s := range taken {
			if size.Sign() > 0 && from.Cmp(s.to) < 0 && s.from.Cmp(to) < 0 {
				return false
			}
		}
		if size.Sign() > 0 {
			taken = append(taken, stretch{from, to})
		}
	}
	return true
}

// FuzzKeys makes headers of the given count whose keys are the input, so that the fuzzer works on keys alone, and then a
// model that has these keys beside its own.
func FuzzKeys(f *testing.F) {
	for _, w := range []*writer{
		(&writer{}).key("llama.rope.scaling.type", String).text("yarn"),
		(&writer{}).array("llama.attention.head_count_kv", Int32, 2).u32(1).u32(2),
		(&writer{}).array("tokenizer.ggml.scores", Float32, 4).zeros(16),
		(&writer{}).array("tokenizer.ggml.merges", String, 2).text("a b").text("ab c"),
		(&writer{}).key("tokenizer.ggml.eot_token_id", Int64).u64(1<<64 - 1),
		(&writer{}).key("split.count", Uint16).u16(2),
		(&writer{}).array("a", Array, 1).u32(8).u64(1),
	} {
		f.Add(uint8(1), w.Bytes())
	}
	everything := everyType().Bytes()
	f.Add(uint8(22), everything[24:])
	f.Fuzz(func(t *testing.T, keys uint8, data []byte) {
		w := start(0, uint64(keys))
		w.Write(data)
		exercise(w.Bytes())
		good := model(nil).Bytes()
		w = start(2, uint64(len(goodModel))+uint64(keys))
		w.Write(data)
		w.Write(good[24:])
		exercise(w.Bytes())
	})
}
