package wgsl_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Remainders of i32 are refused where an operand may be negative: devices disagree.
func TestRemainders(t *testing.T) {
	for _, c := range []struct {
		value   string
		refused bool
	}{
		{"local % 3u", false},
		{"i32(local) % 3", true},
		{"7 % i32(local)", true},
		{"vec2<i32>(vec2<u32>(local, local)) % 3", true},
		{"f32(local) % 3.0", false},
		{"-7i % 3i", false}, // the generator computes it
		{"i32(local) / 3", false},
	} {
		m := wgsl.New()
		m.Compute(1, "@builtin(local_invocation_index) local: u32", func() { m.Let("r", c.value) })
		if _, err := m.Text(); (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "the remainder of i32 differs from device to device") {
			t.Errorf("%s: %v", c.value, err)
		}
	}
	m := wgsl.New()
	m.Compute(1, "@builtin(local_invocation_index) local: u32", func() {
		m.Var("a", "i32(local)")
		m.If("a > 5", func() { m.Set("a", "a % 5") })
	})
	if _, err := m.Text(); err == nil {
		t.Error("an assignment is not refused")
	}
}
