// Package gen holds nothing itself: below it lie packages that kgen generated from presets of models, one for each model.
//
//   - A generated package has its model's kernels as WGSL files, and a Go file for each variant with the calls that make its plan.
//   - Its file kgen.manifest says what it was made from and by which command.
//
// None of their files is edited by hand. Made again by:
//
//	go generate ./gen
package gen

//go:generate go run ../cmd/kgen gen --quiet --model smollm2-135m --profile portable,subgroups
//go:generate go run ../cmd/kgen gen --quiet --model qwen2.5-1.5b --profile portable,subgroups
//go:generate go run ../cmd/kgen gen --quiet --model qwen3-0.6b --profile portable,subgroups
//go:generate go run ../cmd/kgen gen --quiet --model qwen3-8b --profile portable,subgroups
