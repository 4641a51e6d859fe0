package codegen_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/schedules"
)

// Every kernel that the compiler makes is proved to stay within its arrays: for every model and every format of weights, on both paths
// and with both caches, for every profile, also where weights are cut into shards and grids are folded into two dimensions, and for
// contexts that end within a page or a tile.
func TestEveryKernelIsProved(t *testing.T) {
	graphs := everyModel(t)
	for _, f := range kernels.Formats() {
		for _, kv := range []ir.Elem{ir.F16, ir.F32} {
			graphs[f.String()+" "+kv.String()] = shape(t, 1, f, kv)
		}
	}
	seen, n := map[string]bool{}, 0
	for _, name := range slices.Sorted(maps.Keys(graphs)) {
		for _, p := range provedProfiles(t) {
			for _, fast := range []bool{false, true} {
				context := []int{64, 1000, 2048}[n%3]
				n++
				r, err := codegen.Compile(graphs[name], codegen.Options{Profile: p, Context: context, Fast: fast, Ring: context % 100})
				if err != nil {
					t.Fatalf("%s for %s: %v", name, p.Name, err)
				}
				for i, proof := range r.Proofs {
					k := r.Plan.Kernels[i]
					if seen[k.Text] = true; k.Proved != proof.Proved() || r.Program.Kernels[i].Proved != k.Proved {
						t.Errorf("%s: %s says proved %v", name, k.Name, k.Proved)
					}
					for _, failure := range append(proof.Failures, proof.Breaks...) {
						t.Errorf("%s for %s, context %d, %s: %v", name, p.Name, context, r.Path, failure)
					}
				}
			}
		}
	}
	t.Logf("%d kernels of %d plans", len(seen), n)
	if len(seen) < 800 {
		t.Error("these are too few")
	}
}

func provedProfiles(t *testing.T) []schedules.Profile {
	shards, folded := profile(t, "subgroups"), profile(t, "portable")
	shards.Name, shards.Limits.BindingBytes = "shards", 16<<20
	folded.Name, folded.Limits.Workgroups = "folded", 128
	return []schedules.Profile{profile(t, "portable"), profile(t, "compat"), profile(t, "subgroups"), shards, folded}
}
