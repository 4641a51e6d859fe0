//go:build !nogpu && (amd64 || arm64)

package webgpu

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// limitMemory lets the process map so many bytes more than it has.
func limitMemory(t *testing.T, more uint64) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(statm))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	limit := pages*uint64(os.Getpagesize()) + more
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
}
