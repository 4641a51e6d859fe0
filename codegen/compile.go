package codegen

import (
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// Options chooses what a graph is compiled to.
type Options struct {
	Profile schedules.Profile
	Context int // positions that the KV cache and the position tables hold
	Ring    int // ids that one burst can decode, and tokens that one burst can prefill; 0 for 256
	// Keep names values that stay readable after a forward replay, besides the graph's outputs: the residual stream for
	// a comparison layer by layer. It costs in-place sums.
	Keep []string
	// Fast lets activations be rounded to 8 bits where weights are multiplied with them: see ir.QuantiseActivations. Without it,
	// the path is exact: f32 throughout.
	Fast bool
}

// defaultRing is the largest burst unless Options say otherwise: far above what a burst gains from, and 1 KiB of params.
const defaultRing = 256

// Result is a compiled graph.
type Result struct {
	Path    string    // fast when some product takes activations of 8 bits, else exact
	Graph   *ir.Graph // after the graph passes
	Steps   []Step    // in the order of dispatch
	Program *Program
	Plan    *plan.Plan
	Proofs  []*bounds.Proof // of each kernel of the plan
	Uses    [][][]plan.Use  // what dispatch j of list i of Plan reads and writes
}

// Step is one dispatch, for people: what it computes, with which kernel, and how its operands were bound.
type Step struct {
	Node     string
	Kernel   string
	Schedule string
	Phases   []plan.Phase
	Bindings string // the binding planner's account
}

// path names the contract that results keep.
func path(g *ir.Graph) string {
	if slices.ContainsFunc(g.Nodes, func(n *ir.Node) bool { return n.Op == ir.LinearQ8 }) {
		return "fast"
	}
	return "exact"
}

// pass is one stage of the compiler.
type pass struct {
	name string
	run  func(*compilation) error
}

// passes lists the stages in order. Each leaves the compilation complete for the next.
func passes() []pass {
	return []pass{
		{"verify", verify},
		{"canonicalise", canonicalise},
		{"share inputs", shareInputs},
		{"quantise activations", quantiseActivations}, // the fast path alone
		{"select kernels", selectKernels},
		{"choose phases", choosePhases},
		{"plan memory", planMemory},
		{"place", place},
		{"plan bindings", planBindings},
		{"emit kernels", emitKernels},
		{"build plan", buildPlan},
		{"prove bounds", proveBounds},
		{"list uses", listUses},
	}
}

// Compile turns a graph of one new token into a plan for the profile. The graph is not changed. Errors name the pass and
// the node, kernel or limit.
func Compile(g *ir.Graph, opts Options) (*Result, error) {
	c, err := newCompilation(g, opts)
	if err != nil {
		return nil, err
	}
	for _, p := range passes() {
		if err := p.run(c); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", g.Name, p.name, err)
		}
	}
	return c.result(), nil
}

// compilation is the state that passes work on.
type compilation struct {
	opts   Options
	graph  *ir.Graph
	steps  []*step
	values slots
	partly map[*ir.Tensor]*ir.Tensor // of a value made in place, the one before it, of which some words stay as they were
	order  []*ir.Tensor              // values that got memory, in order of creation

	stacks  []*stack
	holder  map[shard]*stack // the stack that holds a weight, or a shard of it
	caches  []*ir.Tensor     // results of KVAppend by cache layer
	outputs []*ir.Tensor     // values that stay readable
	program *Program         // filled by the passes from place on
	placed  *placed
	plan    *plan.Plan
	proofs  []*bounds.Proof
	uses    [][][]plan.Use
}

func newCompilation(g *ir.Graph, opts Options) (*compilation, error) {
	const most = 1 << 24 // positions, and words of the ring: beyond any use, and far from overflowing
	if opts.Context <= 0 || opts.Context > most {
		return nil, fmt.Errorf("%s: context %d is not within 1..%d", g.Name, opts.Context, most)
	}
	if opts.Ring < 0 || opts.Ring > most {
		return nil, fmt.Errorf("%s: a ring of %d is not within 1..%d", g.Name, opts.Ring, most)
	}
	if opts.Ring == 0 {
		opts.Ring = defaultRing
	}
	pages := (opts.Context + pageTokens - 1) / pageTokens
	return &compilation{
		opts: opts, graph: ir.Clone(g), holder: map[shard]*stack{}, values: slots{of: map[*ir.Tensor]*slot{}}, partly: map[*ir.Tensor]*ir.Tensor{},
		program: &Program{
			Name: g.Name, Profile: opts.Profile.Name, Requires: opts.Profile.Requires(), Context: opts.Context,
			Params: plan.Params{
				Sequences: 1, PagesAt: plan.ParamsRecordWords, Pages: pages,
				RingAt: plan.ParamsRecordWords + pages, Ring: opts.Ring,
			},
			KV: plan.KV{PageTokens: pageTokens, Pages: pages},
		},
	}, nil
}

func hasValue(g *ir.Graph, name string) bool {
	for _, n := range g.Nodes {
		for _, t := range n.Out {
			if t.Name == name {
				return true
			}
		}
	}
	return false
}

func verify(c *compilation) error { return ir.Verify(c.graph) }

func canonicalise(c *compilation) error {
	ir.Canonicalise(c.graph)
	return ir.Verify(c.graph)
}

func shareInputs(c *compilation) error {
	ir.ShareInputs(c.graph)
	return ir.Verify(c.graph)
}

func (c *compilation) result() *Result {
	r := &Result{Path: path(c.graph), Graph: c.graph, Program: c.program, Plan: c.plan, Proofs: c.proofs, Uses: c.uses}
	for _, s := range c.steps {
		r.Steps = append(r.Steps, Step{
			Node: s.node, Kernel: s.compiled.Name, Schedule: s.schedule, Phases: s.phases, Bindings: s.bindings.String(),
		})
	}
	return r
}

// keepsAlias reports whether a value or another name of its bytes must stay readable: a reshape, or its last row.
func (c *compilation) keepsAlias(t *ir.Tensor) bool {
	if c.keeps(t) {
		return true
	}
	for _, n := range c.graph.Nodes {
		if (n.Op == ir.Reshape || n.Op == ir.Last) && n.In[0] == t && c.keepsAlias(n.Out[0]) {
			return true
		}
	}
	return false
}

// keeps reports whether a value must stay readable by its own name.
func (c *compilation) keeps(t *ir.Tensor) bool {
	for _, name := range c.opts.Keep {
		if name == t.Name {
			return true
		}
	}
	for _, o := range c.graph.Outputs {
		if o == t {
			return true
		}
	}
	return false
}
