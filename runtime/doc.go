// Package kgenrt runs compiled models: it loads weights into their planes, feeds tokens, and turns the ids that come back
// into text. It is slim: nothing here needs fmt or reflect, so that a browser build stays small.
//
// Vocabulary:
//
//   - An Executor runs one sequence of a model: it feeds tokens at positions and returns ids or logits. Engine is the one
//     that replays a plan.Plan on a plan.Backend; the evaluator of package ir/eval is another.
//   - Prefill feeds the tokens of a prompt, decode feeds the tokens that the model itself chose.
//   - A burst is several decode steps in one submit: the GPU feeds itself, and the host reads all their ids at once.
//   - A Session keeps the tokens that an Executor's KV cache holds, and reuses the longest prefix that the next prompt
//     shares with them.
//   - A WeightSource gives the bytes of tensors as the model file has them.
//
// Every error that leaves this package is an *Error with a Code of the table in errors.go.
package kgenrt
