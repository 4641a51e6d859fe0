package bounds_test

import (
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/gen/qwen2_5_1_5b"
	"github.com/kgen-wgsl/kgen/gen/qwen3_0_6b"
	"github.com/kgen-wgsl/kgen/gen/qwen3_8b"
	"github.com/kgen-wgsl/kgen/gen/smollm2_135m"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

func TestGen(t *testing.T) {
	seen := map[string]bool{}
	for _, variants := range [][]kgenrt.Variant{smollm2_135m.Variants(), qwen2_5_1_5b.Variants(), qwen3_0_6b.Variants(), qwen3_8b.Variants()} {
		for _, v := range variants {
			p, err := v.Plan()
			if err != nil {
				t.Fatal(err)
			}
			for i, proof := range bounds.ProvePlan(p) {
				seen[p.Kernels[i].Name] = seen[p.Kernels[i].Name] || proof.Proved()
				for _, f := range append(proof.Failures, proof.Breaks...) {
					t.Errorf("%s: %v", v.Name, f)
				}
			}
		}
	}
	n := 0
	for _, ok := range seen {
		if ok {
			n++
		}
	}
	t.Logf("%d of %d kernels proved", n, len(seen))
}
