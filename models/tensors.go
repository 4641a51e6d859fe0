package models

import (
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/ir"
)

// want is a tensor that the graph reads: its name in the file and its shape, slowest dimension first.
type want struct {
	name  string
	shape []ir.Dim
}

// wanted lists the tensors outside the blocks.
func (h *Hyperparameters) wanted() []want {
	width, vocab := ir.Dim(h.Width), ir.Dim(h.Vocab)
	list := []want{
		{"token_embd.weight", []ir.Dim{vocab, width}},
		{"output_norm.weight", []ir.Dim{width}},
	}
	if !h.Tied {
		list = append(list, want{"output.weight", []ir.Dim{vocab, width}})
	}
	if h.RoPEFactors {
		list = append(list, want{"rope_freqs.weight", []ir.Dim{ir.Dim(h.RoPEDims / 2)}})
	}
	return list
}

// wantedBy lists the tensors of a block by their names without prefix.
func (h *Hyperparameters) wantedBy() []want {
	width, ffn, head := ir.Dim(h.Width), ir.Dim(h.FFN), ir.Dim(h.HeadDim)
	q, kv := ir.Dim(h.Heads)*head, ir.Dim(h.KVHeads)*head
	list := []want{
		{"attn_norm.weight", []ir.Dim{width}},
		{"attn_q.weight", []ir.Dim{q, width}},
		{"attn_k.weight", []ir.Dim{kv, width}},
		{"attn_v.weight", []ir.Dim{kv, width}},
		{"attn_output.weight", []ir.Dim{width, q}},
		{"ffn_norm.weight", []ir.Dim{width}},
		{"ffn_gate.weight", []ir.Dim{ffn, width}},
		{"ffn_up.weight", []ir.Dim{ffn, width}},
		{"ffn_down.weight", []ir.Dim{width, ffn}},
	}
	if h.QKVBias {
		list = append(list, want{"attn_q.bias", []ir.Dim{q}}, want{"attn_k.bias", []ir.Dim{kv}}, want{"attn_v.bias", []ir.Dim{kv}})
	}
	if h.OutputBias {
		list = append(list, want{"attn_output.bias", []ir.Dim{width}})
	}
	if h.QKNorm {
		list = append(list, want{"attn_q_norm.weight", []ir.Dim{head}}, want{"attn_k_norm.weight", []ir.Dim{head}})
	}
	if h.PostNorms {
		list = append(list, want{"post_attention_norm.weight", []ir.Dim{width}}, want{"post_ffw_norm.weight", []ir.Dim{width}})
	}
	return list
}

func blockTensor(layer int, name string) string { return "blk." + strconv.Itoa(layer) + "." + name }

// checkTensors checks that every tensor the graph reads is there in its shape, and that the file has no tensors in the
// blocks that the graph would leave out: such a file holds another model. It stops at the first mistake, so a block
// count that no file could hold costs nothing.
func (h *Hyperparameters) checkTensors() error {
	for _, w := range h.wanted() {
		if err := h.checkTensor(w.name, w.shape); err != nil {
			return err
		}
	}
	read := map[string]bool{}
	block := h.wantedBy()
	for layer := range h.Layers {
		for _, w := range block {
			name := blockTensor(layer, w.name)
			read[name] = true
			if err := h.checkTensor(name, w.shape); err != nil {
				return err
			}
		}
	}
	return h.checkUnread(read)
}

func (h *Hyperparameters) checkTensor(name string, shape []ir.Dim) error {
	got, ok := h.Tensors[name]
	want := ir.Type{Elem: got.Elem, Shape: shape}
	if !ok {
		return &TensorError{Name: name, Want: "a tensor " + strings.Replace(shapeText(shape), "[0,", "[vocab,", 1), Got: "none"}
	}
	if !got.Equal(want) {
		return &TensorError{Name: name, Want: shapeText(shape), Got: shapeText(got.Shape)}
	}
	return nil
}

func (h *Hyperparameters) checkUnread(read map[string]bool) error {
	var first string
	for name := range h.Tensors {
		if len(name) > 4 && name[:4] == "blk." && !read[name] && (first == "" || name < first) {
			first = name
		}
	}
	if first != "" {
		name := strings.Trim(strconv.QuoteToASCII(first), `"`)
		return &UnsupportedError{Field: "tensor " + name, Got: "a tensor " + shapeText(h.Tensors[first].Shape), Supported: "the tensors that " + h.Architecture + " reads"}
	}
	return nil
}

// shapeText prints a shape as the text form of graphs does, without the element type.
func shapeText(shape []ir.Dim) string {
	return ir.Type{Elem: ir.F32, Shape: shape}.String()[len("f32"):]
}

// CheckTypes returns a *TensorError for the first tensor, by name, that the graph reads and whose type supported
// refuses. What can read a type is the caller's to say.
func (h *Hyperparameters) CheckTypes(supported func(ir.Elem) bool, names string) error {
	check := func(name string) error {
		if t, ok := h.Tensors[name]; ok && !supported(t.Elem) {
			return &TensorError{Name: name, Want: "one of the types " + names, Got: t.Elem.String()}
		}
		return nil
	}
	for _, w := range h.wanted() {
		if err := check(w.name); err != nil {
			return err
		}
	}
	block := h.wantedBy()
	for layer := range h.Layers {
		for _, w := range block {
			if err := check(blockTensor(layer, w.name)); err != nil {
				return err
			}
		}
	}
	return nil
}
