// Command chat answers one question with a model file:
//
//	go run ./examples/chat model.gguf "What is the capital of France?"
package main
