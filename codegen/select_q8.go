package codegen

import (
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/schedules"
)

// quantiseActivations is the fast path's pass: the exact path leaves the graph as it is.
func quantiseActivations(c *compilation) error {
	if !c.opts.Fast {
		return nil
	}
	ir.QuantiseActivations(c.graph)
	return ir.Verify(c.graph)
}

// quantQ8 is the step that quantises a vector. Its three results are parts of one array, which is placed as the codes.
func (s *selection) quantQ8(n *ir.Node) error {
	if slices.ContainsFunc(n.Out, s.keeps) {
		return unsupported(n, "what it makes is one array of words, which is not kept as values")
	}
	x, codes := n.In[0], n.Out[0]
	s.values.add(codes, uint64(kernels.Q8Bytes(x.Columns())), false)
	s.order = append(s.order, codes)
	for _, t := range n.Out[1:] {
		if err := s.values.share(codes, t); err != nil {
			return err
		}
	}
	schedule := schedules.DefaultQuantQ8(s.opts.Profile)
	k, err := kernels.QuantQ8{Columns: x.Columns()}.Kernel(schedule, s.opts.Profile)
	return s.emit(n, k, err, schedule, map[string]arg{kernels.X: {value: x}, kernels.Y: {value: codes}})
}

// readsQ8 checks that the operands of a LinearQ8 are one QuantQ8's results: kernels read them as one array.
func (s *selection) readsQ8(n *ir.Node) error {
	made := n.In[0].Def
	if made == nil || made.Op != ir.QuantQ8 || !slices.Equal(made.Out, n.In[:len(made.Out)]) {
		return unsupported(n, "its codes, scales and sums are not the results of one quant_q8")
	}
	return nil
}
