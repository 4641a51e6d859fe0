// Package kernels builds the WGSL kernels of language models, one file for each family and one for each weight format.
//
// A family is a plain struct of shapes. Its Kernel method takes a schedule and a profile, checks that the schedule is legal,
// and returns a Kernel: operands, grid, and a function that writes the text. The operands are then given places, bound by
// package bind, and Emit makes the text. Shapes are literals in it; what differs between layers is the range that is bound.
//
// Vocabulary:
//
//	plane      part of every block of a weight, laid out as an array of its own: codes, scales
//	block      32 weights of a row that share a scale; a single value in the formats without scales
//	trip       one round of a loop over a row: a block, or a load of plain values
//	q8         a vector as 8-bit codes with a scale and a scaled sum for each block of 32, see ir.QuantQ8
//	epilogue   what is done with a result instead of storing it alone
//	params     the array of words that plan.Params describes: token, position, length, page ids, ring
//
// Kernels are right for one token of one sequence. Activations are f32; GEMV takes them in q8 too, where QuantQ8 made them so:
// no kernel rounds them in secret. None reads or writes out of bounds as long
// as params are what a runtime writes: the words where page ids and ring start, and a page table long enough for the length. Token,
// position and page ids are clamped.
package kernels
