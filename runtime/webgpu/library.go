//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"path/filepath"
	"strings"

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
// ($KGEN_CACHE, else kgen in the user's cache directory) in lib/wgpu-native-VERSION and, where pip --target puts it, in
// lib/py; the Python packages of $VIRTUAL_ENV and $CONDA_PREFIX; what the system's loader finds. The error, a
// *plan.DeviceError with fault NoLibrary, tells each place and why it was none.
func Find(o Options) (*Library, error) {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	h := thisHost()
	if forced := h.forced(o); forced != "" {
		a, err := loadFile(forced, false)
		if err != nil {
			return nil, noLibrary("load "+forced, err.Error())
		}
		return newLibrary(a, forced, o)
	}
	a, path, err := search(h.places())
	if err != nil {
		return nil, err
	}
	return newLibrary(a, path, o)
}

// search loads the first library that can be used.
func search(places []place) (*api, string, error) {
	var tried []string
	for _, p := range places {
		files, why := p.candidates()
		if why != "" {
			tried = append(tried, p.path+": "+why)
		}
		for _, file := range files {
			a, err := loadFile(file, p.plain)
			if err == nil {
				return a, file, nil
			}
			tried = append(tried, file+": "+err.Error())
		}
	}
	return nil, "", noLibrary("find a WebGPU library", "tried\n  "+strings.Join(tried, "\n  ")+"\n"+SetupHint)
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
	h, err := dlopen(path)
	if err != nil {
		return nil, err
	}
	return bind(func(name string) uintptr { return dlsym(h, name) })
}

// bind makes the table of functions from a way to look them up.
func bind(lookup func(name string) uintptr) (*api, error) {
	a := &api{}
	switch {
	case lookup(symbolNames[fnCreateInstance]) == 0:
		return nil, refusal("no wgpuCreateInstance in it: not a WebGPU library")
	case lookup("wgpuInstanceRequestAdapterF") != 0:
		return nil, refusal("a Dawn of 2024, whose callbacks have another form")
	}
	for _, f := range flavours() {
		if a.addr[f.detect] = lookup(symbolNames[f.detect]); a.addr[f.detect] != 0 {
			a.flavour = &f
			break
		}
	}
	if a.flavour == nil {
		return nil, refusal("not a library that kgen knows; it knows wgpu-native 29")
	}
	if a.version = uint32(call(a.addr[fnGetVersion])); a.version < a.flavour.oldest {
		return nil, refusal(a.name() + " is too old: " + versionText(a.flavour.oldest) + " is the first that follows the stable header")
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

func (a *api) name() string { return a.flavour.name + " " + versionText(a.version) }

func newLibrary(a *api, path string, o Options) (*Library, error) {
	l := &Library{api: a, path: path, options: o}
	if l.instance = a.flavour.instance(a); l.instance == 0 {
		return nil, noLibrary("create an instance of "+path, "the library made none")
	}
	o.Log("library " + l.Name() + " from " + path)
	if a.version > a.flavour.newest {
		o.Log(l.Name() + " is newer than what this was tried with, " + versionText(a.flavour.oldest))
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
