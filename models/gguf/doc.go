// Package gguf reads GGUF model files, versions 2 and 3, little-endian.
//
// A file is a header, then tensor data. The header holds keys, dotted names with typed values such as
// llama.block_count, and a table of tensors: name, type, dimensions (ne0, the contiguous one, first) and place. Opening a file reads the header
// and checks that every tensor lies within the file, aligned and apart from the others; after that keys and tensors are
// looked up by name. Values are read through accessors that widen: writers disagree on the width of integers, so [File.Uint]
// reads any integer type that holds a value in range.
//
// Files are not trusted. A broken one gives an [Error] that has a [Class] and names the key or tensor; no length or count
// of a header is believed before it was compared with what the file can hold. [CheckModel] goes one step further and
// judges the hyperparameters that all architectures share and the arrays of the vocabulary. Both together allocate at most
// 64 MiB beside the mapping, whatever the file holds: a header above 32 MiB is refused, as are more keys, tensors, tokens and
// merges than models have.
package gguf
