// Package quant knows the tensor types of GGUF files and turns their blocks into float32.
//
// A row is a run of values along a tensor's first listed dimension. A type stores a row as blocks: a fixed number of
// consecutive values in a fixed number of bytes, a block never crossing rows. A block of the quantised types holds codes,
// small integers, a scale d and for some types a minimum m, both f16; a value is d·code or d·code+m, each operation rounded to
// float32. The K types have blocks of 256 values in which d is the unit of scales of six or eight bits, one for each 16 or 32 values.
// Values come out with the same bits on every host.
//
// All types have a name and a block size. [Supported] tells which can be dequantised; the others give an [UnsupportedError]. Each
// quantised one has a file of its name.
package quant
