// Package bounds proves that kernels stay within their arrays, so that they can run without checks. It reads WGSL text alone: a text
// that was edited, or that kgen never wrote, is judged as it is.
//
// A proof covers all invocations of every grid up to the largest with which a plan dispatches the kernel, and all contents of
// buffers, but for what is stated of them: the words of the params block that the runtime makes sure of. What a kernel stores to
// such words is judged too, so that kernels can't spoil them for each other.
//
// Vocabulary:
//   - use: a grid, stated ranges and lengths of runtime-sized arrays, for which a kernel is to be proved;
//   - span: limits of an integer, and its remainder by some number; what an operation may wrap around is not limited by it;
//   - node: a value of one invocation at one time; built-in values and what memory gives are nodes, operations on nodes are too;
//   - fact: what a condition on the way says of a node: limits, or that one is more than another;
//   - followed: of a variable, that the node is known which it stands for at a place; others have one span for all times;
//   - carried: of a followed variable, that a loop assigns it: it is a new node in each round, with a span that holds in all rounds;
//   - break: a store that may leave a stated range.
package bounds
