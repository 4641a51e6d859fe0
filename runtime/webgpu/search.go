//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// place is where a library may be: a file, a pattern of files, or a plain name that the system's loader looks up.
type place struct {
	path  string
	plain bool
}

// host is what the search depends on, so that a test can give another.
type host struct {
	os     string
	env    func(string) string
	cache  string // the user's cache directory; empty when unknown
	beside string // the directory of the executable
}

func thisHost() host {
	cache, _ := os.UserCacheDir()
	executable, _ := os.Executable()
	return host{runtime.GOOS, os.Getenv, cache, filepath.Dir(executable)}
}

// forced returns the library that must be used, or "".
func (h host) forced(o Options) string {
	if o.Library != "" {
		return o.Library
	}
	return h.env("KGEN_WEBGPU_LIB")
}

// places lists where to look when no library is forced, best first.
func (h host) places() []place {
	plain, wheel, dawn := h.names()
	var list []place
	file := func(parts ...string) {
		if !slices.Contains(parts, "") {
			list = append(list, place{path: filepath.Join(parts...)})
		}
	}
	file(h.env("WGPU_LIB_PATH"))
	file(h.beside, plain)
	file(h.beside, "lib", plain)
	file(h.beside, dawn)
	file(h.beside, "lib", dawn)
	cache := h.env("KGEN_CACHE")
	if cache == "" && h.cache != "" {
		cache = filepath.Join(h.cache, "kgen")
	}
	file(cache, "lib", "wgpu-native-*", plain)
	file(cache, "lib", "py", "wgpu", "resources", wheel)
	file(cache, "lib", "py", "aion_wgpu", plain)
	file(cache, "lib", "dawn-*", dawn)
	packages := []string{"lib", "python3*", "site-packages"}
	if h.os == "windows" {
		packages = []string{"Lib", "site-packages"}
	}
	if root := h.env("VIRTUAL_ENV"); root != "" {
		site := filepath.Join(append([]string{root}, packages...)...)
		file(site, "wgpu", "resources", wheel)
		file(site, "aion_wgpu", plain)
	}
	file(h.env("CONDA_PREFIX"), "lib", plain)
	if h.os == "darwin" {
		file("/opt/homebrew/lib", plain)
		file("/usr/local/lib", plain)
	}
	return append(list, place{plain, true}, place{dawn, true})
}

// names returns the names of wgpu-native's file, alone and in the wheel of PyPI's wgpu, and of Dawn's.
func (h host) names() (plain, wheel, dawn string) {
	switch h.os {
	case "windows":
		return "wgpu_native.dll", "wgpu_native-release.dll", "webgpu_dawn.dll"
	case "darwin":
		return "libwgpu_native.dylib", "libwgpu_native-release.dylib", "libwebgpu_dawn.dylib"
	}
	return "libwgpu_native.so", "libwgpu_native-release.so", "libwebgpu_dawn.so"
}

// found is a file of a place, or the place itself and why it has none.
type found struct {
	path string
	err  error
}

// files returns the files that a place stands for, later versions first, or the one entry that says why there is none.
func (p place) files() []found {
	if p.plain {
		return []found{{p.path, nil}}
	}
	if _, err := os.Stat(p.path); err == nil {
		return []found{{p.path, nil}}
	}
	files := p.versions()
	if len(files) == 0 {
		return []found{{p.path, refusal("no such file")}}
	}
	return files
}

// versions returns the files that a pattern matches. Its * is the last one, and stands for the end of a folder's name: what else the
// path holds is the user's, and may look like a pattern.
func (p place) versions() []found {
	at := strings.LastIndex(p.path, "*")
	if at < 0 {
		return nil
	}
	folder, begin := filepath.Split(p.path[:at])
	entries, _ := os.ReadDir(folder)
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return slices.Compare(numbers(b.Name()), numbers(a.Name())) })
	var files []found
	for _, e := range entries {
		path := folder + e.Name() + p.path[at+1:]
		if _, err := os.Stat(path); err == nil && strings.HasPrefix(e.Name(), begin) {
			files = append(files, found{path, nil})
		}
	}
	return files
}

// numbers returns those in a name: 10 comes after 9.
func numbers(name string) []int {
	var list []int
	for _, digits := range strings.FieldsFunc(name, func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(digits) // the largest, if there are too many digits
		list = append(list, n)
	}
	return list
}
