// Package plan holds what a compiled model is, the Builder that makes it, and the Backend interface that runs it.
//
// Vocabulary:
//
//   - A kernel is one compute pipeline: WGSL text, the accesses of its bindings and its workgroup.
//   - A range is a part of a buffer; a group binds ranges to the bindings of a kernel, in order. Two kernels with the
//     same accesses have the same layout and may share groups.
//   - A record is one dispatch: kernel, group and grid. A list is a sequence of records for one phase; replaying it
//     feeds a token, or a few columns of tokens.
//   - A recipe says which bits of a weight's blocks go to which plane; a plane is an array of the same bits of all
//     blocks, the form that kernels read.
//   - The params block holds what changes from token to token: ids, positions, page table, ring of results.
//   - A backend owns buffers, pipelines and groups on a device and replays records in submits; a ticket names a submit.
//
// A Plan is plain data with numbers that index its own slices. Compiler and generated packages make it with a Builder,
// which checks every limit and every rule of WebGPU that a plan can break, because no library checks all of them.
//
// The package depends on the standard library alone and leaves out everything that makes a browser build large: no fmt,
// no reflect.
package plan
