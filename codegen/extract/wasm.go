package extract

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Wasm finds the texts in the data of a WebAssembly module. Where the file is cut short or wrong, the error is a *FormatError, and the
// texts are those up to there.
func Wasm(data []byte) ([]Text, error) {
	if len(data) < 8 || !bytes.HasPrefix(data, []byte("\x00asm")) {
		return nil, &FormatError{0, "it does not begin as a WebAssembly module does"}
	}
	if v := binary.LittleEndian.Uint32(data[4:]); v != 1 {
		return nil, &FormatError{4, fmt.Sprintf("version %#x of WebAssembly is not known: modules have version 1", v)}
	}
	r := &wasmReader{data: data, at: 8, end: len(data)}
	for r.at < r.end && r.err == nil {
		r.section()
	}
	if r.err != nil {
		return distinct(r.texts), r.err
	}
	return distinct(r.texts), nil
}

// wasmReader reads up to end; the first mistake stays in err.
type wasmReader struct {
	data    []byte
	at, end int
	err     *FormatError
	texts   []Text
}

func (r *wasmReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = &FormatError{r.at, fmt.Sprintf(format, args...)}
	}
	r.at = r.end
}

func (r *wasmReader) byte() byte {
	if r.at >= r.end {
		r.fail("it is cut short")
		return 0
	}
	r.at++
	return r.data[r.at-1]
}

// leb reads an integer of at most so many bits, unsigned or, as a value that nobody asks for, signed.
func (r *wasmReader) leb(bits int) uint64 {
	var value uint64
	for shift := 0; ; shift += 7 {
		start := r.at
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if shift >= bits {
			r.at = start
			r.fail("a number of more than %d bits", bits)
			return 0
		}
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return value
		}
	}
}

// size reads a number of bytes, which have to be there.
func (r *wasmReader) size(what string) int {
	start := r.at
	n := r.leb(32)
	if r.err == nil && n > uint64(r.end-r.at) {
		r.at = start
		r.fail("%s of %d bytes, where %d are left", what, n, r.end-start)
		return 0
	}
	return int(n)
}

const dataSection = 11

func (r *wasmReader) section() {
	id := r.byte()
	n := r.size(fmt.Sprintf("a section (%d)", id))
	if r.err != nil {
		return
	}
	file, last := r.end, r.at+n
	if id == dataSection {
		r.end = last
		r.segments()
		r.end = file
	}
	if r.err == nil {
		r.at = last
	}
}

func (r *wasmReader) segments() {
	count := r.leb(32)
	for i := uint64(0); i < count && r.err == nil; i++ {
		switch flags := r.leb(32); flags {
		case 0:
			r.expression()
		case 1:
		case 2:
			r.leb(32)
			r.expression()
		default:
			r.fail("data segment %d has the unknown kind %d", i, flags)
		}
		n := r.size(fmt.Sprintf("data segment %d", i))
		if r.err == nil {
			r.texts = append(r.texts, scan(r.data[r.at:r.at+n], r.at)...)
			r.at += n
		}
	}
	if r.err == nil && r.at != r.end {
		r.fail("%d bytes after the data segments", r.end-r.at)
	}
}

// expression passes over a constant expression.
func (r *wasmReader) expression() {
	for r.err == nil {
		switch op := r.byte(); op {
		case 0x0b: // end
			return
		case 0x23, 0xd2, 0x41, 0xd0: // global.get, ref.func, i32.const, ref.null
			r.leb(35)
		case 0x42: // i64.const
			r.leb(70)
		case 0x43: // f32.const
			r.skip(4)
		case 0x44: // f64.const
			r.skip(8)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // add, sub and mul of i32 and i64
		default:
			r.at--
			r.fail("instruction %#x in the place of a data segment is not known", op)
		}
	}
}

func (r *wasmReader) skip(n int) {
	if n > r.end-r.at {
		r.fail("it is cut short")
		return
	}
	r.at += n
}
