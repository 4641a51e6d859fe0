package models

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/ir"
)

// Options chooses what the graph computes beside the model itself.
type Options struct {
	AllLogits bool    // logits of every token; by default of the last one only
	KV        ir.Elem // how the KV cache stores values: ir.F32, the zero value, or ir.F16
	Next      bool    // a second output, next: the index of the largest logit of each row
}

// Build returns the model's graph. Its input is tokens, u32 [T]; its output logits, f32 [1, vocab] or [T, vocab]. The
// residual stream before block i is called layer.i.in; layer.L.in, after all L blocks, feeds the final norm.
func Build(h Hyperparameters, options Options) (*ir.Graph, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	d := decoder{Builder: ir.NewBuilder(h.Name), h: &h, options: options}
	tokens := d.Input("tokens", ir.U32, ir.T)
	x := d.Node(residual(0), ir.Embed, ir.Attrs{Scale: h.EmbedScale}, d.file("token_embd.weight"), tokens)
	for layer := range h.Layers {
		x = d.block(layer, x)
	}
	d.head(x)
	return d.Graph()
}

// LayerInputs returns the residual stream before each block and, last, after all of them: what Build calls layer.0.in to
// layer.L.in.
func LayerInputs(g *ir.Graph) []*ir.Tensor { return g.LayerInputs() }

// decoder adds the parts of a pre-norm decoder to a graph. It takes the graph's names for values from the file's names
// for weights: layer.3.attn_q holds what blk.3.attn_q.weight makes.
type decoder struct {
	*ir.Builder
	h       *Hyperparameters
	options Options
}

func residual(layer int) string { return fmt.Sprintf("layer.%d.in", layer) }

// file declares a tensor of the file as a weight of the graph.
func (d *decoder) file(name string) *ir.Tensor {
	t := d.h.Tensors[name]
	return d.Weight(name, t.Elem, t.Shape...)
}

// layer is a decoder at one block.
type layer struct {
	*decoder
	index int
}

func (l layer) name(part string) string       { return fmt.Sprintf("layer.%d.%s", l.index, part) }
func (l layer) weight(name string) *ir.Tensor { return l.file(blockTensor(l.index, name)) }
func (l layer) add(part string, a, b *ir.Tensor) *ir.Tensor {
	return l.Node(part, ir.Add, ir.Attrs{}, a, b)
}

// linear applies the weight of the given name, with its bias where the switch says so.
func (l layer) linear(name string, bias bool, x *ir.Tensor) *ir.Tensor {
	weights := []*ir.Tensor{l.weight(name + ".weight")}
	if bias {
		weights = append(weights, l.weight(name+".bias"))
	}
	return l.Linear([]string{l.name(name)}, bias, x, weights...)[0]
}

func (l layer) norm(name string, x *ir.Tensor) *ir.Tensor {
	return l.Node(l.name(name), ir.RMSNorm, ir.Attrs{Eps: l.h.Eps}, x, l.weight(name+".weight"))
}

// block adds attention and FFN, each on the norm of the residual stream and added to it.
func (d *decoder) block(index int, x *ir.Tensor) *ir.Tensor {
	l := layer{d, index}
	a := l.attend(l.norm("attn_norm", x))
	if d.h.PostNorms {
		a = l.norm("post_attention_norm", a)
	}
	x = l.add(l.name("mid"), x, a)
	f := l.ffn(l.norm("ffn_norm", x))
	if d.h.PostNorms {
		f = l.norm("post_ffw_norm", f)
	}
	return l.add(residual(index+1), x, f)
}

func (l layer) attend(x *ir.Tensor) *ir.Tensor {
	h := l.h
	q := l.heads("attn_q", h.Heads, l.linear("attn_q", h.QKVBias, x))
	k := l.heads("attn_k", h.KVHeads, l.linear("attn_k", h.QKVBias, x))
	v := l.heads("attn_v", h.KVHeads, l.linear("attn_v", h.QKVBias, x))
	if h.QKNorm {
		q, k = l.norm("attn_q_norm", q), l.norm("attn_k_norm", k)
	}
	q, k = l.rotate("attn_q", q), l.rotate("attn_k", k)
	kv := l.KVAppend(l.name("kv"), l.options.KV, l.index, k, v)
	a := l.Node(l.name("attn"), ir.Attention, h.attention(l.index), q, kv)
	rows := l.Reshape(l.name("attn.rows"), a, ir.T, ir.Dim(h.Heads*h.HeadDim))
	return l.linear("attn_output", h.OutputBias, rows)
}

func (l layer) heads(name string, heads int, x *ir.Tensor) *ir.Tensor {
	return l.Reshape(l.name(name+".heads"), x, ir.T, ir.Dim(heads), ir.Dim(l.h.HeadDim))
}

func (l layer) rotate(name string, x *ir.Tensor) *ir.Tensor {
	in := []*ir.Tensor{x}
	if l.h.RoPEFactors {
		in = append(in, l.file("rope_freqs.weight"))
	}
	return l.Node(l.name(name+".rope"), ir.RoPE, l.h.rope(l.index), in...)
}

func (l layer) ffn(x *ir.Tensor) *ir.Tensor {
	gate, up := l.linear("ffn_gate", false, x), l.linear("ffn_up", false, x)
	return l.linear("ffn_down", false, l.Node(l.name("ffn"), ir.GLU, ir.Attrs{Act: l.h.Activation}, gate, up))
}

// head adds the final norm and the logits.
func (d *decoder) head(x *ir.Tensor) {
	if !d.options.AllLogits {
		x = d.Node("last", ir.Last, ir.Attrs{}, x)
	}
	x = d.Node("output_norm", ir.RMSNorm, ir.Attrs{Eps: d.h.Eps}, x, d.file("output_norm.weight"))
	weight := "output.weight"
	if d.h.Tied {
		weight = "token_embd.weight"
	}
	logits := d.Linear([]string{d.logitsName()}, false, x, d.file(weight))[0]
	if d.h.LogitCap != 0 {
		logits = d.Node("logits", ir.Softcap, ir.Attrs{Cap: d.h.LogitCap}, logits)
	}
	d.Output(logits)
	if d.options.Next {
		d.Output(d.Node("next", ir.ArgMax, ir.Attrs{}, logits))
	}
}

func (d *decoder) logitsName() string {
	if d.h.LogitCap != 0 {
		return "output"
	}
	return "logits"
}
