//go:build nogpu || !(linux || darwin || windows) || !(amd64 || arm64) || android

package webgpu

import (
	"errors"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

var _ plan.Backend = (*Device)(nil)

func TestAbsent(t *testing.T) {
	_, found := Find(Options{})
	_, opened := Open(t.Context(), Options{}, plan.Requires{})
	for _, err := range []error{found, opened} {
		var e *plan.DeviceError
		if !errors.As(err, &e) || e.Fault != plan.NoLibrary {
			t.Errorf("got %v, want no library", err)
		}
	}
}
