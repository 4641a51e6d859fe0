package models_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/internal/oracle"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/models/gguf"
)

var update = flag.Bool("update", false, "rewrite the expected graphs in testdata")

// TestGraphs compares the graphs of one file of each architecture with their text.
func TestGraphs(t *testing.T) {
	for _, c := range []struct {
		name    string
		options models.Options
	}{
		{"llama-rope3-f32", models.Options{Next: true}},
		{"qwen2-f16", models.Options{AllLogits: true}},
		{"qwen3-q4_0", models.Options{KV: ir.F16}},
		{"gemma3-q8_0", models.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := models.FromGGUF(oracle.Load(t, c.name).File)
			if err != nil {
				t.Fatal(err)
			}
			g, err := models.Build(h, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(models.LayerInputs(g)); n != h.Layers+1 {
				t.Errorf("%d layer inputs for %d layers", n, h.Layers)
			}
			golden(t, filepath.Join("testdata", c.name+".ir"), ir.Print(g))
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestSwitches(t *testing.T) {
	f := llama()
	f.keys["attention.head_count"] = []uint32{4, 4}
	f.keys["attention.scale"] = float32(0.5)
	f.keys["rope.scaling.factor"] = float32(8)
	f.keys["rope.freq_base"] = float32(5e5)
	f.tensors["output.weight"] = []uint64{32, 40}
	f.tensors["rope_freqs.weight"] = []uint64{4}
	h, err := models.FromGGUF(f.open(t))
	if err != nil {
		t.Fatal(err)
	}
	want := models.Hyperparameters{
		Name: "llama", Architecture: "llama", Layers: 2, Width: 32, FFN: 48, Heads: 4, KVHeads: 2, HeadDim: 8, Vocab: 40, Context: 64,
		Eps: float64(float32(1e-5)), AttentionScale: 0.5, Activation: ir.SiLU,
		RoPEStyle: ir.Norm, RoPEDims: 8, RoPEBase: 5e5, RoPEFactor: 0.125, RoPEFactors: true,
	}
	h.Tensors = nil
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestWindows: five layers of six slide, with their own base and without scaling.
func TestWindows(t *testing.T) {
	h, err := models.FromGGUF(oracle.Load(t, "gemma3-q8_0").File)
	if err != nil {
		t.Fatal(err)
	}
	h.RoPEFactor = 0.125
	g, err := models.Build(h, models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range g.Nodes {
		switch n.Op {
		case ir.RoPE:
			got = append(got, fmt.Sprint(n.Attrs.Base, n.Attrs.Factor))
		case ir.Attention:
			got = append(got, fmt.Sprint(n.Attrs.Window))
		}
	}
	sliding, full := "10000 0,10000 0,16,", "1e+06 0.125,1e+06 0.125,0"
	if want := strings.Repeat(sliding, 5) + full; strings.Join(got, ",") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMistakes(t *testing.T) {
	huge := "models: key llama.block_count: want a positive 32-bit number, got 2147483648"
	if math.MaxInt == math.MaxInt32 {
		huge = "gguf: llama.block_count: the integer does not fit"
	}
	for name, c := range map[string]struct {
		change func(f *file)
		want   string
	}{
		"architecture":    {func(f *file) { f.architecture = "mamba" }, `models: architecture "mamba" is not supported; supported are llama, qwen2, qwen3, gemma3`},
		"missing key":     {func(f *file) { delete(f.keys, "block_count") }, "gguf: llama.block_count: "},
		"wrong type":      {func(f *file) { f.keys["embedding_length"] = "32" }, "gguf: llama.embedding_length: "},
		"layers":          {func(f *file) { f.keys["block_count"] = uint32(1 << 31) }, huge},
		"more layers":     {func(f *file) { f.keys["block_count"] = uint32(3) }, "models: tensor blk.2.attn_norm.weight: want a tensor [32], got none"},
		"too many layers": {func(f *file) { f.keys["block_count"] = uint32(1 << 30) }, "models: key llama.block_count: want no more layers than tensors, 20, got 1073741824"},
		"no heads":        {func(f *file) { f.keys["attention.head_count"] = uint32(0) }, "models: key llama.attention.head_count: want a positive number, got 0"},
		"heads differ":    {func(f *file) { f.keys["attention.head_count"] = []uint32{4, 2} }, "models: key llama.attention.head_count: 4 for one layer and 2 for another is not supported; supported: one number for all layers"},
		"head groups":     {func(f *file) { f.keys["attention.head_count_kv"] = uint32(3) }, "models: key llama.attention.head_count_kv: want a divisor of head_count, got 3"},
		"head dimension":  {func(f *file) { f.keys["attention.head_count"] = uint32(5) }, "models: key llama.attention.head_count: want a divisor of embedding_length 32, got 5"},
		"value length":    {func(f *file) { f.keys["attention.value_length"] = uint32(4) }, "models: key llama.attention.value_length: 4 is not supported; supported: attention.key_length, 8"},
		"rope dimension":  {func(f *file) { f.keys["rope.dimension_count"] = uint32(4) }, "models: key llama.rope.dimension_count: 4 is not supported; supported: the head's dimension, 8"},
		"rope base":       {func(f *file) { f.keys["rope.freq_base"] = float32(1) }, "models: key llama.rope.freq_base: want a number above 1, got 1"},
		"rope scaling":    {func(f *file) { f.keys["rope.scaling.type"] = "yarn" }, `models: key llama.rope.scaling.type: "yarn" is not supported; supported: none, linear`},
		"rope by lists":   {func(f *file) { f.keys["rope.scaling.type"] = "longrope" }, `models: key llama.rope.scaling.type: "longrope" is not supported; supported: none, linear`},
		"rope at length":  {func(f *file) { f.keys["rope.scaling.type"] = strings.Repeat("\x1b", 1000) }, `models: key llama.rope.scaling.type: "\x1b\x1b`},
		"rope attention":  {func(f *file) { f.keys["rope.scaling.attn_factor"] = float32(2) }, "models: key llama.rope.scaling.attn_factor: 2 is not supported; supported: 1"},
		"rope factor":     {func(f *file) { f.keys["rope.scaling.factor"] = float32(-8) }, "models: key llama.rope.scaling.factor: want a positive number, got -8"},
		"eps":             {func(f *file) { f.keys["attention.layer_norm_rms_epsilon"] = float32(0) }, "models: key llama.attention.layer_norm_rms_epsilon: want a positive number, got 0"},
		"experts":         {func(f *file) { f.keys["expert_count"] = uint32(8) }, "models: key llama.expert_count: 8 is not supported; supported: 0, a model without experts"},
		"softcap":         {func(f *file) { f.keys["attn_logit_softcapping"] = float32(50) }, "models: key llama.attn_logit_softcapping: 50 is not supported; supported: 0"},
		"shape":           {func(f *file) { f.tensors["blk.1.ffn_down.weight"] = []uint64{32, 48} }, "models: tensor blk.1.ffn_down.weight: want [32, 48], got [48, 32]"},
		"no embedding":    {func(f *file) { delete(f.tensors, "token_embd.weight") }, "models: tensor token_embd.weight: want a tensor [vocab, 32], got none"},
		"one bias":        {func(f *file) { f.tensors["blk.1.attn_q.bias"] = []uint64{32} }, "models: tensor blk.1.attn_q.bias: a tensor [32] is not supported; supported: the tensors that llama reads"},
		"missing bias":    {func(f *file) { f.tensors["blk.0.attn_q.bias"] = []uint64{32} }, "models: tensor blk.0.attn_k.bias: want a tensor [16], got none"},
		"factors":         {func(f *file) { f.tensors["rope_freqs.weight"] = []uint64{8} }, "models: tensor rope_freqs.weight: want [4], got [8]"},
	} {
		t.Run(name, func(t *testing.T) {
			f := llama()
			c.change(&f)
			_, err := models.FromGGUF(f.open(t))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			var architecture *models.ArchitectureError
			var key *models.KeyError
			var tensor *models.TensorError
			var format *gguf.Error
			var unsupported *models.UnsupportedError
			switch {
			case errors.As(err, &unsupported) != strings.Contains(c.want, "supported: ") && name != "rope at length":
				t.Errorf("%T", err)
			case len(err.Error()) > 1000:
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			if !errors.As(err, &unsupported) && !errors.As(err, &architecture) && !errors.As(err, &key) && !errors.As(err, &tensor) && !errors.As(err, &format) {
				t.Errorf("%T is none of the documented errors", err)
			}
		})
	}
}

func TestCheckTypes(t *testing.T) {
	h, err := models.FromGGUF(oracle.Load(t, "qwen3-q4_0").File)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.CheckTypes(func(ir.Elem) bool { return true }, ""); err != nil {
		t.Error(err)
	}
	err = h.CheckTypes(func(e ir.Elem) bool { return e == ir.F32 }, "f32")
	var tensor *models.TensorError
	if !errors.As(err, &tensor) || tensor.Name != "token_embd.weight" || tensor.Got != "q4_0" {
		t.Errorf("got %v", err)
	}
}

// TestBuildChecks: hyperparameters need not come from a file.
func TestBuildChecks(t *testing.T) {
	var key *models.KeyError
	if _, err := models.Build(models.Hyperparameters{}, models.Options{}); !errors.As(err, &key) {
		t.Errorf("no hyperparameters: %v", err)
	}
	h, err := models.FromGGUF(llama().open(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := models.Build(h, models.Options{KV: ir.U32}); err == nil {
		t.Error("a cache of token ids was built")
	}
}
