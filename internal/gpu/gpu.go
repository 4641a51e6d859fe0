package gpu

import (
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
)

// find loads the library once for all tests of a process: NVIDIA's driver lists no adapters any more after some thirty
// instances.
var find = sync.OnceValues(func() (*webgpu.Library, error) {
	library, err := webgpu.Find(webgpu.Options{})
	if err != nil {
		return nil, err
	}
	_, err = library.Adapters()
	return library, err
})

// Adapter returns the adapter that tests run on: KGEN_ADAPTER's, or the best there is. Without one the test is skipped, or
// fails when KGEN_REQUIRE is 1. Tests that use it do not run in parallel.
func Adapter(t testing.TB) *webgpu.Adapter {
	t.Helper()
	library, err := find()
	if err != nil {
		missing(t, err)
	}
	adapters, err := library.Adapters()
	if err != nil {
		missing(t, err)
	}
	t.Logf("%s, %s", library.Name(), adapters[0].Info().Name)
	return adapters[0]
}

// Measured returns the adapter's description with its subgroup size.
func Measured(t testing.TB, a *webgpu.Adapter) plan.Device {
	t.Helper()
	d, err := a.Measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Open opens a device that is closed when the test ends.
func Open(t testing.TB, a *webgpu.Adapter, requires plan.Requires) *webgpu.Device {
	t.Helper()
	d, err := a.Open(t.Context(), requires)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// missing ends a test that has no library or adapter; any other failure fails it.
func missing(t testing.TB, err error) {
	t.Helper()
	var fault *plan.DeviceError
	absent := errors.As(err, &fault) && (fault.Fault == plan.NoLibrary || fault.Fault == plan.NoAdapter)
	if !absent || os.Getenv("KGEN_REQUIRE") == "1" {
		t.Fatalf("%v; run: make setup", err)
	}
	t.Skipf("%v; run: make setup", err)
}
