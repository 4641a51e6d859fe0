package codegen_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/schedules"
)

func count(g *ir.Graph, op ir.Op) (n int) {
	for _, node := range g.Nodes {
		if node.Op == op {
			n++
		}
	}
	return n
}

// The graph pass inserts 8-bit products where kernels have them, and the plan then does: one quantising step for each
// vector, whatever reads it, on every profile within four bindings. Formats without such kernels give the exact plan.
func TestFast(t *testing.T) {
	for i, format := range kernels.Formats() {
		g := shape(t, 2, format, ir.F16)
		for j, p := range schedules.Profiles() {
			if p.Name != "compat" && (i+j)%3 != 0 { // a third suffices for profiles with room for eight
				continue
			}
			opts := codegen.Options{Profile: profile(t, p.Name), Context: 256}
			exact, err := codegen.Compile(g, opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Fast = true
			fast, err := codegen.Compile(g, opts)
			if err != nil {
				t.Fatalf("%v for %s: %v", format, p.Name, err)
			}
			want := "fast"
			if !slices.Contains(kernels.FormatsQ8(), format) {
				want = "exact"
			}
			if exact.Path != "exact" || fast.Path != want {
				t.Errorf("%v for %s: paths %s and %s", format, p.Name, exact.Path, fast.Path)
			}
			if !slices.Contains(kernels.FormatsQ8(), format) {
				if codegen.PlanText(fast.Plan) != codegen.PlanText(exact.Plan) {
					t.Errorf("%v for %s: the fast plan differs from the exact one", format, p.Name)
				}
				continue
			}
			// Of each layer: what q, k and v read, the output, gate and up, down. And the head.
			if n, left := count(fast.Graph, ir.QuantQ8), count(fast.Graph, ir.Linear); n != 2*4+1 || left != 0 {
				t.Errorf("%v for %s: %d vectors are quantised, want 9; %d products are not", format, p.Name, n, left)
			}
			if n := len(fast.Steps) - len(exact.Steps); n != 9 {
				t.Errorf("%v for %s: %d steps more than the exact plan", format, p.Name, n)
			}
			for _, k := range fast.Plan.Kernels {
				if len(k.Bindings) > 4 {
					t.Errorf("%v for %s: kernel %s has %d bindings, want at most 4", format, p.Name, k.Name, len(k.Bindings))
				}
			}
		}
	}
}

func TestFastUnsupported(t *testing.T) {
	g := shape(t, 1, quant.Q4_0, ir.F16)
	opts := codegen.Options{Profile: profile(t, "portable"), Context: 64, Fast: true, Keep: []string{"layer.0.attn_norm.q8.d"}}
	var unsupported *codegen.UnsupportedError
	if _, err := codegen.Compile(g, opts); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "node layer.0.attn_norm.q8 (quant_q8)") {
		t.Errorf("got %v", err)
	}
	opts.Keep = nil
	r, err := codegen.Compile(g, opts)
	if err != nil {
		t.Fatal(err)
	}
	// Scales that another vector has, as a hand-written graph could ask for.
	text := ir.Print(r.Graph)
	text = strings.Replace(text, "%layer.0.ffn_norm.q8.d, %layer.0.ffn_norm.q8.s, blk", "%layer.0.attn_norm.q8.d, %layer.0.ffn_norm.q8.s, blk", 1)
	swapped, err := ir.Parse("swapped", text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := codegen.Compile(swapped, opts); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "not the results of one quant_q8") {
		t.Errorf("got %v", err)
	}
}

// Weights of several types in one product get a kernel each, on both paths.
func TestMixedTypes(t *testing.T) {
	g := graph(t, "q4_0_portable", "blk.0.ffn_gate.weight: q4_0", "blk.0.ffn_gate.weight: q8_0",
		"%layer.0.ffn_gate = linear %layer.0.ffn_norm, blk.0.ffn_gate.weight : f32[T, 96]\n%layer.0.ffn_up = linear %layer.0.ffn_norm, blk.0.ffn_up.weight : f32[T, 96]",
		"%layer.0.ffn_gate, %layer.0.ffn_up = linear %layer.0.ffn_norm, blk.0.ffn_gate.weight, blk.0.ffn_up.weight : f32[T, 96], f32[T, 96]")
	for _, fast := range []bool{false, true} {
		r, err := codegen.Compile(g, codegen.Options{Profile: profile(t, "portable"), Context: 64, Fast: fast})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, s := range r.Steps {
			got[s.Node] = s.Kernel
		}
		if gate, up := got["layer.0.ffn_gate"], got["layer.0.ffn_up"]; !strings.HasPrefix(gate, "gemv_q8_0") || !strings.HasPrefix(up, "gemv_q4_0") {
			t.Errorf("fast %v: gate by %s, up by %s", fast, gate, up)
		}
	}
}
