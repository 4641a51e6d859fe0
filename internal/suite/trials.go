package suite

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/schedules"
)

// trialsOf returns the trials of any kernel, by the problem that it solves.
func trialsOf(k *Kernel, groups []int, seed uint64) ([]Trial, error) {
	switch p := k.Problem.(type) {
	case kernels.GEMV:
		s := k.Schedule.(schedules.GEMV)
		if s.Order.XType == schedules.XQ8 {
			return gemvQ8Trials(k, p, s, groups, seed)
		}
		return gemvTrials(k, p, s, groups, seed)
	case kernels.QuantQ8:
		return quantTrials(p, seed), nil
	case kernels.Embed:
		return embedTrials(p, seed)
	case kernels.RMSNorm:
		return rmsNormTrials(p, seed), nil
	case kernels.RoPEKV:
		return ropeTrials(p, seed)
	case kernels.AttentionDecode:
		return attentionTrials(p, k.Schedule.(schedules.Attention), groups, seed), nil
	case kernels.GLU:
		return gluTrials(p, seed), nil
	case kernels.Add:
		return addTrials(p, seed), nil
	case kernels.Softcap:
		return softcapTrials(p, seed), nil
	case kernels.ArgMaxPartials:
		return partialTrials(p, k.Schedule.(schedules.ArgMax), seed), nil
	case kernels.ArgMaxFinal:
		return finalTrials(p, k.Schedule.(schedules.ArgMax), seed), nil
	case kernels.Advance:
		return advanceTrials(p), nil
	}
	return nil, fmt.Errorf("kernel %s solves %T, of which there are no trials", k.Name, k.Problem)
}

// sampled reports whether kernels that solve a problem may run in part: those whose workgroups share nothing, and whose trials know
// what each of them reads and writes.
func sampled(problem any) bool {
	switch problem.(type) {
	case kernels.GEMV, kernels.AttentionDecode:
		return true
	}
	return false
}
