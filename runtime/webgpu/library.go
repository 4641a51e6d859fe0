//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Library is a loaded WebGPU library with an instance. Devices that were opened outlive its Close.
type Library struct {
	api      *api
	path     string
	options  Options
	instance instance
	adapters []*Adapter
}

// Find loads a WebGPU library. If the options or KGEN_WEBGPU_LIB name a file, it is that or an error. Else it is the first
// that can be used of: the file that WGPU_LIB_PATH names; a file beside the executable or in lib beside it; the cache
// ($KGEN_CACHE, else kgen in the user's cache directory) in lib/wgpu-native-VERSION, where pip --target puts it in lib/py,
// and in lib/dawn-VERSION; the Python packages of $VIRTUAL_ENV and $CONDA_PREFIX; what the system's loader finds. The
// error, a *plan.DeviceError with fault NoLibrary, tells each place and why it was none.
func Find(o Options) (*Library, error) {
	h := thisHost()
	if forced := h.forced(o); forced != "" {
		l, err := open(forced, false, o)
		if err != nil {
			return nil, noLibrary("load "+forced, err.Error())
		}
		return l, nil
	}
	a, path, err := search(h.places())
	if err != nil {
		return nil, err
	}
	return newLibrary(a, path, o)
}

// search loads the first library that can be used.
func search(places []place) (*api, string, error) {
	tried := ""
	for _, p := range places {
		for _, f := range p.files() {
			if f.err == nil {
				a, err := loadFile(f.path, p.plain)
				if err == nil {
					return a, f.path, nil
				}
				f.err = err
			}
			tried += "  " + f.path + ": " + strings.TrimPrefix(f.err.Error(), f.path+": ") + "\n" // the loader's errors name it too
		}
	}
	return nil, "", noLibrary("find a WebGPU library", "tried\n"+tried+SetupHint)
}

// Candidate is a place in which a library was looked for.
type Candidate struct {
	Path    string   // a file, a pattern that matches none, or a name that the system's loader looks up
	Library *Library // nil if there is none that can be used; to be closed
	Err     error    // then, why
}

// Survey loads every library that Find would look at, in its order, and tells of each place why there is none: of the file
// alone that must be used, if the options or KGEN_WEBGPU_LIB name one.
func Survey(o Options) []Candidate {
	h := thisHost()
	places := h.places()
	if forced := h.forced(o); forced != "" {
		places = []place{{forced, false}}
	}
	var list []Candidate
	for _, p := range places {
		for _, f := range p.files() {
			c := Candidate{Path: f.path, Err: f.err}
			if f.err == nil {
				c.Library, c.Err = open(f.path, p.plain, o)
			}
			list = append(list, c)
		}
	}
	return list
}

// open loads the library of a file and makes its instance.
func open(path string, plain bool, o Options) (*Library, error) {
	a, err := loadFile(path, plain)
	if err != nil {
		return nil, err
	}
	return newLibrary(a, path, o)
}

func noLibrary(call, detail string) error {
	return &plan.DeviceError{Fault: plan.NoLibrary, Call: call, Detail: detail}
}

// refusal is why a file is not a library that can be used.
type refusal string

func (r refusal) Error() string { return string(r) }

// loadFile loads a library and binds its functions.
func loadFile(path string, plain bool) (*api, error) {
	if !plain {
		full, err := filepath.Abs(path) // a bare name would be looked up elsewhere
		if err != nil {
			return nil, err
		}
		path = full
	}
	if strings.HasPrefix(filepath.Base(path), "_wgpu_dawn") {
		return nil, refusal("a Python extension with Dawn inside; its functions are reached through libwebgpu_dawn.so, which `kgen lib install dawn` puts beside it")
	}
	if runtime.GOOS == "linux" && !plain {
		if err := cutShort(path); err != nil {
			return nil, err
		}
		extension := filepath.Join(filepath.Dir(path), "_wgpu_dawn.abi3.so") // which libwebgpu_dawn.so opens
		if err := cutShort(extension); err != nil && filepath.Base(path) == "libwebgpu_dawn.so" {
			return nil, refusal(extension + ": " + err.Error())
		}
	}
	h, err := dlopen(path)
	if err != nil {
		return nil, err
	}
	find, err := lookup(func(name string) uintptr { return dlsym(h, name) })
	if err != nil {
		return nil, err
	}
	return bind(find)
}

// lookup adds to a library's exported names those that its function kgen_dawn_find finds, if it has one: see
// internal/libraries/dawn/stub.c.
func lookup(exported func(string) uintptr) (func(string) uintptr, error) {
	find := exported("kgen_dawn_find")
	if find == 0 {
		return exported, nil
	}
	if why := cString(call(exported("kgen_dawn_error"))); why != "" {
		return nil, refusal(why)
	}
	return func(name string) uintptr {
		if fn := exported(name); fn != 0 {
			return fn
		}
		return call(find, uintptr(unsafe.Pointer(cText(name))))
	}, nil
}

// bind makes the table of functions from a way to look them up.
func bind(lookup func(name string) uintptr) (*api, error) {
	a := &api{}
	switch {
	case lookup(symbolNames[fnCreateInstance]) == 0:
		return nil, refusal("no wgpuCreateInstance in it: not a WebGPU library")
	case lookup("wgpuInstanceRequestAdapterF") != 0:
		return nil, refusal("a Dawn of 2024, whose callbacks have another form")
	case lookup("wgpuGetInstanceCapabilities") != 0:
		return nil, refusal("a Dawn of early 2025, which numbers its features otherwise")
	}
	for _, f := range flavours() {
		if a.addr[f.detect] = lookup(symbolNames[f.detect]); a.addr[f.detect] != 0 {
			a.flavour = &f
			break
		}
	}
	if a.flavour == nil {
		return nil, refusal("not a library that kgen knows; it knows wgpu-native 29 and Dawn since the stable header")
	}
	var err error
	if a.version, err = a.flavour.version(a, lookup); err != nil {
		return nil, err
	}
	need := append([]symbol(nil), a.flavour.needs...)
	for s := symbol(0); s < commonSymbols; s++ {
		need = append(need, s)
	}
	for _, s := range need {
		if a.addr[s] = lookup(symbolNames[s]); a.addr[s] == 0 {
			return nil, refusal(a.name() + " lacks " + symbolNames[s])
		}
	}
	for name, f := range map[string]any{
		"wgpuInstanceRequestAdapter":       &a.requestAdapter,
		"wgpuAdapterRequestDevice":         &a.requestDevice,
		"wgpuDevicePopErrorScope":          &a.popErrorScope,
		"wgpuBufferMapAsync":               &a.mapAsync,
		"wgpuQueueOnSubmittedWorkDone":     &a.onSubmittedWork,
		"wgpuAdapterInfoFreeMembers":       &a.adapterInfoFree,
		"wgpuSupportedFeaturesFreeMembers": &a.featuresFree,
	} {
		fn := lookup(name)
		if fn == 0 {
			return nil, refusal(a.name() + " lacks " + name)
		}
		purego.RegisterFunc(f, fn)
	}
	a.callbacks = theCallbacks()
	return a, nil
}

func (a *api) name() string { return a.flavour.name + " " + a.version }

func newLibrary(a *api, path string, o Options) (*Library, error) {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	l := &Library{api: a, path: path, options: o}
	if l.instance = a.flavour.instance(a); l.instance == 0 {
		return nil, noLibrary("create an instance of "+path, "the library made none")
	}
	o.Log("library " + l.Name() + " from " + path)
	if !strings.HasPrefix(a.version, a.flavour.tried) {
		o.Log(l.Name() + " was never tried; " + a.flavour.tried + " was")
	}
	return l, nil
}

// Name returns the library's name and version.
func (l *Library) Name() string { return l.api.name() }

// Path returns the file the library was loaded from, or the name that the system's loader found.
func (l *Library) Path() string { return l.path }

// Close releases the instance and its adapters. The code stays loaded: libraries have threads. It may be called twice.
func (l *Library) Close() {
	for _, a := range l.adapters {
		release(l.api, fnAdapterRelease, a.handle)
		a.handle = 0
	}
	l.adapters = nil
	release(l.api, fnInstanceRelease, l.instance)
	l.instance = 0
}
