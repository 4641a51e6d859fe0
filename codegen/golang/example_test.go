package golang_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/schedules"
)

// A package for SmolLM2 on any WebGPU device, generated in memory and written into a folder.
func Example() {
	preset, err := models.LookupPreset("smollm2-135m")
	if err != nil {
		log.Fatal(err)
	}
	portable, err := schedules.Lookup("portable")
	if err != nil {
		log.Fatal(err)
	}
	spec := golang.ForModel(preset.Name, preset.About, preset.Hyperparameters, []schedules.Profile{portable})
	spec.Targets = spec.Targets[:1]
	pkg, err := golang.Compile(context.Background(), spec)
	if err != nil {
		log.Fatal(err)
	}
	files, err := golang.Generate(pkg)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "kgen")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	difference, err := files.Commit(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range difference.Missing {
		if !strings.HasPrefix(name, "kernels/") {
			fmt.Println("wrote", name)
		}
	}
	// Output:
	// wrote doc_kgen.go
	// wrote formats_kgen.go
	// wrote kernels_kgen.go
	// wrote kgen.manifest
	// wrote portable_exact_f16_kgen.go
	// wrote variants_kgen.go
}
