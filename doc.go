// Package kgen loads a language model and runs it: the convenient entry for native programs.
//
// Load opens a GGUF file, chooses a device (a WebGPU adapter, or the CPU evaluator where there is none), compiles the
// model's graph to WGSL kernels for that device, and loads the weights. On the simulator, which Options ask for, each kernel is
// judged as it runs. A Session then turns messages into text:
//
//	m, err := kgen.Load(ctx, "model.gguf", kgen.Options{})
//	...
//	defer m.Close()
//	s, err := m.NewSession()
//	...
//	for piece, err := range s.Chat(ctx, []kgen.Message{{Role: "user", Content: "Hello"}}, kgen.Generation{}) {
//		...
//	}
//
// The packages below it do the work and can be used alone: ir and models for graphs, schedules and codegen for kernels,
// runtime for running plans.
package kgen
