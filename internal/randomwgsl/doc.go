// Package randomwgsl makes random compute programs in WGSL for tests that run a program twice and compare.
//
// What a program computes is defined to the last bit: integers wrap, indices are in bounds, loops end, no two invocations race, and
// floats are kept to multiples of small powers of 2 that f32 or f16 holds exactly, however a compiler contracts or reorders sums.
// Memory of workgroups is written before it is read. The one thing left open is the sign of a zero, which programs don't look at. Reduce makes a program that fails smaller.
package randomwgsl
