package gguf

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// realModel returns the path of the model that set-up fetches.
func realModel(t testing.TB) string {
	t.Helper()
	cache := os.Getenv("KGEN_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(user, "kgen")
	}
	path := filepath.Join(cache, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("KGEN_REQUIRE") == "1" {
			t.Fatalf("%v: run make setup", err)
		}
		t.Skipf("%v: run make setup", err)
	}
	return path
}

func TestRealModel(t *testing.T) {
	f, err := Open(realModel(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := CheckModel(f); err != nil {
		t.Error(err)
	}
	if f.Size != 98362432 || len(f.Tensors()) != 272 {
		t.Errorf("%d bytes, %d tensors", f.Size, len(f.Tensors()))
	}
	types := map[quant.Type]int{}
	for _, tensor := range f.Tensors() {
		types[tensor.Type]++
	}
	if want := map[quant.Type]int{quant.Q8_0: 1, quant.F32: 61, quant.Q4_1: 210}; !maps.Equal(types, want) {
		t.Errorf("types %v, want %v", types, want)
	}
	for key, want := range map[string]int{
		"llama.block_count": 30, "llama.context_length": 8192, "llama.embedding_length": 576,
		"llama.feed_forward_length": 1536, "llama.attention.head_count": 9, "llama.attention.head_count_kv": 3,
		"general.file_type": 3, "llama.vocab_size": 49152, "llama.rope.dimension_count": 64,
		"tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.unknown_token_id": 0,
		"tokenizer.ggml.padding_token_id": 2, "general.quantization_version": 2,
	} {
		if got, err := f.Int(key); got != want || err != nil {
			t.Errorf("%s = %d, %v, want %d", key, got, err, want)
		}
	}
	for key, want := range map[string]float64{"llama.rope.freq_base": 100000, "llama.attention.layer_norm_rms_epsilon": 9.999999747378752e-06} {
		if got, err := f.Float(key); got != want || err != nil {
			t.Errorf("%s = %v, %v, want %v", key, got, err, want)
		}
	}
	for key, want := range map[string]string{
		"general.architecture": "llama", "general.name": "Smollm2 135M 8k Lc100K Mix1 Ep2",
		"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm",
	} {
		if got, err := f.String(key); got != want || err != nil {
			t.Errorf("%s = %q, %v, want %q", key, got, err, want)
		}
	}
	if got, err := f.Bool("tokenizer.ggml.add_bos_token"); got || err != nil {
		t.Errorf("add_bos_token = %v, %v", got, err)
	}
	tokens, err := f.Strings("tokenizer.ggml.tokens")
	if err != nil || len(tokens) != 49152 || tokens[1] != "<|im_start|>" || tokens[2] != "<|im_end|>" {
		t.Errorf("%d tokens, %v", len(tokens), err)
	}
	testRealTensor(t, f)
}

// The embedding table has the shape and size that its type implies, and mapping and reading give the same bytes.
func testRealTensor(t *testing.T, f *File) {
	tensor, err := f.Tensor("token_embd.weight")
	if err != nil {
		t.Fatal(err)
	}
	if tensor.Columns() != 576 || tensor.Rows() != 49152 || tensor.Size != 49152*612 {
		t.Errorf("token_embd.weight: %+v", tensor)
	}
	data, err := f.Bytes(tensor.Name)
	if err != nil || int64(len(data)) != tensor.Size {
		t.Fatal(len(data), err)
	}
	row := make([]byte, 612)
	if err := f.ReadTensor(tensor.Name, 49151*612, row); err != nil || string(row) != string(data[49151*612:]) {
		t.Errorf("last row read differs from the mapped one: %v", err)
	}
	values := make([]float32, 576)
	if err := quant.Dequantize(tensor.Type, values, row); err != nil {
		t.Error(err)
	}
}

// A file of the real model that is cut anywhere is refused: in the header by where it ends, in the data by the tensor, with
// the bytes wanted and there.
func TestRealModelCut(t *testing.T) {
	file, err := os.Open(realModel(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	whole, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	start := whole.tensors[0].Offset // the table's first tensor is the data's
	cut := func(size int64) *Error {
		_, err := Parse(io.NewSectionReader(file, 0, size), size)
		var e *Error
		errors.As(err, &e)
		return e
	}
	for _, size := range []int64{3, 4, 7, 23, 24, 1000, start / 2, start - 100} {
		if e := cut(size); e == nil || e.Class != ClassUnexpectedEOF && e.Class != ClassStringLength && e.Class != ClassCountTooLarge || e.Field == "" || e.Offset > size {
			t.Errorf("cut in the header, at %d: %v", size, e)
		}
	}
	for i := range whole.tensors {
		tensor := &whole.tensors[i]
		for _, size := range []int64{tensor.Offset, tensor.Offset + tensor.Size/2, tensor.Offset + tensor.Size - 1} {
			e := cut(size)
			want := strconv.FormatInt(tensor.Size, 10) + " bytes wanted at offset " + strconv.FormatInt(tensor.Offset-start, 10) +
				", the file has " + strconv.FormatInt(size-tensor.Offset, 10) + " there"
			if e == nil || e.Class != ClassTensorOutOfBounds || e.Field != tensor.Name || !strings.HasPrefix(e.Detail, want) {
				t.Fatalf("cut at %d of %s: %v, want %s", size, tensor.Name, e, want)
			}
			if i%50 > 0 {
				break // parsing it thrice for each tensor takes long
			}
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	path := realModel(b)
	b.ReportAllocs()
	for b.Loop() {
		f, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

func BenchmarkStrings(b *testing.B) {
	f, err := Open(realModel(b))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Strings("tokenizer.ggml.tokens"); err != nil {
			b.Fatal(err)
		}
	}
}
