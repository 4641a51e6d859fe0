package codegen_test

import (
	"math"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
)

// Sizes beyond all use are refused before anything is computed from them.
func TestOptionsOutOfRange(t *testing.T) {
	g := shape(t, 1, quant.Q8_0, ir.F32)
	for _, c := range []struct {
		opts codegen.Options
		want string
	}{
		{codegen.Options{}, "context 0 is not within"},
		{codegen.Options{Context: -1}, "context -1 is not within"},
		{codegen.Options{Context: math.MaxInt}, "is not within"},
		{codegen.Options{Context: 1 << 40}, "is not within"},
		{codegen.Options{Context: 10, Ring: -1}, "a ring of -1 is not within"},
		{codegen.Options{Context: 10, Ring: math.MaxInt}, "is not within"},
		{codegen.Options{Context: 10, Keep: []string{"nope"}}, "no value is called nope"},
	} {
		c.opts.Profile = profile(t, "portable")
		if _, err := codegen.Compile(g, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("context %d, ring %d: %v, want %q", c.opts.Context, c.opts.Ring, err, c.want)
		}
	}
	if _, err := codegen.Compile(g, codegen.Options{Context: 10}); err == nil {
		t.Error("no profile is needed")
	}
}
