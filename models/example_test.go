package models_test

import (
	"fmt"
	"log"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/gguf"
)

// From a file to the text of its graph.
func Example() {
	file, err := gguf.Open("model.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	h, err := models.FromGGUF(file)
	if err != nil {
		log.Fatal(err)
	}
	graph, err := models.Build(h, models.Options{KV: ir.F16})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(ir.Print(graph))
}
