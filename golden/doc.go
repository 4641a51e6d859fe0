// Package golden holds cases of the compiler: inputs that a user could have written, and the outputs expected of them.
//
// A case is a folder in cases. case.json says how to compile, graph.ir is the graph in the text form of package ir, and the
// rest is what the compiler makes of them:
//
//	graph.out.ir    the graph after the passes on it
//	plan.txt        the plan: kernels, buffers, state, weights, dispatches
//	*.wgsl          the text of every kernel
//
// The test compares the set of files and their contents; a file that is missing, one too many and one that differs are
// different failures. To accept what the compiler makes now, run:
//
//	go test ./golden -update
//
// and read the diff as you would read code.
package golden
