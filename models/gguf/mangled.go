package gguf

import (
	"bytes"
	"strconv"
)

// Programs that take a binary file for text replace every byte that is no UTF-8 by these three. Nothing brings the file
// back, but the reader can say what happened to it.
var replacement = []byte("\xef\xbf\xbd")

// nearMangled is how far from the first wrong field the replaced byte may lie: it moves all that follow.
const nearMangled = 16

// explainMangled adds to an error of the header that replaced bytes stand beside the field at fault. They may be text of
// a token too, so the class stays.
func (h *header) explainMangled() {
	from, have := int(h.err.Offset)-nearMangled, len(h.held)*chunkSize
	if n := len(h.held); n > 0 {
		have -= chunkSize - len(h.held[n-1])
	}
	from, to := max(0, from), min(have, from+2*nearMangled)
	if from < to && bytes.Contains(h.held.part(from, to), replacement) {
		h.err.Detail += "; beside it stand the bytes EF BF BD, so the file may have been converted as if it were text"
	}
}

// checkMangled looks at the start of the tensor data of a file that is longer than its tensors. In weights the three bytes
// stand together once in 16 million places.
func (f *File) checkMangled(dataStart int64) *Error {
	const (
		looked = 64 << 10
		many   = 16 // in so many bytes; half of all bytes are replaced in quantised weights
	)
	data := make([]byte, min(looked, f.Size-dataStart))
	if n, err := f.from.ReadAt(data, dataStart); n < len(data) {
		return &Error{Class: ClassRead, Field: "data", Offset: dataStart + int64(n), Detail: "cannot be read", Err: err}
	}
	if n := bytes.Count(data, replacement); n > len(data)/many {
		return &Error{Class: ClassTextMangled, Field: "data", Offset: dataStart + int64(bytes.Index(data, replacement)),
			Detail: "the file was converted as if it were text: of its first " + strconv.Itoa(len(data)) + " bytes of weights " +
				strconv.Itoa(3*n) + " are EF BF BD, which stand for bytes that are lost"}
	}
	return nil
}
