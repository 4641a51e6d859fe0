// Package mutants asks whether the checks of kernels see the mistakes that codegen/mutate makes in the kernels of gen. Only tests
// import it.
//
// Vocabulary:
//
//	judge       what finds fault with a text, or doesn't: the cases of internal/suite in the simulator
//	killed      said of a mutant that a judge finds fault with
//	equivalent  said of a mutant that computes what the kernel does, on all that the kernel may be given: no judge can kill it
//
// testdata/equivalent.json lists equivalent mutants by patterns, each with the reason. TestMutants draws a sample of mutants and fails
// where fewer than 95 of 100 are killed, where one survives that the list doesn't have, and where one that it has is killed.
package mutants
