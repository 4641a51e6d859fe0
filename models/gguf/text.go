package gguf

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// What Text prints of a value at most.
const (
	shown      = 4   // elements of an array
	shownBytes = 120 // bytes of a string
)

// Text returns the value of a key in one line for people to read: strings quoted, long ones and long arrays cut, wrong
// values and missing keys as the text of their error.
func (f *File) Text(key string) string {
	e, err := f.Entry(key)
	if err != nil {
		return err.Error()
	}
	if e.Type != Array {
		return f.elementText(e, e.Type, e.start, e.end)
	}
	var parts []string
	at := e.start
	for range min(e.Count, shown) {
		size := valueTypes[e.Elem].bytes
		if e.Elem == String {
			size = 8 + int(binary.LittleEndian.Uint64(f.header.part(at, at+8)))
		}
		parts = append(parts, f.elementText(e, e.Elem, at, at+size))
		at += size
	}
	if e.Count > shown {
		parts = append(parts, "… "+strconv.Itoa(e.Count)+" in all")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (f *File) elementText(e *Entry, t ValueType, from, to int) string {
	if t == String {
		from += 8
		s := strconv.Quote(string(f.header.part(from, min(to, from+shownBytes))))
		if to-from > shownBytes {
			s += "… " + strconv.Itoa(to-from) + " bytes in all"
		}
		return s
	}
	b := f.header.part(from, to)
	switch t {
	case Bool:
		v, err := e.bool(b)
		if err != nil {
			return err.Error()
		}
		return strconv.FormatBool(v)
	case Float32:
		v, _ := e.float(b, t)
		return strconv.FormatFloat(v, 'g', -1, 32)
	case Float64:
		v, _ := e.float(b, t)
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	v, negative := integer(t, b)
	if negative {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatUint(v, 10)
}
