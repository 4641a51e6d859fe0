package gguf

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// Tensor is an entry of the tensor table.
type Tensor struct {
	Name   string
	Type   quant.Type
	Dims   []int // as the file lists them: ne0, the contiguous one, first
	Offset int64 // of the data, from the start of the file
	Size   int64 // of the data in bytes; 0 when the type is not known
}

// Columns returns the length of a row, the first dimension; 1 for a scalar.
func (t *Tensor) Columns() int {
	if len(t.Dims) == 0 {
		return 1
	}
	return t.Dims[0]
}

// Rows returns the number of rows, the product of all dimensions but the first.
func (t *Tensor) Rows() int {
	n := 1
	for _, d := range t.Dims[min(1, len(t.Dims)):] {
		n *= d
	}
	return n
}

// Elements returns the number of values.
func (t *Tensor) Elements() int { return t.Columns() * t.Rows() }

// tensor reads an entry. Its offset is still relative to the start of the data, which is not known yet.
func (h *header) tensor(number int) Tensor {
	t := Tensor{Name: h.name("tensor "+strconv.Itoa(number), maxNameBytes)}
	field := t.Name
	at := h.at
	n := h.u32(field)
	if n > maxDims {
		h.fail(ClassBadNDims, field, at, strconv.FormatUint(uint64(n), 10)+" dimensions, at most "+strconv.Itoa(maxDims)+" are allowed")
		return t
	}
	t.Dims = make([]int, n)
	at = h.at
	elements, overflow := uint64(1), false
	for i := range t.Dims {
		d := h.u64(field)
		hi, lo := bits.Mul64(elements, max(d, 1)) // a 0 must not hide what the others overflow
		overflow = overflow || hi != 0 || lo > math.MaxInt
		elements, t.Dims[i] = lo, int(d)
	}
	if overflow {
		h.fail(ClassDimsOverflow, field, at, "the product of the dimensions overflows")
	}
	at = h.at
	t.Type = quant.Type(h.u32(field))
	h.tensorSize(&t, field, at)
	at = h.at
	offset := h.u64(field)
	if offset > math.MaxInt64 {
		h.fail(ClassTensorOutOfBounds, field, at, "offset "+strconv.FormatUint(offset, 10)+" is beyond any file")
	}
	t.Offset = int64(offset)
	return t
}

// tensorSize computes the bytes of a tensor. An unknown type is no error yet: the file can be listed, but the tensor not read.
func (h *header) tensorSize(t *Tensor, field string, at int) {
	block, known := t.Type.Block()
	switch {
	case h.err != nil:
	case removed(t.Type) != "":
		h.fail(ClassBadTensorType, field, at, "the type "+removed(t.Type)+" was removed from the format; quantise the model again, to Q4_0 for instance")
	case !known:
	case t.Columns()%block.Elems != 0:
		h.fail(ClassPartialBlock, field, at, strconv.Itoa(t.Columns())+" columns are not whole blocks of "+strconv.Itoa(block.Elems)+", as "+t.Type.String()+" has")
	default:
		hi, size := bits.Mul64(uint64(t.Elements()/block.Elems), uint64(block.Bytes))
		if hi != 0 || size > math.MaxInt64 {
			h.fail(ClassDimsOverflow, field, at, "the size in bytes overflows")
		}
		t.Size = int64(size)
	}
}

// removed names the type that a number stood for before the format gave it up, "" for all others.
func removed(t quant.Type) string {
	switch t {
	case 4:
		return "Q4_2"
	case 5:
		return "Q4_3"
	case 31:
		return "Q4_0_4_4"
	case 32:
		return "Q4_0_4_8"
	case 33:
		return "Q4_0_8_8"
	case 36:
		return "IQ4_NL_4_4"
	case 37:
		return "IQ4_NL_4_8"
	case 38:
		return "IQ4_NL_8_8"
	}
	return ""
}

// place turns relative offsets into offsets from the start of the file and checks that every tensor is aligned and within
// the file, and that no two overlap. Gaps and any order are fine. It returns the end of the data.
func place(tensors []Tensor, dataStart, alignment, size int64) (end int64, err *Error) {
	for i := range tensors {
		t := &tensors[i]
		if t.Offset%alignment != 0 {
			return 0, tensorError(ClassTensorAlignment, t, "offset "+strconv.FormatInt(t.Offset, 10)+" is no multiple of the alignment, "+strconv.FormatInt(alignment, 10))
		}
		left := max(0, size-dataStart)
		if t.Offset > left || t.Size > left-t.Offset {
			return 0, tensorError(ClassTensorOutOfBounds, t, strconv.FormatInt(t.Size, 10)+" bytes wanted at offset "+strconv.FormatInt(t.Offset, 10)+
				", the file has "+strconv.FormatInt(max(0, left-t.Offset), 10)+" there; it is truncated or corrupt")
		}
		t.Offset += dataStart
	}
	order := make([]*Tensor, 0, len(tensors))
	for i := range tensors {
		if tensors[i].Size > 0 {
			order = append(order, &tensors[i])
		}
	}
	slices.SortFunc(order, func(a, b *Tensor) int { return cmp.Compare(a.Offset, b.Offset) })
	end = min(dataStart, size)
	if len(order) > 0 {
		last := order[len(order)-1]
		end = last.Offset + last.Size
	}
	for i := 1; i < len(order); i++ {
		if before := order[i-1]; before.Offset+before.Size > order[i].Offset {
			return 0, tensorError(ClassTensorOverlap, order[i], "its data overlaps that of "+printable(before.Name))
		}
	}
	return end, nil
}

func tensorError(class Class, t *Tensor, detail string) *Error {
	return &Error{Class: class, Field: printable(t.Name), Offset: -1, Detail: detail}
}
