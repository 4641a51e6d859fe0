// Command kgen runs language models on WebGPU and shows how their kernels are made.
//
//	kgen run MODEL --prompt "..."       text from a prompt
//	kgen logits MODEL --ids 1,2,3       logits after the last token
//	kgen score MODEL --file TEXT        likelihood of a text
//	kgen tokenize MODEL --text "..."    text to ids and back
//	kgen inspect MODEL                  header, tensors, graph, kernels and plan
//	kgen audit PACKAGE-OR-FILE          kernels against the limits of device profiles
//	kgen lib install [wgpu-native|dawn] a WebGPU library
//	kgen doctor                         what works on this machine
//
// MODEL is a GGUF file. `kgen help VERB` explains a verb with an example. Data goes to stdout, everything else to stderr;
// the exit status is 0 when done, 1 after a failure at run time, 2 after wrong usage.
package main
