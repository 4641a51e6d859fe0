// Package quant knows the tensor types of GGUF files and turns their blocks into float32.
//
// A row is a run of values along a tensor's first listed dimension. A type stores a row as blocks: a fixed number of
// consecutive values in a fixed number of bytes, a block never crossing rows. A block of the quantised types holds codes,
// small integers, a scale d and for some types a minimum m, both f16; a value is d·code or d·code+m, each operation rounded to
// float32. Values come out with the same bits on every host.
//
// All types have a name and a block size; F32, F16, BF16, Q8_0, Q4_0 and Q4_1 can be dequantised, the others give an
// [UnsupportedError].
package quant
