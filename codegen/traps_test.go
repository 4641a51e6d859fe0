package codegen_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// A plan says how far its longest loops go, so that a device that ends loops early can refuse it, and a profile with such a cap
// gets a plan within it or none: the error names the node, and that a limit is at fault.
func TestLoopTripsOfPlans(t *testing.T) {
	g := shape(t, 1, quant.Q8_0, ir.F16)
	p := profile(t, "portable")
	const context = 4096
	compile := func(cap int) (*codegen.Result, error) {
		p.LoopTrips = cap
		return codegen.Compile(g, codegen.Options{Profile: p, Context: context})
	}
	free, err := compile(0)
	if err != nil {
		t.Fatal(err)
	}
	attention := 0 // by far the longest loop: tiles of keys, each gone through twice, four keys at a time
	for _, s := range free.Steps {
		if strings.HasPrefix(s.Kernel, "attention") {
			k := free.Program.Kernels[kernelNumber(t, free, s.Kernel)]
			tile := k.Workgroup[0]
			attention = context/tile*(1+2*(tile/4+1)) + 1
		}
	}
	if got := free.Plan.Requires.LoopTrips; got != attention || attention == 0 {
		t.Fatalf("the plan requires %d loop trips, want %d", got, attention)
	}
	if capped, err := compile(attention); err != nil || codegen.PlanText(capped.Plan) != codegen.PlanText(free.Plan) {
		t.Errorf("a cap that the plan keeps to: %v", err)
	}
	_, err = compile(attention - 1)
	var illegal *schedules.IllegalError
	if !errors.As(err, &illegal) || !illegal.BeyondLimits() || !strings.Contains(err.Error(), "node layer.0.attn (attention)") ||
		!strings.Contains(err.Error(), "loop trips exceed those that profile portable survives") {
		t.Errorf("a cap that it does not keep to: %v", err)
	}
	for _, trips := range []int{0, attention, attention - 1} {
		var limit *plan.LimitError
		err := free.Plan.Requires.Check(plan.Device{Name: "card", Limits: p.Limits, LoopTrips: trips})
		if refused := errors.As(err, &limit) && limit.Limit == plan.LimitLoopTrips; refused != (trips == attention-1) {
			t.Errorf("a device that ends loops after %d trips: %v", trips, err)
		}
	}
}

func kernelNumber(t *testing.T, r *codegen.Result, name string) int {
	t.Helper()
	for i, k := range r.Program.Kernels {
		if k.Name == name {
			return i
		}
	}
	t.Fatalf("no kernel %s", name)
	return 0
}

// On a device whose packed dot product is wrong, the fast path does without it.
func TestPackedDotOfPlans(t *testing.T) {
	g := shape(t, 1, quant.Q4_1, ir.F16)
	for _, c := range []struct{ fast, bad, want bool }{{false, false, false}, {true, false, true}, {true, true, false}} {
		p, err := profile(t, "portable").WithDevice(plan.Device{Limits: plan.DefaultLimits(), BadPackedDot: c.bad})
		if err != nil {
			t.Fatal(err)
		}
		r, err := codegen.Compile(g, codegen.Options{Profile: p, Context: 64, Fast: c.fast})
		if err != nil {
			t.Fatal(err)
		}
		uses := false
		for _, k := range r.Plan.Kernels {
			uses = uses || strings.Contains(k.Text, "dot4I8Packed")
		}
		if uses != c.want || r.Plan.Requires.PackedDot != c.want || r.Path == "fast" != c.fast {
			t.Errorf("%+v: path %s, uses it %v, requires it %v", c, r.Path, uses, r.Plan.Requires.PackedDot)
		}
	}
}
