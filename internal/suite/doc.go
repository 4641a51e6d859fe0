// Package suite holds the cases that every kernel family is judged by: one table of family × shapes × formats × schedules × fused
// parts, and cases for the kernels of the packages below gen. A case runs on any plan.Backend, the simulator among them, and
// compares what its kernel writes with sums in float64 or with the evaluator. Only tests import it.
//
// Vocabulary:
//
//	case      a kernel and its trials: what it is given and what it has to make of that
//	trial     one run: the contents of operands before, and a check of those after
//	runner    what runs cases: a device, or the simulator with subgroups of one size
//	sentinel  what fills all memory that no input covers: a huge number as f32, NaN as f16
//	guard     the memory before and after each operand, which has to keep the sentinel
//	sample    workgroups that run instead of all of them, of kernels too large to run whole
//
// Cases says what there is for a profile, Generated what there is for gen; TestSuite in codegen/kernels runs both. To try a changed
// text of a generated kernel in the cases that the kernel has:
//
//	cases, err := suite.Generated(ctx)
//	...
//	for _, c := range suite.Of(cases, text) {
//		err := c.RunText(ctx, suite.Simulator(c.Subgroup()), changed, seed) // nil when every trial passes and nothing was found
//	}
package suite
