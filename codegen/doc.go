// Package codegen compiles a model graph to a plan: WGSL kernels, buffers, and the dispatches that run them.
//
// Vocabulary:
//
//   - A pass is a named function on the compilation; Compile runs a list of them, and reading the list tells the story.
//   - A step is one dispatch before it has buffers: a kernel and what each of its operands stands for.
//   - A value is a tensor that a step makes. Values that share bytes (a reshape, a residual sum in place) share a slot.
//   - A slot is a stretch of device memory for values. Slots that a kernel wants side by side form a unit.
//   - An arena is a buffer of activations. A step's inputs and outputs lie in different arenas, since WebGPU lets one
//     dispatch use a buffer either for reading or for writing.
//   - A use is a tensor that a dispatch reads or writes, and where: the simulator holds each access to the uses of its dispatch.
//   - A stack is the weights of one linear step, placed one after another so that one kernel reads them as one matrix.
//   - A shard is some of the rows of a weight that is too large for a binding. Each is a stack and has a step of its own.
package codegen
