package wgsl_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Functions: what they call counts for their callers, and what they return.
func TestUniformityOfFunctions(t *testing.T) {
	type M = *wgsl.Module
	sum := func(m M) {
		m.Func("sum", "v: f32", "f32", func() { m.Return("subgroupAdd(v)") })
	}
	for _, c := range []struct {
		name, want string
		tint       bool // refuses it too
		functions  func(m M)
		body       func(m M)
	}{
		{"called by all", "", false, sum, func(m M) { m.Let("r", "sum(f)") }},
		{"called by some", "sum must be reached by all", true, sum, func(m M) { m.If("c", func() { m.Let("r", "sum(f)") }) }},
		{"result is a sum", "the result of sum", true, sum, func(m M) { m.If("sum(f) > 1.0", func() { m.Barrier() }) }},
		{"result of uniform", "", false, func(m M) {
			m.Func("twice", "v: u32", "u32", func() { m.Return("v * 2") })
		}, func(m M) { m.If("twice(group.x) > 1", func() { m.Barrier() }) }},
		{"result of varying", "(lane is local_invocation_index)", true, func(m M) {
			m.Func("twice", "v: u32", "u32", func() { m.Return("v * 2") })
		}, func(m M) { m.If("twice(lane) > 1", func() { m.Barrier() }) }},
		{"result from memory", "the result of first", true, func(m M) {
			m.Func("first", "", "f32", func() { m.Return("y[0]") })
		}, func(m M) { m.If("first() > 1.0", func() { m.Barrier() }) }},
		{"branch on a uniform parameter", "", false, func(m M) {
			m.Func("meet", "v: u32", "", func() { m.If("v > 0", func() { m.Barrier() }) })
		}, func(m M) { m.Call("meet(group.x)") }},
		{"branch on a varying parameter", "argument v of meet varies, as lane is local_invocation_index", true, func(m M) {
			m.Func("meet", "v: u32", "", func() { m.If("v > 0", func() { m.Barrier() }) })
		}, func(m M) { m.Call("meet(lane)") }},
		{"assigned again", "", false, nil, func(m M) {
			m.Var("k", "lane")
			m.Set("k", "3")
			m.If("k > 1", func() { m.Barrier() })
		}},
		{"assigned in a loop", "control flow depends on k > 1", true, nil, func(m M) {
			m.Var("k", "3u")
			m.Loop("i", "0", 4, 1, func() {
				m.If("k > 1", func() { m.Barrier() })
				m.Set("k", "lane")
			})
		}},
		{"left early", "control flow depends on", true, nil, func(m M) {
			m.Loop("i", "0", 4, 1, func() {
				m.If("lane > 1", m.Break)
				m.Barrier()
			})
		}},
		{"left early, and after", "", false, nil, func(m M) {
			m.Loop("i", "0", 4, 1, func() { m.If("lane > 1", m.Break) })
			m.Barrier()
		}},
	} {
		m := wgsl.New()
		m.Read("x", "f32", 64)
		m.ReadWrite("y", "f32", 64)
		if c.functions != nil {
			c.functions(m)
		}
		m.Compute(64, allBuiltins, func() {
			m.Let("f", "x[lane]")
			m.Let("c", "f > 0")
			c.body(m)
		})
		text, err := m.Text()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		t.Run(c.name, func(t *testing.T) {
			if ok, out := accepts(t, compiler(t, "tint"), text); ok == c.tint {
				t.Errorf("accepted: %v\n%s", ok, out)
			}
		})
	}
}
