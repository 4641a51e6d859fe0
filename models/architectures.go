package models

import (
	"math"

	"github.com/kgen-wgsl/kgen/ir"
)

// architecture says how a name in general.architecture sets the switches that no key holds.
type architecture struct {
	name string
	set  func(h *Hyperparameters, k *keys)
}

// architectures lists what FromGGUF reads. Sources: the model's own reference implementation, by its converter to GGUF.
var architectures = []architecture{
	{"llama", setLlama},
	{"qwen2", setQwen2},
	{"qwen3", setQwen3},
	{"gemma3", setGemma3},
}

// Architectures returns the names that FromGGUF accepts.
func Architectures() []string {
	names := make([]string, len(architectures))
	for i, a := range architectures {
		names[i] = a.name
	}
	return names
}

// setLlama: the converter reorders rows of attn_q and attn_k so that neighbours rotate together. Biases and frequency
// factors are there when the file has the tensors.
func setLlama(h *Hyperparameters, k *keys) {
	h.RoPEStyle, h.Activation = ir.Norm, ir.SiLU
	h.QKVBias = k.file.HasTensor("blk.0.attn_q.bias")
	h.OutputBias = k.file.HasTensor("blk.0.attn_output.bias")
	h.RoPEFactors = k.file.HasTensor("rope_freqs.weight")
	if h.RoPEDims != h.HeadDim {
		k.unsupported("rope.dimension_count", number(h.RoPEDims), "the head's dimension, "+number(h.HeadDim))
	}
	if experts := k.optionalInt("expert_count", 0); experts != 0 {
		k.unsupported("expert_count", number(experts), "0, a model without experts")
	}
}

func setQwen2(h *Hyperparameters, _ *keys) {
	h.RoPEStyle, h.Activation = ir.NeoX, ir.SiLU
	h.QKVBias = true
}

func setQwen3(h *Hyperparameters, _ *keys) {
	h.RoPEStyle, h.Activation = ir.NeoX, ir.SiLU
	h.QKNorm = true
}

// setGemma3: five layers of six see a window, with a RoPE base of their own.
func setGemma3(h *Hyperparameters, k *keys) {
	h.RoPEStyle, h.Activation = ir.NeoX, ir.GELU
	h.QKNorm, h.PostNorms = true, true
	h.EmbedScale = math.Sqrt(float64(h.Width))
	h.LogitCap = k.optionalFloat("final_logit_softcapping", 0)
	h.Window, h.WindowPeriod = k.int("attention.sliding_window"), 6
	h.WindowRoPEBase = k.optionalFloat("rope.freq_base_swa", 10000)
	// The 27B model, the one with 62 layers, scales by the width per head and not by the head's dimension.
	if h.Layers == 62 {
		h.AttentionScale = 1 / math.Sqrt(float64(h.Width)/float64(h.Heads))
	}
}
