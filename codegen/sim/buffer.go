package sim

import "encoding/binary"

// Buffer is memory of the device, in words of 4 bytes. It knows which halves of them were ever written.
type Buffer struct {
	Name    string
	words   []uint32
	written []uint64 // a bit for each half of a word; nil when all are
	unset   int      // halves that are not
	left    []span   // what the dispatch that runs wrote: others of its workgroups can't count on that
	stamps  []uint32 // the tensor that wrote each word last; nil where nobody asks
	groups  groupShadow
}

// NewBuffer returns a buffer of bytes, rounded up to 4, that is zero. With written false, a read of what nobody wrote is a finding.
func NewBuffer(name string, bytes uint64, written bool) *Buffer {
	n := int((bytes + 3) / 4)
	b := &Buffer{Name: name, words: make([]uint32, n)}
	if !written && n > 0 {
		b.written, b.unset = make([]uint64, (2*n+63)/64), 2*n
	}
	return b
}

// Size returns the buffer's length in bytes.
func (b *Buffer) Size() uint64 { return uint64(len(b.words)) * 4 }

// Write copies data into the buffer at an offset; both are multiples of 4 bytes, and within the buffer.
func (b *Buffer) Write(offset uint64, data []byte) {
	at := int(offset / 4)
	for i := range len(data) / 4 {
		b.words[at+i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	b.mark(2*at, len(data)/4*2)
	b.settle()
}

// Read returns bytes of the buffer; offset and length are multiples of 4, and within the buffer.
func (b *Buffer) Read(offset, length uint64) []byte {
	out := make([]byte, length)
	for i, w := range b.words[offset/4:][:length/4] {
		binary.LittleEndian.PutUint32(out[4*i:], w)
	}
	return out
}

// span is halves of words that follow each other.
type span struct {
	half int
	n    int8
}

// isWritten reports whether n halves of words, 1 or 2, were all written before the dispatch.
func (b *Buffer) isWritten(half, n int) bool {
	if b.written == nil {
		return true
	}
	want := uint64(1<<n-1) << (half % 64) // both are in one element
	return b.written[half/64]&want == want
}

// leave notes that a workgroup wrote n halves of words. Callers see to it that nobody else does at the same time.
func (b *Buffer) leave(half, n int) {
	if b.written != nil {
		b.left = append(b.left, span{half, int8(n)})
	}
}

// mark says that halves of words were written.
func (b *Buffer) mark(half, n int) {
	if b.written == nil {
		return
	}
	for i := half; i < half+n; i++ {
		if bit := uint64(1) << (i % 64); b.written[i/64]&bit == 0 {
			b.written[i/64] |= bit
			b.unset--
		}
	}
}

// settle marks what a dispatch wrote, and forgets what was written when all is. No program runs meanwhile.
func (b *Buffer) settle() {
	for _, s := range b.left {
		b.mark(s.half, int(s.n))
	}
	b.left = b.left[:0]
	if b.unset == 0 {
		b.written, b.left = nil, nil
	}
}
