//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
)

// cutShort refuses an ELF file that ends before what the loader maps of it. The loader of glibc does not look: it touches the pages
// behind the end, and SIGBUS ends the process. Of any other trouble the loader tells by itself.
func cutShort(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	var head elf.Header64
	if err != nil || binary.Read(f, binary.LittleEndian, &head) != nil ||
		string(head.Ident[:len(elf.ELFMAG)]) != elf.ELFMAG || elf.Class(head.Ident[elf.EI_CLASS]) != elf.ELFCLASS64 {
		return nil
	}
	size := uint64(info.Size())
	for i := range int64(head.Phnum) {
		var part elf.Prog64
		at := io.NewSectionReader(f, int64(head.Phoff)+i*int64(head.Phentsize), int64(binary.Size(part)))
		if binary.Read(at, binary.LittleEndian, &part) != nil {
			return nil
		}
		if elf.ProgType(part.Type) == elf.PT_LOAD && (part.Off > size || part.Filesz > size-part.Off) {
			return refusal("cut short: it has " + utoa(size) + " bytes of " + utoa(part.Off+part.Filesz) + " or more")
		}
	}
	return nil
}
