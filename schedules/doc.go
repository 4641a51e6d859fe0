// Package schedules says how the work of a kernel is cut, apart from what it computes.
//
// A Profile describes a class of devices: the limits and features that kernels may rely on. A schedule, such as GEMV, is a
// plain struct of choices; a problem, such as GEMVProblem, holds the shapes. Legal tells every reason why a schedule can't
// compute a problem on a profile, and the Default functions choose without measuring. What Legal allows is what
// codegen/kernels builds.
//
// Vocabulary:
//
//	workgroup   invocations that share workgroup memory and barriers
//	subgroup    consecutive invocations that a device runs in step; a profile names its size only when it is guaranteed
//	block       the values of a weight row that share a scale, 32 in the formats built now; 1 for f32 and f16
//	tile        the rows or keys that one workgroup handles at once
//
// The package imports runtime/plan, a leaf, for Limits and Device.
package schedules
