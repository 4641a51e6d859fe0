package repotest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestToyFormat adds a tensor format to a copy of the module by the steps of CONTRIBUTING: a file on each side, its lines in three
// lists. Products, embeddings and the fast path then have it on a device; nothing else names it.
func TestToyFormat(t *testing.T) {
	dir := t.TempDir()
	for _, name := range trackedFiles(t) {
		top, _, _ := strings.Cut(name, "/")
		if !strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, "schedules/") && top != "go.mod" && top != "go.sum" || top == "gen" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), string(data))
	}
	toy := filepath.Join("internal", "repotest", "testdata", "toyformat")
	for file, to := range map[string]string{
		"quant.go.txt":  "models/quant/toy.go",
		"kernel.go.txt": "codegen/kernels/toy.go",
		"test.go.txt":   "codegen/kernels/toy_test.go",
	} {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(to)), readFile(t, filepath.Join(toy, file)))
	}
	for file, edit := range map[string][2]string{
		"models/quant/dequantize.go":     {"	case MXFP4:\n", "	case Toy:\n		return readToy\n	case MXFP4:\n"},
		"codegen/kernels/formats.go":     {"	case quant.MXFP4:\n", "	case quant.Toy:\n		return signedCodes{toy{blocks{columns}}}\n	case quant.MXFP4:\n"},
		"internal/testgraph/formats.go":  {"		quant.Q8_0: {", "		quant.Toy: {0, -1, 128}, quant.Q8_0: {"},
		"models/quant/type.go":           {"\n// Block says how", "\n// Toy is the format that a test adds.\nconst Toy Type = 99\n\n// Block says how"},
		"models/quant/type.go (a block)": {"var blocks = map[Type]Block{\n", "var blocks = map[Type]Block{\n	Toy: {\"Toy\", 32, 34},\n"},
	} {
		name, _, _ := strings.Cut(file, " ")
		path := filepath.Join(dir, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(data), edit[0], edit[1], 1)
		if text == string(data) {
			t.Fatalf("%s has no place for %q", name, edit[0])
		}
		writeFile(t, path, text)
	}
	goCommand(t, dir, "GOFLAGS=-trimpath -mod=readonly", "test", "-count=1", "-run", "^TestToy$", "./codegen/kernels")
}
