package oracle

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/*.gz*
var embedded embed.FS

// read returns a file's contents: of testdata, where it is compressed and may be cut into parts, or of the folder tiny
// in the directory that KGEN_ORACLES names.
func read(name string) ([]byte, error) {
	parts, _ := fs.Glob(embedded, "testdata/"+name+".gz*") // the pattern is well formed
	if dir := os.Getenv("KGEN_ORACLES"); len(parts) == 0 && dir != "" {
		return os.ReadFile(filepath.Join(dir, "tiny", name))
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("no oracle file %s", name)
	}
	var packed []io.Reader
	slices.Sort(parts)
	for _, part := range parts {
		data, err := embedded.ReadFile(part)
		if err != nil {
			return nil, err
		}
		packed = append(packed, bytes.NewReader(data))
	}
	unpacked, err := gzip.NewReader(io.MultiReader(packed...))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}

func isEmbedded(name string) bool {
	parts, _ := fs.Glob(embedded, "testdata/"+name+".gz*")
	return len(parts) > 0
}

// Tiny returns the names of all tiny models at hand, sorted: those of testdata and those that KGEN_ORACLES adds.
func Tiny() []string {
	files, _ := fs.Glob(embedded, "testdata/*.gguf.gz*") // the pattern is well formed
	if dir := os.Getenv("KGEN_ORACLES"); dir != "" {
		more, _ := filepath.Glob(filepath.Join(dir, "tiny", "*.gguf"))
		files = append(files, more...)
	}
	var names []string
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".gguf")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Bytes returns an oracle file as it was before it was compressed, such as llama-q4_1.gguf.
func Bytes(t testing.TB, name string) []byte {
	t.Helper()
	return must(t, name)
}
