package gguf

import (
	"encoding/binary"
	"io"
	"strconv"
)

// Limits on a header, far above what models have: they bound the time and memory that a crafted file can take.
const (
	maxHeader    = 32 << 20 // the largest vocabularies, of 260,000 tokens and twice as many merges, take 16 MiB
	maxKeys      = 1 << 16
	maxKeyText   = 4 << 20   // names of all keys together
	maxKeyBytes  = 1<<16 - 1 // of the specification
	maxElements  = 1 << 30
	maxTensors   = 1 << 16 // models with a tensor for each expert have 40,000
	maxNameBytes = 64      // of the specification
	maxDims      = 4       // of the specification

	leastKeyBytes    = 8 + 1 + 4 + 1     // a name of one byte, a value of one
	leastTensorBytes = 8 + 1 + 4 + 4 + 8 // a name of one byte, no dimensions
)

// header reads the fields of a header in order. The first error sticks: later reads return zero.
type header struct {
	from io.ReaderAt
	size int64 // of the file
	held chunks
	at   int
	err  *Error
}

func (h *header) fail(class Class, field string, at int, detail string) {
	if h.err == nil {
		h.err = &Error{Class: class, Field: printable(field), Offset: int64(at), Detail: detail}
	}
}

// next returns the next n bytes, nil on an error. n may be any number that a file holds.
func (h *header) next(field string, n uint64) []byte {
	at := h.at
	if !h.skip(field, n) {
		return nil
	}
	return h.held.part(at, h.at)
}

// skip passes over the next n bytes, false on an error.
func (h *header) skip(field string, n uint64) bool {
	switch {
	case h.err != nil:
		return false
	case n > uint64(h.size)-uint64(h.at):
		h.fail(ClassUnexpectedEOF, field, h.at, "the file ends: "+strconv.FormatUint(n, 10)+" bytes wanted, "+
			strconv.FormatInt(h.size-int64(h.at), 10)+" left")
		return false
	case uint64(h.at)+n > maxHeader:
		h.fail(ClassCountTooLarge, field, h.at, "the header is larger than "+strconv.Itoa(maxHeader>>20)+" MiB")
		return false
	}
	for len(h.held)*chunkSize < h.at+int(n) {
		if !h.readChunk() {
			return false
		}
	}
	h.at += int(n)
	return true
}

// room returns how many of n entries of at least so many bytes the rest of the file can hold.
func (h *header) room(n, least int) int { return int(min(int64(n), (h.size-int64(h.at))/int64(least))) }

func (h *header) readChunk() bool {
	have := len(h.held) * chunkSize
	chunk := make([]byte, min(h.size-int64(have), chunkSize))
	if got, err := h.from.ReadAt(chunk, int64(have)); got < len(chunk) {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		h.fail(ClassRead, "header", have+got, "cannot be read")
		h.err.Err = err
		return false
	}
	h.held = append(h.held, chunk)
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

// name reads a string of 1 to limit bytes.
func (h *header) name(field string, limit uint64) string {
	at := h.at
	n := h.u64(field)
	if h.err == nil && (n == 0 || n > limit) {
		h.fail(ClassStringLength, field, at, "a string of "+strconv.FormatUint(n, 10)+" bytes, 1 to "+strconv.FormatUint(limit, 10)+" are allowed")
	}
	return string(h.next(field, n))
}

// skipString passes over a string of any length that the file can hold.
func (h *header) skipString(field string) {
	at := h.at
	n := h.u64(field)
	if n > uint64(h.size) {
		h.fail(ClassStringLength, field, at, "a string of "+strconv.FormatUint(n, 10)+" bytes in a file of "+strconv.FormatInt(h.size, 10))
	}
	h.skip(field, n)
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
	key := h.name("key "+strconv.Itoa(number), maxKeyBytes)
	e := Entry{Key: key, Count: 1, Type: h.valueType(key, true)}
	elem := e.Type
	if e.Type == Array {
		e.Elem = h.valueType(key, false)
		e.Count = h.count(key)
		elem = e.Elem
	}
	e.start = h.at
	h.skipValues(key, elem, e.Count)
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

// skipValues passes over n values of one type.
func (h *header) skipValues(field string, t ValueType, n int) {
	if h.err != nil {
		return
	}
	if t != String {
		h.skip(field, uint64(n)*uint64(valueTypes[t].bytes))
		return
	}
	if left := uint64(h.size - int64(h.at)); uint64(n) > left/8 {
		h.fail(ClassUnexpectedEOF, field, h.at, "the file ends: "+strconv.Itoa(n)+" strings wanted, "+strconv.FormatUint(left, 10)+" bytes left")
	}
	for i := 0; i < n && h.err == nil; i++ {
		h.skipString(field)
	}
}
