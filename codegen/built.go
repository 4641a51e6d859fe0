package codegen

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Built is a kernel of a plan with what it was made from: for whoever judges whether the one computes what the other asks for.
type Built struct {
	kernels.Kernel // with the problem that it solves and its schedule; operands have their places in the plan's buffers
	Compiled       plan.Kernel
	Bindings       *bind.Bindings
}

// Kernels compiles a graph as Compile does, and returns each kernel of the plan once, as it is dispatched first.
func Kernels(g *ir.Graph, opts Options) ([]Built, error) {
	c, err := newCompilation(g, opts)
	if err != nil {
		return nil, err
	}
	for _, p := range passes() {
		if err := p.run(c); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", g.Name, p.name, err)
		}
	}
	var all []Built
	seen := map[string]bool{}
	for _, s := range c.steps {
		if !seen[s.compiled.Text] {
			seen[s.compiled.Text] = true
			all = append(all, Built{s.kernel, s.compiled, s.bindings})
		}
	}
	return all, nil
}
