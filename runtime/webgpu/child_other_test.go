//go:build !nogpu && !linux

package webgpu

import "testing"

// limitMemory has no way here.
func limitMemory(t *testing.T, more uint64) {
	t.Skip("memory can't be limited on this system")
}
