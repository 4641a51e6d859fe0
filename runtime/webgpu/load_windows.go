//go:build !nogpu && (amd64 || arm64)

package webgpu

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// dlopen loads a library. What it depends on is looked for beside it, beside the executable and in the system's folders, and
// a plain name in the latter two: never in the current folder or PATH, where anyone may have put another. Libraries are
// never unloaded: they have threads and callbacks.
func dlopen(path string) (uintptr, error) {
	var flags uintptr = windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
	if filepath.IsAbs(path) {
		flags |= windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR // refused with a plain name
	}
	h, err := windows.LoadLibraryEx(path, 0, flags)
	return uintptr(h), err
}

// dlsym returns the address of a function, or 0.
func dlsym(library uintptr, name string) uintptr {
	p, err := windows.GetProcAddress(windows.Handle(library), name)
	if err != nil {
		return 0
	}
	return p
}
