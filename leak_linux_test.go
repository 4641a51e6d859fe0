package kgen_test

import (
	"context"
	"os"
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// Loads that fail after a library was opened leave none of its threads and files behind. A software adapter has several threads
// for a device, a driver several files; Go's own threads come and go by ones.
func TestFailedLoadsLeaveNothingOpen(t *testing.T) {
	gpu.Adapter(t)
	path := write(t, "tiny.gguf", oracle.Bytes(t, "llama-q4_1.gguf"))
	open := func() int {
		n := 0
		for _, dir := range []string{"/proc/self/task", "/proc/self/fd"} {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			n += len(entries)
		}
		return n
	}
	for name, opts := range map[string]kgen.Options{
		"a profile that is none":              {Device: "native", Profile: "nope"},
		"an interrupt while kernels are made": {Device: "native"},
	} {
		before := 0
		for i := range 8 {
			ctx, cancel := context.WithCancel(t.Context())
			opts.Progress = func(kgenrt.Progress) { cancel() }
			_, err := kgen.Load(ctx, path, opts)
			cancel()
			if err == nil {
				t.Fatalf("%s: it was loaded", name)
			}
			if i == 1 {
				before = open()
			}
		}
		if after := open(); after > before+5 {
			t.Errorf("%s: %d threads and files after 8 loads, %d after 2", name, after, before)
		}
	}
}
