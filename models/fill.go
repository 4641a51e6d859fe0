package models

import "github.com/kgen-wgsl/kgen/ir"

// FillTensors sets Tensors as a file would that stores matrices as the given type and vectors as F32: a model of a shape,
// without bytes.
func (h *Hyperparameters) FillTensors(matrices ir.Elem) {
	h.Tensors = map[string]ir.Type{}
	fill := func(name string, w want) {
		elem := matrices
		if len(w.shape) == 1 {
			elem = ir.F32
		}
		h.Tensors[name] = ir.Type{Elem: elem, Shape: w.shape}
	}
	for _, w := range h.wanted() {
		fill(w.name, w)
	}
	for layer := range h.Layers {
		for _, w := range h.wantedBy() {
			fill(blockTensor(layer, w.name), w)
		}
	}
}
