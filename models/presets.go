package models

import (
	"fmt"
	"math"
	"strings"

	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
)

// Preset is a model that is known without its file: what the file's header says, as data.
type Preset struct {
	Name  string // smollm2-135m
	About string // one line: the model, and what its file stores
	Hyperparameters
}

// UnknownPresetError says that no preset has a name.
type UnknownPresetError struct {
	Got   string
	Known []string
}

// Error lists the presets.
func (e *UnknownPresetError) Error() string {
	return fmt.Sprintf("models: there is no preset %q; there are %s", e.Got, strings.Join(e.Known, ", "))
}

// Presets returns all presets. Sources: for SmolLM2 the header of the published file, which a test compares; for Qwen2.5 and Qwen3 the
// published configurations, with the tensor types that a file of the named quantisation has.
func Presets() []Preset {
	return []Preset{
		smolLM2(),
		qwen25(qwenShape{"qwen2.5-0.5b", 24, 896, 4864, 14, 2, 64, 151936}),
		qwen25(qwenShape{"qwen2.5-1.5b", 28, 1536, 8960, 12, 2, 128, 151936}),
		qwen25(qwenShape{"qwen2.5-7b", 28, 3584, 18944, 28, 4, 128, 152064}),
		qwen3Small(),
		qwen3Medium("qwen3-1.7b", 28, 2048, 6144, 16),
		qwen3Medium("qwen3-4b", 36, 2560, 9728, 32),
		qwen3Large(),
	}
}

// LookupPreset returns the preset of a name, or an *UnknownPresetError.
func LookupPreset(name string) (Preset, error) {
	var known []string
	for _, p := range Presets() {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return Preset{}, &UnknownPresetError{name, known}
}

func smolLM2() Preset {
	h := Hyperparameters{
		Name: "smollm2-135m-8k-lc100k-mix1-ep2", Architecture: "llama",
		Layers: 30, Width: 576, FFN: 1536, Heads: 9, KVHeads: 3, HeadDim: 64, Vocab: 49152, Context: 8192,
		Eps: float64(float32(1e-5)), AttentionScale: 0.125, Activation: ir.SiLU,
		RoPEStyle: ir.Norm, RoPEDims: 64, RoPEBase: 100000, Tied: true,
	}
	h.FillTensors(ir.Elem(quant.Q4_1))
	h.setType("token_embd.weight", quant.Q8_0)
	return Preset{"smollm2-135m", "SmolLM2-135M-Instruct, Q4_1 with an embedding of Q8_0", h}
}

// qwenShape is what Qwen2.5 models of several sizes differ in.
type qwenShape struct {
	name                                               string
	layers, width, ffn, heads, kvHeads, headDim, vocab int
}

// qwen25 is Q4_K_M, or Q8_0 where rows are no whole blocks of 256. The largest has a head of its own.
func qwen25(s qwenShape) Preset {
	h := Hyperparameters{
		Name: s.name, Architecture: "qwen2", Layers: s.layers, Width: s.width, FFN: s.ffn, Heads: s.heads, KVHeads: s.kvHeads, HeadDim: s.headDim,
		Vocab: s.vocab, Context: 32768, Eps: float64(float32(1e-6)), AttentionScale: 1 / math.Sqrt(float64(s.headDim)), Activation: ir.SiLU,
		RoPEStyle: ir.NeoX, RoPEDims: s.headDim, RoPEBase: 1e6, QKVBias: true, Tied: s.width < 3584,
	}
	title := "Q" + s.name[1:]
	if s.width%256 != 0 {
		h.FillTensors(ir.Elem(quant.Q8_0))
		return Preset{s.name, title + ", Q8_0 throughout", h}
	}
	h.fillQ4KM()
	return Preset{s.name, title + ", Q4_K_M", h}
}

// fillQ4KM sets Tensors as files called Q4_K_M have them: Q4_K, but Q6_K in the head and, in the first and last eighth of the layers and
// every third between, in attn_v and ffn_down.
func (h *Hyperparameters) fillQ4KM() {
	h.FillTensors(ir.Elem(quant.Q4_K))
	if h.Tied {
		h.setType("token_embd.weight", quant.Q6_K)
	} else {
		h.setType("output.weight", quant.Q6_K)
	}
	eighth := h.Layers / 8
	for layer := range h.Layers {
		if layer < eighth || layer >= 7*h.Layers/8 || (layer-eighth)%3 == 2 {
			h.setType(blockTensor(layer, "attn_v.weight"), quant.Q6_K)
			h.setType(blockTensor(layer, "ffn_down.weight"), quant.Q6_K)
		}
	}
}

// qwen3 returns what all dense Qwen3 models share.
func qwen3() Hyperparameters {
	return Hyperparameters{
		Architecture: "qwen3", HeadDim: 128, KVHeads: 8, Vocab: 151936, Context: 40960,
		Eps: float64(float32(1e-6)), AttentionScale: 1 / math.Sqrt(128), Activation: ir.SiLU,
		RoPEStyle: ir.NeoX, RoPEDims: 128, RoPEBase: 1e6, QKNorm: true,
	}
}

func qwen3Small() Preset {
	h := qwen3()
	h.Name = "qwen3-0.6b"
	h.Layers, h.Width, h.FFN, h.Heads, h.Tied = 28, 1024, 3072, 16, true
	h.FillTensors(ir.Elem(quant.Q4_0))
	return Preset{"qwen3-0.6b", "Qwen3-0.6B, Q4_0 throughout", h}
}

func qwen3Medium(name string, layers, width, ffn, heads int) Preset {
	h := qwen3()
	h.Name = name
	h.Layers, h.Width, h.FFN, h.Heads, h.Tied = layers, width, ffn, heads, true
	h.fillQ4KM()
	return Preset{name, "Q" + name[1:] + ", Q4_K_M", h}
}

func qwen3Large() Preset {
	h := qwen3()
	h.Name = "qwen3-8b"
	h.Layers, h.Width, h.FFN, h.Heads = 36, 4096, 12288, 32
	h.FillTensors(ir.Elem(quant.Q4_0))
	h.setType("output.weight", quant.Q8_0)
	return Preset{"qwen3-8b", "Qwen3-8B, Q4_0 with a head of Q8_0", h}
}

// setType changes the element type of a tensor.
func (h *Hyperparameters) setType(name string, t quant.Type) {
	h.Tensors[name] = ir.Type{Elem: ir.Elem(t), Shape: h.Tensors[name].Shape}
}
