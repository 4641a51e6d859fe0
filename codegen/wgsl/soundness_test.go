package wgsl_test

import (
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"pgregory.net/rapid"
)

// Whatever control flow the checker takes for uniform, tint takes for uniform: the check is simpler and must err on the strict side.
func TestUniformityIsNoLooserThanTint(t *testing.T) {
	tint := compiler(t, "tint")
	accepted, refused := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		m := kernel(func(m *wgsl.Module) {
			m.Var("k", "0u")
			program(r, m, 3, false)
			m.Barrier()
		})
		text, err := m.Text()
		if err != nil {
			refused++
			return
		}
		accepted++
		if ok, out := accepts(t, tint, text); !ok {
			r.Fatalf("tint refuses what was accepted: %s\n%s", out, text)
		}
	})
	t.Logf("%d accepted, %d refused", accepted, refused)
	if accepted < 10 || refused < 10 {
		t.Errorf("%d accepted, %d refused: the programs are too much alike", accepted, refused)
	}
}

var conditions = []string{
	"group.x > 1u", "limits[0].y > n", "n > 2u", "k > 2u", "n > k", "codes[group.x].x > 3u", "codes[k].x > 3u", "workgroupUniformLoad(&best) > 1u",
	"c", "lane > 3u", "y[0] > 1.0", "part[0] > 1.0", "codes[n + lane].x > 0u",
}

var assigned = []string{"group.y", "1u", "n + 1u", "k + n", "limits[1].x", "workgroupUniformLoad(&best)", "lane", "arena[0]", "codes[n].x"}

// program draws up to four statements.
func program(r *rapid.T, m *wgsl.Module, depth int, loop bool) {
	// Small numbers come first in what rapid tries: uniform ones.
	condition := func() string {
		return conditions[min(rapid.IntRange(0, len(conditions)-1).Draw(r, "condition"), rapid.IntRange(0, 40).Draw(r, "uniform"))]
	}
	for range rapid.IntRange(1, 3).Draw(r, "statements") {
		switch kind := rapid.IntRange(0, 9).Draw(r, "statement"); {
		case kind <= 2:
			to := rapid.SampledFrom([]string{"n", "k"}).Draw(r, "to")
			m.Set(to, assigned[min(rapid.IntRange(0, len(assigned)-1).Draw(r, "value"), rapid.IntRange(0, 30).Draw(r, "uniform"))])
		case kind == 3:
			m.Barrier()
		case kind == 4 && loop:
			m.If(condition(), m.Break)
		case kind == 5 && loop:
			m.If(condition(), m.Continue)
		case kind == 6:
			m.If(condition(), func() { m.Return("") })
		case depth == 0:
			m.Set("y[lane]", "f")
		case kind == 7:
			m.Loop("j", rapid.SampledFrom([]string{"0", "group.x", "n", "lane"}).Draw(r, "first"), "limits[0].x", 1, func() { program(r, m, depth-1, true) })
		case kind == 8:
			m.While(condition(), func() { program(r, m, depth-1, true) })
		default:
			m.IfElse(condition(), func() { program(r, m, depth-1, loop) }, func() { program(r, m, depth-1, loop) })
		}
	}
}
