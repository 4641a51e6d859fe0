package wgsl_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Values may be f16, sums may not: 512 products of 1 and 256 are twice what f16 holds.
func TestSumsInF16AreRefused(t *testing.T) {
	type M = *wgsl.Module
	for _, c := range []struct {
		name    string
		refused bool
		build   func(m M)
	}{
		{"+=", true, func(m M) { m.Add("sum", "h") }},
		{"-=", true, func(m M) { m.Sub("sum", "h") }},
		{"fma", true, func(m M) { m.FMA("sum", "h", "h") }},
		{"a variable and what is added", true, func(m M) { m.Set("sum", "h + sum") }},
		{"within a call", true, func(m M) { m.Set("sum", "max(h, sum + h)") }},
		{"lanes", true, func(m M) { m.FMA("sums", "x[lane]", "x[lane]") }},
		{"a lane", true, func(m M) { m.Add("sums.x", "h") }},
		{"workgroup memory", true, func(m M) { m.Add("part[lane]", "h") }},
		{"a subgroup", true, func(m M) { m.Let("r", "subgroupAdd(h)") }},
		{"a prefix of a subgroup", true, func(m M) { m.Let("r", "subgroupInclusiveAdd(h)") }},
		{"dot", true, func(m M) { m.Let("r", "dot(x[lane], x[lane])") }},
		{"f32 of values of f16", false, func(m M) { m.Add("total", "f32(h)") }},
		{"dot of f32", false, func(m M) { m.Add("total", "dot(vec4<f32>(x[lane]), vec4(1.0f))") }},
		{"storing", false, func(m M) { m.Set("sum", "h * 2") }},
		{"scaling", false, func(m M) { m.Mul("sum", "h") }},
		{"the largest of a subgroup", false, func(m M) { m.Let("r", "subgroupMax(h)") }},
	} {
		m := wgsl.New()
		m.Read("x", "vec4<f16>", 8)
		m.Workgroup("part", "f16", 8)
		m.Compute(8, "@builtin(local_invocation_index) lane: u32", func() {
			m.Let("h", "x[lane].x")
			m.Var("sum", "0.0h")
			m.Var("sums", "vec4<f16>()")
			m.Var("total", "0.0")
			c.build(m)
		})
		_, err := m.Text()
		if refused := err != nil && strings.Contains(err.Error(), "adds up in f16") && strings.Contains(err.Error(), "wgsl/sums_test.go:"); refused != c.refused || err != nil && !refused {
			t.Errorf("%s: got %v, want refused %v", c.name, err, c.refused)
		}
	}
}
