// Command smollm2 answers a question through the generated package of SmolLM2-135M-Instruct: the kernels are those below
// gen/smollm2_135m, nothing is compiled when it starts. It is what `make demo` runs.
//
// Vocabulary: a variant is one of the plans that the package holds; the library chooses the one that suits the device.
//
// Example:
//
//	go run ./examples/smollm2 SmolLM2-135M-Instruct.Q4_1.gguf "What is the capital of France?"
package main
