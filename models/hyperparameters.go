package models

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/ir"
)

// Hyperparameters says which decoder a file holds: sizes, the switches that tell architectures apart, and the tensors
// with their types. FromGGUF reads them from a file; a preset may fill them in.
type Hyperparameters struct {
	Name         string // of the graph
	Architecture string // as general.architecture has it

	Layers  int // blocks
	Width   int // values of the residual stream per token
	FFN     int // values between the FFN's linears
	Heads   int // query heads
	KVHeads int // key and value heads; divides Heads
	HeadDim int // values per head; Heads·HeadDim may differ from Width
	Vocab   int // rows of the embedding, the number of logits
	Context int // longest sequence the model was made for

	Eps            float64 // of every RMSNorm
	EmbedScale     float64 // multiplies embeddings; 0 means 1
	AttentionScale float64 // multiplies q·k
	LogitCap       float64 // soft cap of the logits; 0 means none
	Activation     ir.Activation

	RoPEStyle   ir.RoPEStyle
	RoPEDims    int     // values of a head that rotate
	RoPEBase    float64 // in layers that see all keys
	RoPEFactor  float64 // multiplies angles in layers that see all keys (linear scaling); 0 means 1
	RoPEFactors bool    // rope_freqs.weight divides the angles

	Window         int     // keys that a sliding layer sees; 0 where no layer slides
	WindowPeriod   int     // layer i sees all keys when i % WindowPeriod == WindowPeriod-1, else it slides
	WindowRoPEBase float64 // in sliding layers, whose angles are not scaled

	QKVBias    bool // attn_q, attn_k and attn_v have biases
	OutputBias bool // attn_output has one
	QKNorm     bool // RMSNorm over each head of q and k, before RoPE
	PostNorms  bool // RMSNorm of what attention and FFN add to the residual stream
	Tied       bool // token_embd.weight is the head too

	// Tensors gives the element type and shape of every tensor in the file by name.
	Tensors map[string]ir.Type
}

// Slides reports whether the layer sees a window of keys only.
func (h *Hyperparameters) Slides(layer int) bool {
	return h.Window > 0 && layer%h.WindowPeriod != h.WindowPeriod-1
}

// rope returns the attributes of a layer's RoPE.
func (h *Hyperparameters) rope(layer int) ir.Attrs {
	a := ir.Attrs{Style: h.RoPEStyle, Dims: h.RoPEDims, Base: h.RoPEBase, Factor: h.RoPEFactor}
	if h.Slides(layer) {
		a.Base, a.Factor = h.WindowRoPEBase, 0
	}
	return a
}

// attention returns the attributes of a layer's attention.
func (h *Hyperparameters) attention(layer int) ir.Attrs {
	a := ir.Attrs{Scale: h.AttentionScale}
	if h.Slides(layer) {
		a.Window = h.Window
	}
	return a
}

// Shape says in a line which decoder this is: its architecture and sizes.
func (h *Hyperparameters) Shape() string {
	return fmt.Sprintf("%s, %d layers of width %d, %d heads of %d with %d for keys and values, FFN %d, vocabulary %d, context %d",
		h.Architecture, h.Layers, h.Width, h.Heads, h.HeadDim, h.KVHeads, h.FFN, h.Vocab, h.Context)
}
