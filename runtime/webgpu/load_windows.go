//go:build !nogpu && (amd64 || arm64)

package webgpu

import "syscall"

// dlopen loads a library. Libraries are never unloaded: they have threads and callbacks.
func dlopen(path string) (uintptr, error) {
	h, err := syscall.LoadLibrary(path)
	return uintptr(h), err
}

// dlsym returns the address of a function, or 0.
func dlsym(library uintptr, name string) uintptr {
	p, err := syscall.GetProcAddress(syscall.Handle(library), name)
	if err != nil {
		return 0
	}
	return p
}
