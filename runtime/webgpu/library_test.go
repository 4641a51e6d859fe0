//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

func environment(list map[string]string) func(string) string {
	return func(name string) string { return list[name] }
}

func TestSearchOrder(t *testing.T) {
	h := host{os: "linux", cache: "/home/u/.cache", beside: "/opt/app", env: environment(map[string]string{"WGPU_LIB_PATH": "/w.so", "VIRTUAL_ENV": "/venv", "CONDA_PREFIX": "/conda"})}
	want := []place{
		{"/w.so", false},
		{"/opt/app/libwgpu_native.so", false},
		{"/opt/app/lib/libwgpu_native.so", false},
		{"/opt/app/libwebgpu_dawn.so", false},
		{"/opt/app/lib/libwebgpu_dawn.so", false},
		{"/home/u/.cache/kgen/lib/wgpu-native-*/libwgpu_native.so", false},
		{"/home/u/.cache/kgen/lib/py/wgpu/resources/libwgpu_native-release.so", false},
		{"/home/u/.cache/kgen/lib/py/aion_wgpu/libwgpu_native.so", false},
		{"/home/u/.cache/kgen/lib/dawn-*/libwebgpu_dawn.so", false},
		{"/venv/lib/python3*/site-packages/wgpu/resources/libwgpu_native-release.so", false},
		{"/venv/lib/python3*/site-packages/aion_wgpu/libwgpu_native.so", false},
		{"/conda/lib/libwgpu_native.so", false},
		{"libwgpu_native.so", true},
		{"libwebgpu_dawn.so", true},
	}
	if filepath.Separator == '/' {
		if d := cmp.Diff(want, h.places(), cmp.AllowUnexported(place{})); d != "" {
			t.Error(d)
		}
	}
	h = host{os: "darwin", beside: "/app", env: environment(map[string]string{"KGEN_CACHE": "/elsewhere"})}
	list := h.places()
	if list[4].path != filepath.Join("/elsewhere", "lib", "wgpu-native-*", "libwgpu_native.dylib") || list[len(list)-2] != (place{"libwgpu_native.dylib", true}) {
		t.Errorf("places on macOS: %v", list)
	}
	h = host{os: "windows", env: environment(map[string]string{"KGEN_WEBGPU_LIB": "here.dll"})}
	if got := h.forced(Options{}); got != "here.dll" {
		t.Errorf("forced: %q", got)
	}
	if got := h.forced(Options{Library: "there.dll"}); got != "there.dll" {
		t.Errorf("forced: %q", got)
	}
}

func TestCandidates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[1]b") // no part of the pattern
	for _, v := range []string{"29.0.0.1", "29.0.10.1", "29.0.9.1"} {
		if err := os.MkdirAll(filepath.Join(dir, "wgpu-native-"+v), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "wgpu-native-"+v, "l.so"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := place{path: filepath.Join(dir, "wgpu-native-*", "l.so")}.files()
	if len(got) != 3 || got[0].err != nil || filepath.Base(filepath.Dir(got[0].path)) != "wgpu-native-29.0.10.1" {
		t.Errorf("got %v, want the later version first", got)
	}
	for _, missing := range []string{"*.so", "none.so"} {
		path := filepath.Join(dir, missing)
		if got := (place{path: path}).files(); len(got) != 1 || got[0].path != path || got[0].err != refusal("no such file") {
			t.Errorf("got %v for a place with nothing", got)
		}
	}
}

// TestFindFails looks at the two errors of Find: a forced file that is bad, and a search that found nothing.
func TestFindFails(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.so")
	if err := os.WriteFile(bad, []byte("not a library"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KGEN_WEBGPU_LIB", bad)
	_, err := Find(Options{})
	isNoLibrary(t, err, "load "+bad, "bad.so")
	_, err = Find(Options{Library: bad + ".none"})
	isNoLibrary(t, err, "load "+bad+".none", "bad.so.none")

	h := host{os: "linux", beside: t.TempDir(), env: environment(map[string]string{"WGPU_LIB_PATH": bad, "KGEN_CACHE": "/nowhere"})}
	places := h.places()
	_, _, err = search(append(places[:len(places)-2], place{"libnone.so", true})) // not the system's own
	isNoLibrary(t, err, "find a WebGPU library", bad+": ", "/nowhere/lib/wgpu-native-*/libwgpu_native.so: no such file", "make setup", "pip install")
	if strings.Contains(err.Error(), "libnone.so: libnone.so") {
		t.Errorf("a name twice: %v", err)
	}
	t.Log(err)
}

// TestCutLibrary opens files that end too early, and extensions of Dawn that do: the loader would end the process.
func TestCutLibrary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the loaders of other systems look by themselves")
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, err := range map[string]error{
		"whole":       cutShort(write("a.so", program)),
		"no ELF":      cutShort(write("a.so", []byte("not a library"))),
		"only a head": cutShort(write("a.so", program[:64])),
		"nothing":     cutShort(write("a.so", nil)),
		"absent":      cutShort(filepath.Join(t.TempDir(), "a.so")),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	cut := program[:len(program)/2]
	path := write("a.so", cut)
	_, err = Find(Options{Library: path})
	isNoLibrary(t, err, "load "+path, "cut short: it has "+utoa(uint64(len(cut)))+" bytes of ")

	path = write("libwebgpu_dawn.so", []byte("not a library"))
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "_wgpu_dawn.abi3.so"), cut, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Find(Options{Library: path})
	isNoLibrary(t, err, "load "+path, "_wgpu_dawn.abi3.so: cut short")
}

func isNoLibrary(t *testing.T, err error, call string, parts ...string) {
	t.Helper()
	var e *plan.DeviceError
	if !errors.As(err, &e) || e.Fault != plan.NoLibrary || e.Call != call {
		t.Fatalf("got %v, want no library from %q", err, call)
	}
	for _, part := range parts {
		if !strings.Contains(e.Detail, part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
}

// TestRefusals binds libraries that are made up of names and of functions that return a number.
func TestRefusals(t *testing.T) {
	version := uint32(0)
	number := purego.NewCallback(func() uintptr { return uintptr(version) })
	const others = " wgpuInstanceRequestAdapterF wgpuGetInstanceCapabilities kgen_dawn_version "
	for _, c := range []struct {
		name    string
		version uint32
		symbols string // "all" that one library has, or the names that are there
		without string
		want    string
	}{
		{"another library", 0, "sin", "", "no wgpuCreateInstance in it: not a WebGPU library"},
		{"Dawn of 2024", 0, "wgpuCreateInstance wgpuInstanceRequestAdapterF", "", "a Dawn of 2024, whose callbacks have another form"},
		{"Dawn of 2025", 0, "wgpuCreateInstance wgpuGetInstanceCapabilities wgpuDeviceTick", "", "a Dawn of early 2025, which numbers its features otherwise"},
		{"unknown library", 0, "wgpuCreateInstance", "", "not a library that kgen knows; it knows wgpu-native 29 and Dawn since the stable header"},
		{"wgpu-native 27", 27<<24 | 4<<8, "all", "", "wgpu-native 27.0.4.0 is too old: 29.0.0.0 is the first that follows the stable header"},
		{"lacks a function", 29 << 24, "all", "wgpuQueueWriteBuffer", "wgpu-native 29.0.0.0 lacks wgpuQueueWriteBuffer"},
		{"lacks one of its own", 29 << 24, "all", "wgpuDevicePoll", "wgpu-native 29.0.0.0 lacks wgpuDevicePoll"},
		{"lacks a late one", 29 << 24, "all", "wgpuBufferMapAsync", "wgpu-native 29.0.0.0 lacks wgpuBufferMapAsync"},
		{"complete", 29<<24 | 1<<8 | 1, "all", "", "wgpu-native 29.0.1.1"},
		{"a Dawn that lacks a function", 0, "all", "wgpuGetVersion wgpuQueueSubmit", "Dawn of unknown version lacks wgpuQueueSubmit"},
		{"a complete Dawn", 0, "all", "wgpuGetVersion", "Dawn of unknown version"},
	} {
		version = c.version
		has := func(list, name string) bool { return strings.Contains(" "+list+" ", " "+name+" ") }
		a, err := bind(func(name string) uintptr {
			known := has(c.symbols, name) || c.symbols == "all" && !has(others, name)
			if !known || has(c.without, name) {
				return 0
			}
			return number
		})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = a.name()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// TestLookup finds functions of a library that exports them, and of one that has a function to find them.
func TestLookup(t *testing.T) {
	why := []byte{0}
	find := purego.NewCallback(func(name *byte) uintptr { return uintptr(len(stringView{name, untilNUL}.String())) })
	trouble := purego.NewCallback(func() uintptr { return uintptr(unsafe.Pointer(&why[0])) })
	plain := func(name string) uintptr { return map[string]uintptr{"a": 77}[name] }
	stub := func(name string) uintptr {
		return map[string]uintptr{"a": 77, "kgen_dawn_find": find, "kgen_dawn_error": trouble}[name]
	}
	if f, err := lookup(plain); err != nil || f("a") != 77 || f("four") != 0 {
		t.Errorf("a plain library: %v", err)
	}
	if f, err := lookup(stub); err != nil || f("a") != 77 || f("four") != 4 {
		t.Errorf("a library with a function to find others: %v", err)
	}
	why = []byte("no extension\x00")
	if _, err := lookup(stub); err != refusal("no extension") {
		t.Errorf("got %v, want the library's own words", err)
	}
	_, err := loadFile("/nowhere/_wgpu_dawn.abi3.so", false)
	if err == nil || !strings.Contains(err.Error(), "kgen lib install dawn") {
		t.Errorf("the bare extension: %v", err)
	}
}

func TestSortAdapters(t *testing.T) {
	var list []*Adapter
	for _, kind := range []uint32{adapterCPU, adapterUnknown, adapterDiscrete, adapterIntegrated, adapterDiscrete} {
		list = append(list, &Adapter{kind: kind, info: plan.Device{Name: strconv.Itoa(len(list))}})
	}
	sortAdapters(list)
	got := ""
	for _, a := range list {
		got += a.info.Name
	}
	if got != "24310" {
		t.Errorf("order %s, want the discrete 2 and 4, then 3, 1, 0", got)
	}
}

// TestMailbox delivers to a mailbox by its number, and to one that is gone.
func TestMailbox(t *testing.T) {
	m := newMailbox()
	onUncaptured(errorValidation, "first", m.id)
	onUncaptured(errorOutOfMemory, "second", m.id)
	if got := m.take(); got != (message{errorValidation, "first"}) {
		t.Errorf("took %v, want the first error", got)
	}
	if got := m.take(); got.kind != 0 {
		t.Errorf("took %v twice", got)
	}
	onFinished(statusSuccess, "", m.id, 7)
	if m.ended(6).kind != 0 || m.ended(7).kind != statusSuccess || m.ended(7).kind != 0 {
		t.Error("the end of a ticket is wrong")
	}
	onLost(2, "gone", m.id)
	for range 2 {
		if got := m.take(); got != (message{errorLost, "gone"}) {
			t.Errorf("took %v, want the loss", got)
		}
	}
	r := m.request(func() { onReply(1, 99, "yes", m.id) })
	if r != (reply{true, 1, 99, "yes"}) || m.request(func() {}).done {
		t.Errorf("reply %+v", r)
	}
	m.close()
	onUncaptured(errorValidation, "late", m.id)
}

func TestSelectAdapters(t *testing.T) {
	var all []*Adapter
	for _, name := range []string{"GeForce RTX 4090", "Intel Iris", "llvmpipe (LLVM 7.0)"} {
		all = append(all, &Adapter{info: plan.Device{Name: name}})
	}
	for _, c := range []struct{ selector, want, err string }{
		{"", "GeForce RTX 4090,Intel Iris,llvmpipe (LLVM 7.0)", ""},
		{"1", "Intel Iris", ""},
		{"LLVM", "llvmpipe (LLVM 7.0)", ""},
		{"I", "Intel Iris,llvmpipe (LLVM 7.0)", ""},
		{"4090", "GeForce RTX 4090", ""},
		{"7", "", `select adapter "7": the adapters are 0 = GeForce RTX 4090, 1 = Intel Iris, 2 = llvmpipe (LLVM 7.0)`},
		{"radeon", "", `select adapter "radeon": the adapters are 0 = GeForce RTX 4090, 1 = Intel Iris, 2 = llvmpipe (LLVM 7.0)`},
	} {
		some, err := selectAdapters(all, c.selector)
		var names []string
		for _, a := range some {
			names = append(names, a.info.Name)
		}
		if got := strings.Join(names, ","); got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%q: got %s, %v", c.selector, got, err)
		}
	}
}

// TestOpen opens a device in one step, twice at a time, and closes the library with it.
func TestOpen(t *testing.T) {
	open := func() *Device {
		d, err := Open(t.Context(), Options{Log: func(s string) { t.Log(s) }}, plan.Requires{Subgroups: true})
		if err != nil {
			missing(t, err)
		}
		return d
	}
	first, second := open(), open()
	for _, d := range []*Device{first, second} {
		testPipeline(t, d, axpy())
	}
	info := first.Device()
	if info.Kind == "" || info.Name == "" || info.API == "" || info.Library != first.api.name() || !info.Subgroups || info.Limits.StorageBuffers < 8 {
		t.Errorf("device %+v", info)
	}
	t.Logf("%+v", info)
	for _, d := range []*Device{first, second} {
		d.Close()
		if n := d.api.live.Load(); n != 0 {
			t.Errorf("%d objects of the library were not released", n)
		}
	}
	if _, err := first.library.Adapters(); err == nil {
		t.Error("the library is still open")
	}
	if n := len(mailboxes.byID); n != 0 { // tests close their devices
		t.Errorf("%d mailboxes are left", n)
	}
}
