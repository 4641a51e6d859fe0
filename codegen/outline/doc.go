// Package outline reads what a WGSL text declares, whatever else the text does: entry points with the bindings, workgroup memory and
// sizes that a pipeline of each would have.
//
// wgsl.Parse reads and checks the compute subset of WGSL alone. This package checks nothing and takes everything: it knows tokens,
// attributes, declarations, the layout of types and constant integers, and skips what it can't read. What it can't know (a size that
// an override without a default decides) it says. So a text with textures, matrices or stages of rendering is counted too.
//
// Vocabulary:
//   - statically used: named in the body of an entry point or of a function that it calls, directly or not. This is what WebGPU counts,
//     whether or not the code is ever reached;
//   - template: a text that a program changes before it is WGSL, with lines of a preprocessor or holes in braces;
//   - piece: one of the texts that lie side by side in a string without anything between them.
package outline
