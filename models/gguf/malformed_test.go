package gguf

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// malformedFiles returns the members of testdata/malformed.tar.gz.
func malformedFiles(t testing.TB) map[string][]byte {
	t.Helper()
	f, err := os.Open("testdata/malformed.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		entry, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[entry.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// load is what a program does with a file that it has not made.
func load(data []byte) error {
	f, err := Parse(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	if err := CheckModel(f); err != nil {
		return err
	}
	return CheckWeights(f)
}

func TestMalformed(t *testing.T) {
	files := malformedFiles(t)
	var manifest struct {
		Files []struct {
			File  string
			Class string `json:"expected_class"`
		}
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Files) != 20 {
		t.Fatalf("%d files in the manifest", len(manifest.Files))
	}
	fields := map[string]string{
		"bad_magic.gguf": "magic", "version_99.gguf": "version", "n_tensors_huge.gguf": "tensor_count", "string_len_overflow.gguf": "key 18",
		"dims_product_overflow.gguf": "token_embd.weight", "offset_out_of_file.gguf": "blk.0.attn_q.weight",
		"offset_unaligned.gguf": "blk.0.attn_q.weight", "truncated_data.gguf": "blk.0.ffn_down.weight",
		"duplicate_tensor.gguf": "blk.0.attn_q.weight", "removed_type_id.gguf": "blk.0.attn_q.weight",
		"alignment_zero.gguf": "general.alignment", "alignment_not_pow2.gguf": "general.alignment",
		"missing_block_count.gguf": "llama.block_count", "head_count_zero.gguf": "llama.attention.head_count",
		"vocab_mismatch.gguf": "tokenizer.ggml.tokens", "rope_dim_too_big.gguf": "llama.rope.dimension_count",
		"nan_scale_block.gguf": "blk.0.attn_q.weight", "truncated_header.gguf": "output_norm.weight",
		"empty_file.gguf": "magic", "five_dims.gguf": "output_norm.weight",
	}
	for _, c := range manifest.Files {
		t.Run(c.File, func(t *testing.T) {
			if c.Class == "nan_weight_optional" {
				c.Class = string(ClassNaNWeight)
			}
			var e *Error
			spent := allocated(func() { errors.As(load(files[c.File]), &e) })
			if e == nil || string(e.Class) != c.Class || e.Field != fields[c.File] {
				t.Errorf("%+v, want class %s, field %s", e, c.Class, fields[c.File])
			}
			if spent > 1<<20 {
				t.Errorf("%d bytes allocated for a file of %d", spent, len(files[c.File]))
			}
		})
	}
	if err := load(files["ok_baseline.gguf"]); err != nil {
		t.Error(err)
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Opened by path, the broken files give the same errors and leave nothing open; the valid one loads.
func TestOpenMalformed(t *testing.T) {
	dir := t.TempDir()
	for name, data := range malformedFiles(t) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, want := Parse(bytes.NewReader(data), int64(len(data)))
		f, err := Open(path)
		if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if err == nil {
			f.Close()
		}
	}
}

// A file that ends early is refused wherever it ends, by a typed error.
func TestTruncated(t *testing.T) {
	data := malformedFiles(t)["ok_baseline.gguf"]
	for n := 0; n < len(data); n += truncationStep(n) {
		_, err := Parse(bytes.NewReader(data[:n]), int64(n))
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
		if e.Class != ClassUnexpectedEOF && e.Class != ClassTensorOutOfBounds && e.Class != ClassStringLength && e.Class != ClassCountTooLarge {
			t.Errorf("%d of %d bytes: %v", n, len(data), err)
		}
	}
}

// truncationStep is 1 in the header of the baseline, which ends before byte 5000, and a prime in its data.
func truncationStep(n int) int {
	if n < 5000 {
		return 1
	}
	return 101
}

// No byte of a header, whatever it becomes, makes a reader panic or use much memory.
func TestFlippedBytes(t *testing.T) {
	for _, w := range []*writer{everyType(), hasTensors(), model(nil)} {
		data := w.Bytes()
		spent := allocated(func() {
			for at, was := range data {
				for _, flip := range []byte{0x01, 0x80, 0xff} {
					data[at] = was ^ flip
					exercise(data)
				}
				data[at] = was
			}
		})
		if perFile := spent / uint64(3*len(data)); perFile > 1<<20 {
			t.Errorf("%d bytes allocated for each file", perFile)
		}
	}
}

// exercise loads a file and asks for all it has.
func exercise(data []byte) {
	f, err := Parse(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return
	}
	CheckModel(f)
	for _, e := range f.Entries() {
		f.Uint(e.Key)
		f.Int(e.Key)
		f.Float(e.Key)
		f.Bool(e.Key)
		f.String(e.Key)
		f.Strings(e.Key)
		f.Ints(e.Key)
		f.Floats(e.Key)
		f.Bools(e.Key)
		f.Text(e.Key)
	}
	for _, t := range f.Tensors() {
		if b, err := f.Bytes(t.Name); err == nil && int64(len(b)) != t.Size {
			panic("wrong number of bytes")
		}
	}
	CheckWeights(f)
}

// FuzzParse looks for panics and for files that load but cannot be read.
func FuzzParse(f *testing.F) {
	files := malformedFiles(f)
	delete(files, "manifest.json")
	for _, data := range files {
		f.Add(data)
	}
	good := files["ok_baseline.gguf"]
	for _, n := range fieldBoundaries(f, good) {
		f.Add(good[:n])
	}
	for _, w := range []*writer{everyType(), hasTensors(), model(nil)} {
		f.Add(w.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) { exercise(data) })
}

// fieldBoundaries returns the offsets at which fields of a header start: those at which the reader asks for bytes.
func fieldBoundaries(t testing.TB, data []byte) (at []int) {
	t.Helper()
	for n := range 5000 {
		_, err := Parse(bytes.NewReader(data[:n]), int64(n))
		var e *Error
		if errors.As(err, &e) && e.Class == ClassUnexpectedEOF && e.Offset == int64(n) {
			at = append(at, n)
		}
	}
	if len(at) < 100 {
		t.Fatalf("%d field boundaries", len(at))
	}
	return at
}
