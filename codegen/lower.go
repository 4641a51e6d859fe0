package codegen

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// choosePhases decides which lists each step is part of. Decode and forward take all steps of the graph; prefill only those
// that keys and values depend on: no head, and nothing of the last layer after its keys. Steps beside the graph have their
// phase already.
func choosePhases(c *compilation) error {
	needed := map[*slot]bool{}
	for i := len(c.steps) - 1; i >= 0; i-- {
		s := c.steps[i]
		if s.phases != nil {
			continue
		}
		s.phases = []plan.Phase{plan.Decode, plan.Forward}
		wanted := s.writesCache()
		for _, t := range s.writes() {
			wanted = wanted || needed[c.values.of[t]]
		}
		if !wanted {
			continue
		}
		s.phases = append([]plan.Phase{plan.Prefill}, s.phases...)
		for _, t := range s.reads() {
			needed[c.values.of[t]] = true
		}
	}
	return nil
}

// planMemory places values in arenas and outputs in buffers of their own.
func planMemory(c *compilation) error {
	units := c.values.finish(c.order)
	uses := make([]use, len(c.steps))
	for i, s := range c.steps {
		uses[i] = use{reads: c.unitsOf(s.reads()), writes: c.unitsOf(s.writes())}
	}
	return c.placeArenas(placeUnits(units, uses))
}

func (c *compilation) unitsOf(values []*ir.Tensor) []*unit {
	var out []*unit
	for _, t := range values {
		if u := c.values.of[t].unit; u != nil {
			out = append(out, u)
		}
	}
	return out
}

// planBindings gives the operands of every step their places and lowers them to bindings.
func planBindings(c *compilation) error {
	for _, s := range c.steps {
		for i, a := range s.args {
			place, err := c.place(a)
			if err != nil {
				return fmt.Errorf("step %s: %w", s.node, err)
			}
			s.kernel.Operands[i].Place = place
		}
		b, err := bind.Plan(s.kernel.Name, s.kernel.Operands, c.opts.Profile.Limits)
		if err != nil {
			return fmt.Errorf("step %s: %w", s.node, err)
		}
		s.bindings = b
	}
	return nil
}

// place returns where what an operand stands for lies.
func (c *compilation) place(a arg) (plan.Range, error) {
	switch {
	case a.plane != nil:
		return a.plane.stack.places[a.plane.plane], nil
	case a.params:
		return c.params.Range, nil
	case a.table != nil:
		return c.tables[*a.table].To, nil
	case a.cache != nil:
		return c.kv.Layers[c.kvSlots[a.cache]], nil
	}
	s := c.values.of[a.value]
	if s.output {
		for _, o := range c.outputs {
			if c.values.of[o.tensor] == s {
				return o.place, nil
			}
		}
	}
	if s.unit == nil {
		return plan.Range{}, fmt.Errorf("value %s was given no memory", a.value.Name)
	}
	return plan.Range{Buffer: c.arenas[s.unit.arena], Offset: s.unit.offset + s.offset, Bytes: s.bytes}, nil
}

// emitKernels writes the text of every step's kernel.
func emitKernels(c *compilation) error {
	for _, s := range c.steps {
		k, err := kernels.Emit(s.kernel, s.bindings)
		if err != nil {
			return err
		}
		s.compiled = k
	}
	return nil
}

// buildPlan adds kernels and dispatches. The builder checks everything against the rules of WebGPU and the profile's limits.
func buildPlan(c *compilation) error {
	b := c.builder
	b.Model(c.vocab, c.opts.Context)
	numbers := make([]int, len(c.steps))
	for i, s := range c.steps {
		numbers[i] = b.Kernel(s.compiled)
	}
	for _, phase := range []plan.Phase{plan.Prefill, plan.Decode, plan.Forward} {
		list := b.List(phase, 1)
		for i, s := range c.steps {
			if hasPhase(s, phase) {
				g := s.kernel.Grid
				list.Dispatch(numbers[i], g[0], g[1], g[2], s.bindings.Ranges()...)
			}
		}
	}
	var err error
	c.plan, err = b.Plan()
	return err
}

func hasPhase(s *step, phase plan.Phase) bool {
	for _, p := range s.phases {
		if p == phase {
			return true
		}
	}
	return false
}
