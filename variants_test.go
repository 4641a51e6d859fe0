package kgen_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/gen/smollm2_135m"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// A generated package gives the tokens that compiling in memory gives; options choose among its variants.
func TestVariants(t *testing.T) {
	gpu.Adapter(t)
	ids := func(opts kgen.Options) []uint32 {
		t.Helper()
		opts.Device = "native"
		m, err := kgen.Load(t.Context(), oracle.Find(t, oracle.SmolLM2), opts)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if want := map[bool]string{true: "exact", false: "fast"}[opts.Exact]; m.Path() != want || m.Context() != 128 {
			t.Errorf("path %s, context %d", m.Path(), m.Context())
		}
		s, err := m.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		var all []uint32
		for piece, err := range s.GenerateIDs(t.Context(), []uint32{504, 3575, 282}, kgen.Generation{MaxTokens: 12, IgnoreEnd: true}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, piece.IDs...)
		}
		return all
	}
	for _, exact := range []bool{true, false} {
		var log []string
		opts := kgen.Options{Exact: exact, Context: 128, Log: func(line string) { log = append(log, line) }}
		want := ids(opts)
		opts.Variants = smollm2_135m.Variants()
		if got := ids(opts); len(want) != 12 || !slices.Equal(got, want) {
			t.Errorf("exact %t: generated %v, compiled in memory %v", exact, got, want)
		}
		if !strings.Contains(strings.Join(log, "\n"), "variant ") {
			t.Errorf("the choice was not logged: %q", log)
		}
	}
}

// What a generated package can't do is refused before weights are loaded.
func TestVariantsRefuse(t *testing.T) {
	gpu.Adapter(t)
	tiny := write(t, "tiny.gguf", oracle.Bytes(t, "llama-q4_1.gguf"))
	real := oracle.Find(t, oracle.SmolLM2)
	for about, c := range map[string]struct {
		path string
		opts kgen.Options
		code kgenrt.Code
		want string
	}{
		"another model": {tiny, kgen.Options{}, kgenrt.UnsupportedModel, "kgen gen --gguf"},
		"context":       {real, kgen.Options{Context: 8192, KV: "f16", Trace: true}, kgenrt.BadRequest, "residual stream"},
		"profile":       {real, kgen.Options{Profile: "compat"}, kgenrt.BadRequest, "portable_exact_f16"},
	} {
		c.opts.Device, c.opts.Variants = "native", smollm2_135m.Variants()
		_, err := kgen.Load(t.Context(), c.path, c.opts)
		var e *kgen.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s and %q", about, err, c.code, c.want)
		}
	}
	small := smollm2_135m.Variants()
	for i := range small {
		small[i].Context = 64
	}
	_, err := kgen.Load(t.Context(), real, kgen.Options{Device: "native", Context: 65, Variants: small})
	if err == nil || !strings.Contains(err.Error(), "context 65 is longer than that of variant") {
		t.Errorf("a context beyond the variant's: %v", err)
	}
}
