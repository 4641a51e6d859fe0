package gguf

import (
	"os"

	"github.com/edsrzf/mmap-go"
)

// backing is the operating system's file under a File opened by path. The mapping is nil where none is possible.
type backing struct {
	file    *os.File
	mapping mmap.MMap
}

// Open opens the file at path, checks its header and maps it into memory; where it cannot be mapped, in a browser or on a
// 32-bit host, tensors are read instead.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := open(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

func open(file *os.File) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Class: ClassRead, Field: info.Name(), Offset: -1, Detail: "not a regular file"}
	}
	f, err := Parse(file, info.Size())
	if err != nil {
		return nil, err
	}
	f.backing = &backing{file: file}
	if f.Size == int64(int(f.Size)) {
		// Without a mapping reading still works, so what keeps the file from being mapped does not matter.
		f.backing.mapping, _ = mmap.MapRegion(file, int(f.Size), mmap.RDONLY, 0, 0)
	}
	return f, nil
}

// part returns bytes of the mapping; ok is false when there is none, or when the file has become shorter than the part.
func (b *backing) part(offset, size int64) (data []byte, ok bool) {
	if b == nil || b.mapping == nil {
		return nil, false
	}
	info, err := b.file.Stat()
	if err != nil || info.Size() < offset+size {
		return nil, false
	}
	return b.mapping[offset : offset+size : offset+size], true
}

func (b *backing) close() error {
	if b == nil {
		return nil
	}
	var err error
	if b.mapping != nil {
		err = b.mapping.Unmap()
	}
	if closed := b.file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return &Error{Class: ClassRead, Field: b.file.Name(), Offset: -1, Detail: "cannot be closed", Err: err}
	}
	return nil
}
