package mutants

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen/mutate"
)

const small = `@group(0) @binding(0) var<storage, read_write> y: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) local: u32) {
  if (local < 64u) {
    y[local] = 1.0;
  }
}
`

// A judge that sees only what happens to the number stored: the rest survives, and is listed or not.
func TestSummary(t *testing.T) {
	mutants, err := mutate.Sample([]mutate.Kernel{{Name: "small.wgsl", Text: small}}, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(_ context.Context, m mutate.Mutant) (string, error) {
		if strings.Contains(m.Text, "= 1.0;") {
			return "", nil
		}
		return "another number", nil
	}
	results, err := Run(t.Context(), mutants, judge, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Text != mutants[i].Text || r.Killed() == strings.Contains(r.Text, "= 1.0;") {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	list, err := ReadEquivalents([]byte(`[
		{"operators": ["bound", "guard"], "kernel": "sm*.wgsl", "at": "if .local < 64u.*\n    y.local. =", "change": "64u becomes 6[35]u|local < 64u becomes .*", "why": "there are 64"},
		{"operators": ["lane"], "kernel": "*", "at": "▸y.local.", "change": ".*", "why": "not at this place"},
		{"operators": ["constant"], "kernel": "*", "change": "1.0 becomes 2.0", "why": "not so"},
		{"operators": ["tail"], "kernel": "other.wgsl", "change": ".*", "why": "not this one"}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	s := Summarise(results, func(m mutate.Mutant) bool { return Listed(list, mutate.Kernel{Name: m.Kernel, Text: small}, m.Site) })
	want := []Count{
		{"bound", 3, 0, 3}, {"guard", 1, 0, 1}, {"lane", 2, 0, 0}, {"operands", 1, 0, 0}, {"reduction", 1, 0, 0}, {"tail", 2, 1, 0},
		{"zero", 1, 1, 0}, {"constant", 1, 1, 0},
	}
	if diff := cmp.Diff(want, s.Operators); diff != "" {
		t.Errorf("counts (-want +got):\n%s\n%s", diff, s)
	}
	if len(s.Unexplained) != 5 || len(s.Wrong) != 1 || s.Wrong[0].Site.Operator != "constant" {
		t.Errorf("unexplained %v, wrong %v", s.Unexplained, s.Wrong)
	}
	if want := (Count{"all", 12, 3, 4}); s.Total != want || s.Total.Share() != 3.0/8 {
		t.Errorf("total %+v, want %+v", s.Total, want)
	}
}

func TestRunEnds(t *testing.T) {
	broken := errors.New("broken")
	mutants := make([]mutate.Mutant, 100)
	calls := 0
	_, err := Run(t.Context(), mutants, func(context.Context, mutate.Mutant) (string, error) { calls++; return "", broken }, 1)
	if !errors.Is(err, broken) || calls > 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestReadEquivalentsRefuses(t *testing.T) {
	for _, text := range []string{
		`{}`, `[{"operator": "bound"}]`, `[{"operators": ["bound"], "kernel": "*", "change": ".*"}]`,
		`[{"operators": ["bound"], "kernel": "*", "change": "(", "why": "x"}]`, `[{"operators": ["bound"], "kernel": "[", "change": ".*", "why": "x"}]`,
		`[{"operators": ["bound"], "kernel": "*", "at": "(", "change": ".*", "why": "x"}]`,
	} {
		if _, err := ReadEquivalents([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
