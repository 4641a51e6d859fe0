// Package judge has the compilers of WGSL that a machine has judge texts.
//
// Vocabulary:
//   - A validator is a compiler that takes a text or refuses it: the commands tint and naga, and the WebGPU libraries that
//     runtime/webgpu finds, each on its best adapter.
//   - A verdict is what one validator says of one text. Whoever can't judge a text says why; that is not a pass.
//
// A validator is others' native code and may end its process, or never come back, over a text. Commands are processes anyway; a
// library runs in a child process that calls Serve. When a child ends, that is the verdict on the text it had, and a new one
// goes on with the next.
//
// Texts are in the dialect of Tint. Where naga judges, it gets plan.Naga's of it, as it does at run time: an empty line for
// "enable subgroups;". Nothing else is changed, so a text that uses subgroup operations without that line is refused by Tint.
package judge
