package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
)

// writer builds a file field by field, right or wrong, with no knowledge of the reader but its constants.
type writer struct{ bytes.Buffer }

func (w *writer) u8(v uint8) *writer    { w.WriteByte(v); return w }
func (w *writer) u16(v uint16) *writer  { w.Write(binary.LittleEndian.AppendUint16(nil, v)); return w }
func (w *writer) u32(v uint32) *writer  { w.Write(binary.LittleEndian.AppendUint32(nil, v)); return w }
func (w *writer) u64(v uint64) *writer  { w.Write(binary.LittleEndian.AppendUint64(nil, v)); return w }
func (w *writer) f32(v float32) *writer { return w.u32(math.Float32bits(v)) }
func (w *writer) f64(v float64) *writer { return w.u64(math.Float64bits(v)) }
func (w *writer) text(s string) *writer { w.u64(uint64(len(s))).WriteString(s); return w }

// head writes magic, version and counts.
func (w *writer) head(version uint32, tensors, keys uint64) *writer {
	w.WriteString("GGUF")
	return w.u32(version).u64(tensors).u64(keys)
}

// key writes a key and the type of its value, which comes next.
func (w *writer) key(name string, t ValueType) *writer { return w.text(name).u32(uint32(t)) }

// array writes the key of an array; the elements come next.
func (w *writer) array(name string, elem ValueType, n uint64) *writer {
	return w.key(name, Array).u32(uint32(elem)).u64(n)
}

// tensor writes an entry of the tensor table.
func (w *writer) tensor(name string, typ uint32, offset uint64, dims ...uint64) *writer {
	w.text(name).u32(uint32(len(dims)))
	for _, d := range dims {
		w.u64(d)
	}
	return w.u32(typ).u64(offset)
}

// data pads to a multiple of the alignment and adds n bytes that count up.
func (w *writer) data(alignment, n int) *writer {
	for w.Len()%alignment != 0 {
		w.WriteByte(0)
	}
	for i := range n {
		w.WriteByte(byte(i))
	}
	return w
}

// zeros adds n zero bytes.
func (w *writer) zeros(n int) *writer { w.Write(make([]byte, n)); return w }

// cut takes the last n bytes away.
func (w *writer) cut(n int) *writer { w.Truncate(w.Len() - n); return w }

func (w *writer) parse() (*File, error) { return Parse(bytes.NewReader(w.Bytes()), int64(w.Len())) }
