package codegen

import (
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/runtime/plan"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// found runs a token through a compiled graph on the simulator and returns what it finds.
func found(t *testing.T, c *compilation) []sim.Finding {
	t.Helper()
	d, err := sim.Open(c.plan.Requires, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.Describe(c.plan, c.uses)
	e, err := kgenrt.NewEngine(t.Context(), c.plan, d, testgraph.NewWeights(c.graph, 7), kgenrt.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Logits(t.Context(), 0, 1, make([]float32, e.Vocab())); err != nil {
		t.Fatal(err)
	}
	return d.Findings()
}

// holds reports whether a value of a name lies in the unit.
func (u *unit) holds(c *compilation, name string) bool {
	for t, s := range c.values.of {
		if t.Name == name && slices.Contains(u.slots, s) {
			return true
		}
	}
	return false
}

// Two values that live at the same time and are given the same bytes: the simulator names the kernel that reads one of them, the
// variable, and the value that lies there instead.
func TestSimulatorSeesOverlaps(t *testing.T) {
	text := testgraph.Cases()[0].Text()
	c, err := planned(t, text, "list uses", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found(t, c) {
		t.Errorf("without a fault: %s: %v", f.Kernel, f)
	}
	planted := 0
	for _, pair := range overlaps(t, text) {
		c, a, b := pair.plant(t, text)
		if err := from(c, "plan memory"); err != nil {
			continue // bindings refuse it
		}
		planted++
		seen := found(t, c)
		if !slices.ContainsFunc(seen, func(f sim.Finding) bool {
			_, lies, ok := strings.Cut(f.Detail, " holds ")
			lies = strings.TrimSuffix(lies, " by now")
			return ok && f.Kind == sim.Uninitialized && f.Kernel != "" && f.Line > 0 && f.Variable != "" && b.holds(c, lies)
		}) {
			t.Errorf("%s is read where %s lies: found %v", a.slots[0].name, b.slots[0].name, seen)
		}
	}
	if planted == 0 {
		t.Error("nothing was planted")
	}
}

// A dispatch that is left out is seen, too: what reads its result finds nothing there, what another dispatch left, or with a value that
// is made in place the value before it.
func TestSimulatorSeesMissingDispatches(t *testing.T) {
	text := testgraph.Cases()[0].Text()
	for n := 0; ; n++ {
		c, err := planned(t, text, "list uses", Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(c.plan.Lists, func(l plan.List) bool { return l.Phase == plan.Forward })
		list := &c.plan.Lists[at]
		if n == len(c.uses[at])-1 {
			break // nothing on the device reads the logits
		}
		node := c.uses[at][n]
		list.Records = slices.Delete(slices.Clone(list.Records), n*plan.RecordWords, (n+1)*plan.RecordWords)
		c.uses[at] = slices.Delete(slices.Clone(c.uses[at]), n, n+1)
		if !slices.ContainsFunc(found(t, c), func(f sim.Finding) bool { return f.Kind == sim.Uninitialized && f.Line > 0 && f.Variable != "" }) {
			t.Errorf("without dispatch %d, which uses %v, nothing is found", n, node)
		}
	}
}
