// Package ir is the graph form of a language model: what is computed, in the terms of the field, before anything is
// said about how.
//
// A [Graph] is a list of nodes in single assignment: each [Node] applies one [Op] to tensors defined before it and
// defines new ones. A [Tensor] is an input, a weight of the model file, or the value of a node. Dimensions are integers
// or one of the symbols T (tokens in this call), S (keys seen: those of this call and all before it) and B (sequences).
// The graph describes one call; the KV cache that [KVAppend] writes is the only thing that lives from call to call.
//
// The table of ops, in ops.go, gives the operands, results and attributes of each op as data; [Builder], [Parse] and
// [Verify] all read it. The text form, documented at [Parse], prints stably and reads back.
package ir
