package gguf

import (
	"encoding/binary"
	"io"
	"strconv"
)

// Limits on a header, far above what models have: they bound the time and memory that a crafted file can take.
const (
	maxHeader     = 64 << 20
	maxKeys       = 1 << 16
	maxTensors    = 1 << 20
	maxElements   = 1 << 30
	maxKeyBytes   = 1<<16 - 1 // of the specification
	maxNameBytes  = 64        // of the specification
	maxDims       = 4         // of the specification
	firstReadSize = 64 << 10
)

// header reads the fields of a header in order. It holds the file's first bytes, as many as the fields so far needed and up to twice
// that. The first error sticks: later reads return zero.
type header struct {
	from io.ReaderAt
	size int64 // of the file
	buf  []byte
	at   int
	err  *Error
}

func (h *header) fail(class Class, field string, at int, detail string) {
	if h.err == nil {
		h.err = &Error{Class: class, Field: field, Offset: int64(at), Detail: detail}
	}
}

// next returns the next n bytes, nil on an error. n may be any number that a file holds.
func (h *header) next(field string, n uint64) []byte {
	switch {
	case h.err != nil:
		return nil
	case n > uint64(h.size)-uint64(h.at):
		h.fail(ClassUnexpectedEOF, field, h.at, "the file ends: "+strconv.FormatUint(n, 10)+" bytes wanted, "+
			strconv.FormatInt(h.size-int64(h.at), 10)+" left")
		return nil
	case uint64(h.at)+n > maxHeader:
		h.fail(ClassCountTooLarge, field, h.at, "the header is larger than "+strconv.Itoa(maxHeader>>20)+" MiB")
		return nil
	}
	if !h.fill(h.at + int(n)) {
		return nil
	}
	h.at += int(n)
	return h.buf[h.at-int(n) : h.at]
}

// fill reads until at least n bytes of the file are there.
func (h *header) fill(n int) bool {
	if n <= len(h.buf) {
		return true
	}
	have := len(h.buf)
	grown := make([]byte, min(h.size, int64(max(n, 2*have, firstReadSize))))
	copy(grown, h.buf)
	if got, err := h.from.ReadAt(grown[have:], int64(have)); got < len(grown)-have {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		h.fail(ClassRead, "header", have+got, "cannot be read")
		h.err.Err = err
		return false
	}
	h.buf = grown
	return true
}

func (h *header) u32(field string) uint32 {
	if b := h.next(field, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (h *header) u64(field string) uint64 {
	if b := h.next(field, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// bytes reads a string of 1..limit bytes; limit 0 means any length that the file can hold.
func (h *header) bytes(field string, limit uint64) []byte {
	at := h.at
	n := h.u64(field)
	switch {
	case h.err != nil:
		return nil
	case limit > 0 && (n == 0 || n > limit):
		h.fail(ClassStringLength, field, at, "a string of "+strconv.FormatUint(n, 10)+" bytes, 1 to "+strconv.FormatUint(limit, 10)+" are allowed")
		return nil
	case n > uint64(h.size):
		h.fail(ClassStringLength, field, at, "a string of "+strconv.FormatUint(n, 10)+" bytes in a file of "+strconv.FormatInt(h.size, 10))
		return nil
	}
	return h.next(field, n)
}

// start reads magic, version and counts.
func (h *header) start() (version uint32, tensors, keys uint64) {
	if magic := h.next("magic", 4); magic != nil && string(magic) != "GGUF" {
		h.fail(ClassBadMagic, "magic", 0, "the file starts with "+strconv.QuoteToASCII(string(magic))+", not \"GGUF\"")
	}
	version = h.u32("version")
	if h.err == nil && version != 2 && version != 3 {
		detail := "version " + strconv.FormatUint(uint64(version), 10) + ", supported are 2 and 3"
		if version != 0 && version&0xffff == 0 {
			detail = "a big-endian file; only little-endian ones are supported"
		}
		h.fail(ClassUnsupportedVersion, "version", 4, detail)
	}
	tensors = h.u64("tensor_count")
	if tensors > maxTensors {
		h.fail(ClassCountTooLarge, "tensor_count", 8, strconv.FormatUint(tensors, 10)+" tensors, at most "+strconv.Itoa(maxTensors)+" are supported")
	}
	keys = h.u64("kv_count")
	if keys > maxKeys {
		h.fail(ClassCountTooLarge, "kv_count", 16, strconv.FormatUint(keys, 10)+" keys, at most "+strconv.Itoa(maxKeys)+" are supported")
	}
	return version, tensors, keys
}

// entry reads a key and finds the end of its value.
func (h *header) entry(number int) Entry {
	key := string(h.bytes("key "+strconv.Itoa(number), maxKeyBytes))
	field := printable(key)
	e := Entry{Key: key, Count: 1, Type: h.valueType(field, true)}
	elem := e.Type
	if e.Type == Array {
		e.Elem = h.valueType(field, false)
		e.Count = h.count(field)
		elem = e.Elem
	}
	e.start = h.at
	h.skip(field, elem, e.Count)
	e.end = h.at
	return e
}

func (h *header) valueType(field string, arrays bool) ValueType {
	at := h.at
	t := ValueType(h.u32(field))
	switch {
	case !t.known():
		h.fail(ClassBadValueType, field, at, t.String()+" does not exist")
	case t == Array && !arrays:
		h.fail(ClassBadValueType, field, at, "arrays of arrays are not supported")
	}
	return t
}

func (h *header) count(field string) int {
	at := h.at
	n := h.u64(field)
	if n > min(maxElements, uint64(h.size)) {
		h.fail(ClassCountTooLarge, field, at, "an array of "+strconv.FormatUint(n, 10)+" elements in a file of "+strconv.FormatInt(h.size, 10)+" bytes")
		return 0
	}
	return int(n)
}

// skip passes over n values of one type.
func (h *header) skip(field string, t ValueType, n int) {
	if h.err != nil {
		return
	}
	if t != String {
		h.next(field, uint64(n)*uint64(valueTypes[t].bytes))
		return
	}
	for i := 0; i < n && h.err == nil; i++ {
		h.bytes(field, 0)
	}
}
