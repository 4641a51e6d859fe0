//go:build !nogpu && (linux || darwin) && (amd64 || arm64) && !android

package webgpu

import "github.com/ebitengine/purego"

// dlopen loads a library, resolving all of it now and keeping its names to itself. Libraries are never unloaded: they
// have threads and callbacks.
func dlopen(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// dlsym returns the address of a function, or 0.
func dlsym(library uintptr, name string) uintptr {
	p, err := purego.Dlsym(library, name)
	if err != nil {
		return 0
	}
	return p
}
