package gpu

import (
	"errors"
	"os"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/runtime/webgpu"
)

// Adapter returns the adapter that tests run on: KGEN_ADAPTER's, or the best there is. The library is closed when the test
// ends. Without one the test is skipped, or fails when KGEN_REQUIRE is 1.
func Adapter(t testing.TB) *webgpu.Adapter {
	t.Helper()
	library, err := webgpu.Find(webgpu.Options{Log: func(message string) { t.Log(message) }})
	if err != nil {
		missing(t, err)
	}
	t.Cleanup(library.Close)
	adapters, err := library.Adapters()
	if err != nil {
		missing(t, err)
	}
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
