package codegen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/bounds"
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

// planMemory gives values offsets in arenas. Outputs get room of their own.
func planMemory(c *compilation) error {
	units := c.values.finish(c.order)
	uses := make([]use, len(c.steps))
	for i, s := range c.steps {
		uses[i] = use{reads: c.unitsOf(s.reads()), writes: c.unitsOf(s.writes())}
	}
	c.program.Arenas = placeUnits(units, uses)
	return nil
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
			written, err := c.write(a)
			if err != nil {
				return fmt.Errorf("step %s: %w", s.node, err)
			}
			s.written = append(s.written, written)
			s.kernel.Operands[i].Place = c.placed.at(written)
		}
		b, err := bind.Plan(s.kernel.Name, s.kernel.Operands, c.opts.Profile.Limits)
		if err != nil {
			return fmt.Errorf("step %s: %w", s.node, err)
		}
		s.bindings = b
	}
	return nil
}

// write says what an operand stands for as the program does, all of it.
func (c *compilation) write(a arg) (Arg, error) {
	p := c.program
	switch {
	case a.plane != nil:
		st := a.plane.stack
		places := c.placed.stacks[st.number]
		return Arg{Of: InStack, Index: st.number, Plane: a.plane.plane, Bytes: places[a.plane.plane].Bytes}, nil
	case a.params:
		return Arg{Of: InParams, Bytes: c.placed.params.Bytes}, nil
	case a.table != nil:
		return Arg{Of: InTable, Index: *a.table, Bytes: c.placed.tables[*a.table].Bytes}, nil
	case a.cache != nil:
		half := 2 * slices.Index(c.caches, a.cache)
		if a.values {
			half++
		}
		return Arg{Of: InCache, Index: half, Bytes: p.Caches[half].Bytes}, nil
	}
	s := c.values.of[a.value]
	written := Arg{Values: []string{s.name}, Bytes: s.bytes}
	switch {
	case s.output:
		written.Of = InOutput
		written.Index = slices.IndexFunc(c.outputs, func(t *ir.Tensor) bool { return c.values.of[t] == s })
	case s.unit != nil:
		written.Of, written.Index, written.Offset = InArena, s.unit.arena, s.unit.offset+s.offset
	default:
		return Arg{}, fmt.Errorf("value %s was given no memory", a.value.Name)
	}
	if a.part.rows > 0 {
		written.Offset += uint64(a.part.from) * 4
		written.Bytes = uint64(a.part.rows) * 4
	}
	return written, nil
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

// buildPlan writes down kernels and dispatches, and builds the program. The builder checks everything against the rules of
// WebGPU and the profile's limits.
func buildPlan(c *compilation) error {
	numbers := map[string]int{}
	needs := &c.program.Requires
	for _, s := range c.steps {
		needs.LoopTrips = max(needs.LoopTrips, s.kernel.LoopTrips)
		needs.PackedDot = needs.PackedDot || strings.Contains(s.compiled.Text, "dot4I8Packed(")
		k, ok := numbers[s.compiled.Text]
		if !ok {
			k = len(c.program.Kernels)
			numbers[s.compiled.Text] = k
			c.program.Kernels = append(c.program.Kernels, s.compiled)
		}
		c.program.Dispatches = append(c.program.Dispatches, Dispatch{
			Node: s.node, Layer: layerOf(s.node), Kernel: k, Grid: s.kernel.Grid, Phases: s.phases, Args: s.bound(),
		})
	}
	var err error
	c.plan, err = c.program.Build()
	return err
}

// proveBounds marks the kernels that are proved to stay within their arrays. The proof reads their texts, in the grids and with the
// ranges of the plan: whoever has both can make it again.
func proveBounds(c *compilation) error {
	c.proofs = bounds.ProvePlan(c.plan)
	for i, proof := range c.proofs {
		c.plan.Kernels[i].Proved = proof.Proved()
		c.program.Kernels[i].Proved = proof.Proved()
	}
	return nil
}

// bound returns what each binding gets: the place of its first member, with the bytes that the binding covers.
func (s *step) bound() []Arg {
	var args []Arg
	for _, b := range s.bindings.List {
		a := s.writtenAs(b.Members[0].Operand)
		a.Bytes = b.Range.Bytes
		for _, m := range b.Members[1:] {
			for _, value := range s.writtenAs(m.Operand).Values {
				if !slices.Contains(a.Values, value) {
					a.Values = append(slices.Clip(a.Values), value)
				}
			}
		}
		args = append(args, a)
	}
	return args
}

// writtenAs returns what an operand stands for.
func (s *step) writtenAs(operand string) Arg {
	i := slices.IndexFunc(s.kernel.Operands, func(o bind.Operand) bool { return o.Name == operand })
	return s.written[i]
}
