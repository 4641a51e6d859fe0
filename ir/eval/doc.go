// Package eval computes what a graph means, on the CPU: the reference that kernels and devices are held to, and the
// executor where there is no device.
//
// Values are stored as f32, as kernels store them; every sum (dot products, norms, softmax) is an f64 sum, rounded once.
// Weights are read in their stored form, row by row, and dequantised exactly. A KV cache rounds to f16 where the graph
// says so. Results do not depend on how many goroutines work, nor on how tokens are cut into calls.
//
// A [Machine] runs a language model's graph for one sequence, token by token or many at once. [Evaluate] runs any graph
// on given inputs and returns every value in it: a graph of one node says what a kernel should have written.
package eval
