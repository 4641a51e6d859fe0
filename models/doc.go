// Package models builds graphs of language models from what model files say.
//
// [FromGGUF] reads a file's header into [Hyperparameters]: sizes, and the switches in which architectures differ (which
// values RoPE pairs, biases, norms of heads and of blocks, windows, scales). [Build] makes the graph that the switches
// describe; one builder serves llama, qwen2, qwen3 and gemma3. Both check everything before they use it and say which
// key or tensor is wrong.
//
// Terms: a block is attention followed by an FFN; the residual stream is what blocks add to; a sliding layer's attention
// sees a window of keys; the head is the matrix that makes logits, tied when it is the embedding's.
package models
