package kgen

import (
	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// keepProofs takes from kernels the mark that they are proved in bounds where no proof can be made of what the plan says now. Texts,
// grids and ranges of a generated package may have been edited since; a kernel that runs unchecked has to be right all the same.
func keepProofs(p *plan.Plan, log func(string)) {
	for i, proof := range bounds.ProvePlan(p) {
		if k := &p.Kernels[i]; k.Proved && !proof.Proved() {
			k.Proved = false
			log("kernel " + k.Name + " runs with bounds checks, as what the package says is not so: " + proof.Failures[0].String())
		}
	}
}
