//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	list := []string{p.path}
	if strings.Contains(p.path, "*") {
		list, _ = filepath.Glob(p.path)
	} else if _, err := os.Stat(p.path); err != nil {
		list = nil
	}
	if len(list) == 0 {
		return []found{{p.path, refusal("no such file")}}
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(b, a) })
	var files []found
	for _, path := range list {
		files = append(files, found{path, nil})
	}
	return files
}
