// Package sim runs compute kernels in WGSL without a GPU and says what is wrong with them.
//
// Vocabulary:
//
//   - A program is an entry point made ready to run: operations on registers. A register holds a scalar of each invocation of a workgroup.
//   - Lanes are a set of invocations. Operations run for the lanes that control flow left: a workgroup runs in lockstep under masks, so that
//     it is known who reaches a barrier. Invocations form subgroups in the order of their local_invocation_index, of the size asked for.
//   - A finding is a fault: its kind, the place in the text, the variable and element, and the invocations concerned.
//   - A cell remembers who touched a location of memory since the last barrier; the cells of a dispatch, which workgroup did. Races are
//     found by them, whatever order the workgroups ran in.
//   - A use says where a tensor lies in a dispatch. Words are stamped with the tensor that was written there last.
//   - A site is a place of the text that findings can name.
//
// What WGSL leaves open is decided so: f32 and f16 are IEEE 754 and every operation is rounded once; min and max drop a NaN; an index out
// of bounds is clamped, and a finding; subgroup reductions add in a tree. An infinity or NaN made of finite values is a finding when
// something takes it. Workgroup memory begins with a poison, unless the caller wants WGSL's zeros. A write to a component of a vector is
// one to the whole of it, where races are concerned. A lane that isn't there gives a NaN.
//
// Functions are compiled where they are called. Assignments to swizzles and values of more than 16384 scalars are not simulated; kernels
// with them are refused.
//
// [Compile] and [Program.Run] run one kernel. [Open] gives a [Device], a plan.Backend that replays the records of a plan and judges across
// dispatches.
package sim
