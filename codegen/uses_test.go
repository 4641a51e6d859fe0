package codegen

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/testgraph"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// stamp says which tensor was written last to some bytes of a buffer.
type stamp struct {
	from, to uint64
	tensor   string
}

// stamps holds for each buffer of a plan what was written to it, without overlaps.
type stamps [][]stamp

func (s stamps) write(r plan.Range, tensor string) {
	var kept []stamp
	for _, old := range s[r.Buffer] {
		if before := (stamp{old.from, min(old.to, r.Offset), old.tensor}); before.from < before.to {
			kept = append(kept, before)
		}
		if after := (stamp{max(old.from, r.Offset+r.Bytes), old.to, old.tensor}); after.from < after.to {
			kept = append(kept, after)
		}
	}
	s[r.Buffer] = append(kept, stamp{r.Offset, r.Offset + r.Bytes, tensor})
}

// read returns the parts of a range by who wrote them; the tensor of what nobody wrote is empty.
func (s stamps) read(r plan.Range) []stamp {
	var all []stamp
	written := uint64(0)
	for _, old := range s[r.Buffer] {
		if part := (stamp{max(old.from, r.Offset), min(old.to, r.Offset+r.Bytes), old.tensor}); part.from < part.to {
			all = append(all, part)
			written += part.to - part.from
		}
	}
	if written < r.Bytes {
		all = append(all, stamp{r.Offset, r.Offset + r.Bytes, ""})
	}
	return all
}

func contains(r, part plan.Range) bool {
	return r.Buffer == part.Buffer && r.Offset <= part.Offset && part.Offset+part.Bytes <= r.Offset+r.Bytes
}

// checkUses replays the lists of a plan on memory that knows what was written last, and returns the first use that reads another
// tensor, leaves what is bound, or is missing.
func checkUses(g *ir.Graph, p *plan.Plan, uses [][][]plan.Use) error {
	if len(uses) != len(p.Lists) {
		return fmt.Errorf("uses of %d lists, the plan has %d", len(uses), len(p.Lists))
	}
	for i, l := range p.Lists {
		if len(uses[i])*plan.RecordWords != len(l.Records) {
			return fmt.Errorf("list %v: uses of %d dispatches, records of %d words", l.Phase, len(uses[i]), len(l.Records))
		}
		memory := loaded(p)
		for j, us := range uses[i] {
			record := l.Records[j*plan.RecordWords:]
			at := fmt.Sprintf("%v, dispatch %d, %s", l.Phase, j, p.Kernels[record[0]].Name)
			if err := checkBound(p.Groups[record[1]], us); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			if err := memory.step(us); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
		for _, o := range p.Outputs {
			for _, part := range memory.read(o.Range) {
				if l.Phase != plan.Prefill && part.tensor != computedName(g, o.Name) {
					return fmt.Errorf("%v: output %s holds %q from %d to %d", l.Phase, o.Name, part.tensor, part.from, part.to)
				}
			}
		}
	}
	return nil
}

// computedName is the name of the value that an output is, or is another name of.
func computedName(g *ir.Graph, output string) string {
	for _, n := range g.Nodes {
		for _, t := range n.Out {
			if t.Name == output {
				return value(t).Name
			}
		}
	}
	return ""
}

// loaded is memory as a host fills it.
func loaded(p *plan.Plan) stamps {
	s := make(stamps, len(p.Buffers))
	for _, w := range p.Weights {
		for _, plane := range w.Recipe.Planes {
			s.write(plane.To, w.Tensor)
		}
	}
	for _, t := range p.Tables {
		s.write(t.To, "position table")
	}
	s.write(p.Params.Range, "params")
	return s
}

// step reads what a dispatch reads, then writes what it writes.
func (s stamps) step(uses []plan.Use) error {
	for _, u := range uses {
		if u.Access == plan.ReadWrite {
			continue
		}
		for _, part := range s.read(u.Range) {
			r := plan.Range{Buffer: u.Range.Buffer, Offset: part.from, Bytes: part.to - part.from}
			if !slices.ContainsFunc(uses, func(o plan.Use) bool {
				return o.Access != plan.ReadWrite && o.Tensor == part.tensor && contains(o.Range, r)
			}) {
				return fmt.Errorf("reads %s where %q was written last, %d bytes at %d of buffer %d", u.Tensor, part.tensor, r.Bytes, r.Offset, r.Buffer)
			}
		}
	}
	for _, u := range uses {
		if u.Access == plan.ReadWrite {
			s.write(u.Range, u.Tensor)
		}
	}
	return nil
}

// checkBound wants every use within a range of the group that is bound for it, and every range full of uses but for padding.
func checkBound(g plan.Group, uses []plan.Use) error {
	for _, u := range uses {
		if !slices.ContainsFunc(g.Ranges, func(r plan.Range) bool { return contains(r, u.Range) }) || u.Range.Bytes == 0 || u.Tensor == "" {
			return fmt.Errorf("%s, %+v, lies in no range of %+v", u.Tensor, u.Range, g.Ranges)
		}
	}
	for i, r := range g.Ranges {
		writes := false
		covered := make(stamps, r.Buffer+1)
		for _, u := range uses {
			if contains(r, u.Range) {
				covered.write(u.Range, u.Tensor)
				writes = writes || u.Access == plan.ReadWrite
			}
		}
		if writes != (g.Layout[i] == plan.ReadWrite) {
			return fmt.Errorf("binding %d is bound as %v, its uses write: %v", i, g.Layout[i], writes)
		}
		end := r.Offset
		for _, part := range slices.SortedFunc(slices.Values(covered[r.Buffer]), func(a, b stamp) int { return int(a.from) - int(b.from) }) {
			if part.from >= end+plan.RangeAlignment || end == r.Offset && part.from > end {
				return fmt.Errorf("binding %d has bytes from %d to %d that belong to no tensor", i, end, part.from)
			}
			end = part.to
		}
		if end != r.Offset+r.Bytes {
			return fmt.Errorf("binding %d has bytes from %d to %d that belong to no tensor", i, end, r.Offset+r.Bytes)
		}
	}
	return nil
}

// wholeSuite reports whether tests that run a slice by themselves are to run whole.
func wholeSuite() bool { return os.Getenv("KGEN_SUITE") == "all" }

// Every preset, compiled for every profile, exact and fast, reads the tensors that it should: where two share memory, the one that is
// read was written last.
func TestUsesOfPresets(t *testing.T) {
	for i, preset := range models.Presets() {
		g, err := models.Build(preset.Hyperparameters, models.Options{KV: ir.F16})
		if err != nil {
			t.Fatal(err)
		}
		for j, p := range schedules.Profiles() {
			if p.Subgroups && p.SubgroupSize == 0 {
				p.SubgroupSize = 32
			}
			for k, fast := range []bool{false, true} {
				if !wholeSuite() && (i+j+4*k)%8 != 0 {
					continue
				}
				r, err := Compile(g, Options{Profile: p, Context: 1024, Fast: fast})
				if err == nil {
					err = checkUses(r.Graph, r.Plan, r.Uses)
				}
				if err != nil {
					t.Errorf("%s for %s, fast %v: %v", preset.Name, p.Name, fast, err)
				}
			}
		}
	}
}

// So do graphs that are easy to get wrong.
func TestUsesOfCases(t *testing.T) {
	for _, tc := range testgraph.Cases() {
		for _, fast := range []bool{false, true} {
			if tc.Refused != "" {
				continue
			}
			c, err := planned(t, tc.Text(), "list uses", Options{Keep: tc.Keep, Fast: fast})
			if err == nil {
				err = checkUses(c.graph, c.plan, c.uses)
			}
			if err != nil {
				t.Errorf("%s, fast %v: %v", tc.Name, fast, err)
			}
		}
	}
	seeds := uint64(50)
	if wholeSuite() {
		seeds = 300
	}
	for seed := range seeds {
		text := testgraph.Random(seed)
		c, err := planned(t, text, "list uses", Options{Fast: seed%2 == 1})
		if err == nil {
			err = checkUses(c.graph, c.plan, c.uses)
		}
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, text)
		}
	}
}

// overlap is two units of memory, by their numbers: the first is written before the second, in the same arena, and read afterwards.
type overlap [2]int

// overlaps returns all of a graph.
func overlaps(t *testing.T, text string) (all []overlap) {
	t.Helper()
	c, err := planned(t, text, "plan memory", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range c.values.units {
		for j, b := range c.values.units {
			if a.arena == b.arena && a.first < b.first && b.first < a.last {
				all = append(all, overlap{i, j})
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("no two values live in one arena at the same time")
	}
	return all
}

// plant plans the graph with the second unit where the first is.
func (o overlap) plant(t *testing.T, text string) (c *compilation, a, b *unit) {
	t.Helper()
	c, err := planned(t, text, "plan memory", Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, b = c.values.units[o[0]], c.values.units[o[1]]
	b.offset = a.offset
	c.program.Arenas[a.arena] += b.bytes
	return c, a, b
}

// Two values that live at the same time and are given the same bytes are seen, whichever they are.
func TestUsesShowOverlaps(t *testing.T) {
	text := testgraph.Cases()[0].Text()
	for _, o := range overlaps(t, text) {
		c, a, b := o.plant(t, text)
		err := from(c, "plan memory")
		if err == nil {
			err = checkUses(c.graph, c.plan, c.uses)
		}
		if err == nil || !strings.Contains(err.Error(), "was written last") {
			t.Errorf("%s and %s share bytes: %v", a.slots[0].name, b.slots[0].name, err)
		}
	}
}

// from runs the passes after one.
func from(c *compilation, name string) error {
	after := false
	for _, p := range passes() {
		if after {
			if err := p.run(c); err != nil {
				return err
			}
		}
		after = after || p.name == name
	}
	if !after {
		return errors.New("there is no pass " + name)
	}
	return nil
}
