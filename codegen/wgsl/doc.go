// Package wgsl holds the WGSL of compute kernels: its AST, parser, type checker and printer, and the Module with which kernel
// families build it.
//
// A kernel is written as pieces of WGSL text with Go around them: Go unrolls, chooses and fuses, WGSL says what is computed.
// Each piece is parsed, its names are resolved in the scope where it stands, types are inferred and checked by the rules of WGSL,
// and a mistake is reported with the Go line that wrote the piece.
//
// Parse reads whole files to the same AST, by the rules of WGSL alone: those that Module sets beyond WGSL (no sums in f16, no remainder
// of i32, names that are no keyword anywhere) and its simplifications are not for text that others wrote.
//
// Vocabulary:
//   - binding: a storage or uniform array of bind group 0, numbered in the order of declaration;
//   - operand: a kernel's name for an array; an alias makes it a part of a binding that several operands share;
//   - collective: a call that all invocations of a workgroup or subgroup must make together: barriers, subgroup operations;
//   - uniform: equal in all invocations of a workgroup; control flow is uniform where all of them take the same way;
//   - dialect: Tint requires the line "enable subgroups;", naga refuses it. Text is Tint's; plan.Naga makes naga's of it.
package wgsl
