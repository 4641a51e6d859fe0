// Package golang writes Go packages that hold a compiled model: its kernels as WGSL files, and the calls of plan.Builder that
// make its plans, to be read, compared and kept in version control.
//
// Vocabulary:
//
//   - A Package says what is generated: the programs that package codegen compiled, and what they came from. [Compile] makes one
//     from a [Spec].
//   - A variant is one program of a package, for one device profile, one contract of activations and one KV cache. The generated
//     package chooses among its variants when it is loaded.
//   - [Files] are a generated package in memory. [Generate] makes them from a Package and nothing else: the same Package gives
//     the same bytes.
//   - The manifest, kgen.manifest, lists the files with their hashes and what they were made from. It tells which files of a folder
//     are generated and may be removed.
//   - A run is consecutive layers that do the same, which generated Go writes as one loop.
//
// A generated package makes the calls that Program.Build makes, in the same order, so its plans equal the ones built in memory,
// byte for byte.
package golang
