//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Canaries that run without bounds checks are proved to need none, for buffers as long as they get.
func TestCanariesAreProved(t *testing.T) {
	for _, c := range canaries(0, 0) {
		for _, k := range c.kernels {
			if !k.Proved {
				continue
			}
			f, err := wgsl.Parse(k.Name+".wgsl", k.Text)
			if err != nil {
				t.Error(err)
				continue
			}
			proof := bounds.Prove(f, "main", bounds.Use{
				Grid: [3]int{int(c.groups), 1, 1}, Lengths: map[string]int{"x": len(c.input), "y": int(k.Bindings[1].Bytes / 4)},
			})
			for _, failure := range proof.Failures {
				t.Error(failure)
			}
		}
	}
}
