package wgsl_test

import (
	"fmt"
	"math"
	"regexp"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/judge"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// extremes are numbers that printers get wrong, as Go prints them, and what a kernel has of them.
var extremes = []struct {
	value float64
	f32   string // empty where it is refused
	f16   string
}{
	{math.Inf(1), "", ""},
	{math.Inf(-1), "", ""},
	{math.NaN(), "", ""},
	{math.Copysign(0, -1), "-0.0f", "-0.0h"},
	{0, "0.0f", "0.0h"},
	{1e-45, "1e-45f", "0.0h"},
	{-1e-45, "-1e-45f", "-0.0h"},
	{1e-46, "0.0f", "0.0h"},
	{math.MaxFloat32, "3.4028234663852886e+38f", ""},
	{-math.MaxFloat32, "-3.4028234663852886e+38f", ""},
	{1e39, "", ""},
	{-1e39, "", ""},
	{65504, "65504.0f", "6.55e+04h"}, // the fewest digits that round to it,
	{65505, "65505.0f", "6.55e+04h"},
	{65520, "65520.0f", ""},
	{-65520, "-65520.0f", ""},
	{math.Pi, "3.1415927f", "3.14h"},
}

// Constants that WGSL has are in the text as they are, up to rounding; all others are mistakes of the generator, at the Go line that
// wrote them. Nothing is infinite, and nothing becomes so by a division. Both compilers take what is left.
func TestExtremeConstants(t *testing.T) {
	literal := regexp.MustCompile(`let r = (.*);`)
	var taken []func(m *wgsl.Module)
	for i, c := range extremes {
		for suffix, want := range map[string]string{"f": c.f32, "h": c.f16} {
			m := wgsl.New()
			m.Compute(1, "", func() { m.Let("r", "%v"+suffix, c.value) })
			text, err := m.Text()
			if (err == nil) != (want != "") {
				t.Errorf("%v%s: %v, want %q", c.value, suffix, err, want)
				continue
			}
			if err != nil {
				continue
			}
			if found := literal.FindStringSubmatch(text); found == nil || found[1] != want {
				t.Errorf("%v%s became %q, want %q", c.value, suffix, found, want)
			}
			taken = append(taken, func(m *wgsl.Module) { m.Let(fmt.Sprint("r", i, suffix), "%v"+suffix, c.value) })
		}
	}
	m := wgsl.New()
	m.Compute(1, "", func() {
		for _, write := range taken {
			write(m)
		}
	})
	text := mustText(t, m)
	eachCompiler(t, func(t *testing.T, name string, c judge.Validator) {
		if ok, out := accepts(t, c, text); !ok {
			t.Errorf("%s\n%s", out, text)
		}
	})
}
