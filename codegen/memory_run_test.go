package codegen

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// word is what a word of memory holds: a part of a value. The zero word was never written.
type word struct {
	value *ir.Tensor
	part  int
}

// machine runs the steps of a phase on memory that holds names of values in place of numbers, and starts as poison. What a step
// reads must be whole and be what its node reads in the graph.
type machine struct {
	*compilation
	made   map[string]*ir.Node // by the name of each result
	memory map[string][]word   // arenas and outputs
}

func newMachine(c *compilation) *machine {
	m := &machine{compilation: c, made: map[string]*ir.Node{}, memory: map[string][]word{}}
	for _, n := range c.graph.Nodes {
		for _, t := range n.Out {
			m.made[t.Name] = n
		}
	}
	return m
}

// value follows other names of a value's bytes to the value that a step computes.
func value(t *ir.Tensor) *ir.Tensor {
	for t.Def != nil && (t.Def.Op == ir.Reshape || t.Def.Op == ir.Last) {
		t = t.Def.In[0]
	}
	return t
}

// at returns the words of an argument.
func (m *machine) at(a Arg) []word {
	var place string
	var size uint64
	if a.Of == InArena {
		place, size = fmt.Sprint("arena ", a.Index), m.program.Arenas[a.Index]
	} else {
		place, size = fmt.Sprint("output ", a.Index), m.program.Outputs[a.Index].Bytes
	}
	if m.memory[place] == nil {
		m.memory[place] = make([]word, size/4)
	}
	return m.memory[place][a.Offset/4:][:a.Bytes/4]
}

// run runs all steps of a phase and returns what was wrong.
func (m *machine) run(phase plan.Phase) error {
	clear(m.memory)
	for _, s := range m.steps {
		if !slices.Contains(s.phases, phase) {
			continue
		}
		if err := m.step(s); err != nil {
			return fmt.Errorf("%v, step %s (%s): %w", phase, s.node, s.kernel.Name, err)
		}
	}
	return nil
}

func (m *machine) step(s *step) error {
	node := m.made[s.node]
	reads := map[*ir.Tensor]bool{}
	for _, t := range m.operands(s, node) {
		reads[value(t)] = true
	}
	var seen []*ir.Tensor
	for i, a := range s.args {
		if a.value == nil || !reads[value(a.value)] {
			continue
		}
		seen = append(seen, value(a.value))
		if err := holds(m.at(s.written[i]), value(a.value)); err != nil {
			return err
		}
	}
	for t := range reads {
		if !slices.Contains(seen, t) {
			return fmt.Errorf("it does not read %s", t.Name)
		}
	}
	for i, a := range s.args {
		if a.value != nil && s.kernel.Operands[i].Access == plan.ReadWrite {
			result := m.result(a.value, node)
			for part := range m.at(s.written[i]) {
				m.at(s.written[i])[part] = word{result, a.part.from + part}
			}
		}
	}
	return nil
}

// operands returns the values that the graph has a step read. Steps beside the graph read what was computed for them.
func (m *machine) operands(s *step, node *ir.Node) []*ir.Tensor {
	switch {
	case node == nil && len(s.reads()) > 0:
		return s.reads()[:1] // logits, or the partial results of their maximum
	case node == nil:
		return nil
	case node.Op == ir.KVAppend:
		return []*ir.Tensor{m.queries(node).In[0], node.In[0].Def.In[0], node.In[1]}
	case node.Op == ir.Attention:
		return node.In[:1]
	case node.Op == ir.LinearQ8:
		return node.In[:1] // scales and sums lie with the codes
	}
	return slices.DeleteFunc(slices.Clone(node.In), func(t *ir.Tensor) bool { return t.Kind != ir.Value })
}

// queries is the rotation of the queries that attend to a cache.
func (m *machine) queries(store *ir.Node) *ir.Node {
	for _, n := range m.graph.Nodes {
		if n.Op == ir.Attention && n.In[1] == store.Out[0] {
			return n.In[0].Def
		}
	}
	return nil
}

// result is the value that an operand holds after a step: itself, or what the step made of it in place.
func (m *machine) result(t *ir.Tensor, node *ir.Node) *ir.Tensor {
	switch {
	case node == nil || slices.Contains(node.Out, t):
		return value(t)
	case node.Op == ir.KVAppend:
		return m.queries(node).Out[0]
	}
	return value(node.Out[0])
}

func holds(words []word, t *ir.Tensor) error {
	for part, w := range words {
		switch {
		case w.value == nil:
			return fmt.Errorf("word %d of %s was never written", part, t.Name)
		case w != word{t, part}:
			return fmt.Errorf("word %d of %s is word %d of %s", part, t.Name, w.part, w.value.Name)
		}
	}
	return nil
}

// check runs all phases. After the last, outputs hold what they are named after.
func check(c *compilation) error {
	m := newMachine(c)
	for _, phase := range plan.Phases() {
		if err := m.run(phase); err != nil {
			return err
		}
	}
	for i, t := range c.outputs {
		if err := holds(m.at(Arg{Of: InOutput, Index: i, Bytes: c.program.Outputs[i].Bytes}), value(t)); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}

// planned runs the passes up to the one named last, for portable unless opts say otherwise.
func planned(t *testing.T, text string, last string, opts Options) (*compilation, error) {
	t.Helper()
	g, err := ir.Parse("graph", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if opts.Profile.Name == "" {
		opts.Profile = profileWith(t, "portable", 128<<20)
	}
	opts.Context = 64
	c, err := newCompilation(g, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range passes() {
		if err := p.run(c); err != nil {
			return nil, err
		}
		if p.name == last {
			break
		}
	}
	return c, nil
}

// Every case is refused as it says, or compiles to steps that find in memory what the graph has them read.
func TestCasesInMemory(t *testing.T) {
	for _, tc := range testgraph.Cases() {
		for _, fast := range []bool{false, true} {
			c, err := planned(t, tc.Text(), "build plan", Options{Keep: tc.Keep, Fast: fast})
			switch {
			case tc.Refused != "":
				if err == nil || !strings.Contains(err.Error(), tc.Refused) {
					t.Errorf("%s, fast %v: refused by %v, want %q", tc.Name, fast, err, tc.Refused)
				}
			case err != nil:
				t.Errorf("%s, fast %v: %v", tc.Name, fast, err)
			default:
				if err := check(c); err != nil {
					t.Errorf("%s, fast %v: %v", tc.Name, fast, err)
				}
			}
		}
	}
}

// So do the steps of random graphs, also when a value is kept.
func TestRandomGraphsInMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	refused := 0
	for seed := range uint64(300) {
		text := testgraph.Random(seed)
		opts := Options{Fast: seed%2 == 1}
		c, err := planned(t, text, "plan bindings", opts)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if err := check(c); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		made := c.graph.Nodes[random.IntN(len(c.graph.Nodes))].Out
		opts.Keep = []string{made[0].Name}
		c, err = planned(t, text, "plan bindings", opts)
		var unsupported *UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			refused++
			continue
		case err != nil:
			t.Fatalf("seed %d, keep %v: %v\n%s", seed, opts.Keep, err, text)
		}
		if len(c.outputs) != 2 && opts.Keep[0] != "logits" {
			t.Fatalf("seed %d: %v is no output\n%s", seed, opts.Keep, text)
		}
		if err := check(c); err != nil {
			t.Fatalf("seed %d, keep %v: %v\n%s", seed, opts.Keep, err, text)
		}
	}
	if refused > 150 {
		t.Errorf("in %d of 300 graphs a value could not be kept", refused)
	}
}
