package wgsl_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// naga 29 does not zero a variable again when a loop declares it a second time, so no text leaves the zero out.
func TestVariablesAreZeroedInText(t *testing.T) {
	m := wgsl.New()
	m.ReadWrite("y", "f32", 4)
	m.Compute(1, "", func() {
		m.Loop("i", "0u", 4, 1, func() {
			m.Var("sum: vec4<f32>", "")
			m.Var("parts: array<u32, 2>", "")
			m.Add("sum", "vec4<f32>(f32(parts[0]))")
			m.Set("y[i]", "sum.x")
		})
	})
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"= vec4<f32>();", "= array<u32, 2>();"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}
