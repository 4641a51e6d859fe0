package gguf

import (
	"io"
	"math"
	"strconv"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// File is an open GGUF file. Its methods may be called from several goroutines, but Close only when no other call runs.
type File struct {
	Version   int
	Alignment int64 // of tensor data in bytes
	Size      int64 // of the file in bytes
	Trailing  int64 // bytes after the last tensor and its padding; more than 0 deserves a warning

	entries []Entry
	keys    map[string]int // index in entries
	tensors []Tensor
	names   map[string]int // index in tensors
	header  chunks         // a copy, so that keys outlive the mapping
	from    io.ReaderAt
	backing *backing // nil for Parse
	closed  bool
}

// Parse reads the header of a file of the given size and checks the place of every tensor. It keeps r and reads tensor data
// through it.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	h := &header{from: r, size: max(0, size)}
	f := &File{Size: h.size, from: r}
	version, tensors, keys := h.start()
	f.Version = int(version)
	f.readKeys(h, int(keys))
	f.readAlignment(h)
	f.checkSplit(h)
	f.readTensors(h, int(tensors))
	if h.err != nil {
		h.explainMangled()
		return nil, h.err
	}
	dataStart := (int64(h.at) + f.Alignment - 1) / f.Alignment * f.Alignment
	end, err := place(f.tensors, dataStart, f.Alignment, f.Size)
	if err != nil {
		return nil, err
	}
	f.Trailing = max(0, f.Size-(end+f.Alignment-1)/f.Alignment*f.Alignment)
	if f.Trailing > 0 && len(f.tensors) > 0 {
		if err := f.checkMangled(dataStart); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *File) readKeys(h *header, n int) {
	if h.err != nil {
		return
	}
	room := h.room(n, leastKeyBytes)
	f.keys = make(map[string]int, room)
	f.entries = make([]Entry, 0, room)
	text := 0
	for i := 0; i < n && h.err == nil; i++ {
		at := h.at
		e := h.entry(i)
		if _, twice := f.keys[e.Key]; twice {
			h.fail(ClassDuplicateKey, e.Key, at, "the key appears twice")
		}
		if text += len(e.Key); text > maxKeyText {
			h.fail(ClassCountTooLarge, e.Key, at, "the names of keys take more than "+strconv.Itoa(maxKeyText>>20)+" MiB")
		}
		f.keys[e.Key] = len(f.entries)
		f.entries = append(f.entries, e)
	}
	f.header = h.held
}

func (f *File) readTensors(h *header, n int) {
	if h.err != nil {
		return
	}
	room := h.room(n, leastTensorBytes)
	f.names = make(map[string]int, room)
	f.tensors = make([]Tensor, 0, room)
	for i := 0; i < n && h.err == nil; i++ {
		at := h.at
		t := h.tensor(i)
		if _, twice := f.names[t.Name]; twice {
			h.fail(ClassDuplicateTensor, t.Name, at, "the tensor appears twice")
		}
		f.names[t.Name] = len(f.tensors)
		f.tensors = append(f.tensors, t)
	}
}

// readAlignment takes the alignment of tensor data from the key that may change it.
func (f *File) readAlignment(h *header) {
	const key = "general.alignment"
	f.Alignment = 32
	i, ok := f.keys[key]
	if h.err != nil || !ok {
		return
	}
	e := f.entries[i]
	if e.Type != Uint32 {
		h.fail(ClassBadAlignment, key, e.start, "a value of type "+e.Type.String()+", want u32")
		return
	}
	n, _ := f.Uint(key)
	if n == 0 || n&(n-1) != 0 {
		h.fail(ClassBadAlignment, key, e.start, strconv.FormatUint(n, 10)+" is no power of two")
		return
	}
	f.Alignment = int64(n)
}

// checkSplit refuses parts of a split model.
func (f *File) checkSplit(h *header) {
	const key = "split.count"
	i, ok := f.keys[key]
	if h.err != nil || !ok {
		return
	}
	n, err := f.Uint(key)
	if err != nil {
		h.err = err.(*Error)
	} else if n > 1 {
		part := ""
		if number, err := f.Uint("split.no"); err == nil && number < n {
			part = ", of which this is number " + strconv.FormatUint(number+1, 10)
		}
		h.fail(ClassSplitFile, key, f.entries[i].start, "the model is split over "+strconv.FormatUint(n, 10)+" files"+part+", which is not supported; merge them first")
	}
}

// Tensors returns the tensor table in file order. It is not to be changed.
func (f *File) Tensors() []Tensor { return f.tensors }

// HasTensor reports whether the file has a tensor of the name.
func (f *File) HasTensor(name string) bool {
	_, ok := f.names[name]
	return ok
}

// Tensor returns the entry of a tensor, ClassMissingTensor if there is none.
func (f *File) Tensor(name string) (*Tensor, error) {
	i, ok := f.names[name]
	if !ok {
		return nil, &Error{Class: ClassMissingTensor, Field: printable(name), Offset: -1, Detail: "the file has no such tensor"}
	}
	return &f.tensors[i], nil
}

// readable returns a tensor whose data can be asked for.
func (f *File) readable(name string) (*Tensor, error) {
	t, err := f.Tensor(name)
	if err != nil {
		return nil, err
	}
	if f.closed {
		return nil, tensorError(ClassClosed, t, "the file is closed")
	}
	if _, known := t.Type.Block(); !known {
		return nil, tensorError(ClassBadTensorType, t, (&quant.UnsupportedError{Type: t.Type}).Error())
	}
	return t, nil
}

// Bytes returns the data of a tensor: a part of the mapped file, to be read only and valid until Close, or a fresh copy where
// the file is not mapped. A file that another program shortens while the part is in use ends this one; ReadTensor is safe
// from that.
func (f *File) Bytes(name string) ([]byte, error) {
	t, err := f.readable(name)
	if err != nil {
		return nil, err
	}
	if data, ok := f.backing.part(t.Offset, t.Size); ok {
		return data, nil
	}
	if t.Size > math.MaxInt {
		return nil, tensorError(ClassBadRange, t, strconv.FormatInt(t.Size, 10)+" bytes are more than this host can address; read it in parts")
	}
	data := make([]byte, t.Size)
	if err := f.ReadTensor(name, 0, data); err != nil {
		return nil, err
	}
	return data, nil
}

// ReadTensor fills p with the bytes of a tensor from the given offset within it.
func (f *File) ReadTensor(name string, offset int64, p []byte) error {
	t, err := f.readable(name)
	if err != nil {
		return err
	}
	if offset < 0 || int64(len(p)) > t.Size-offset {
		return tensorError(ClassBadRange, t, strconv.Itoa(len(p))+" bytes at "+strconv.FormatInt(offset, 10)+" of a tensor of "+strconv.FormatInt(t.Size, 10))
	}
	n, err := f.from.ReadAt(p, t.Offset+offset)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return &Error{Class: ClassRead, Field: printable(name), Offset: t.Offset + offset + int64(n), Detail: "cannot be read", Err: err}
}

// Close releases the file and its mapping. Keys and the tensor table stay readable. Closing again does nothing.
func (f *File) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	return f.backing.close()
}
