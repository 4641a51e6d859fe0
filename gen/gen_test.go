package gen_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/gen/qwen2_5_1_5b"
	"github.com/kgen-wgsl/kgen/gen/qwen3_0_6b"
	"github.com/kgen-wgsl/kgen/gen/qwen3_8b"
	"github.com/kgen-wgsl/kgen/gen/smollm2_135m"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// packages lists the generated packages by the preset of their model.
var packages = []struct {
	preset   string
	variants []kgenrt.Variant
}{
	{"smollm2-135m", smollm2_135m.Variants()},
	{"qwen2.5-1.5b", qwen2_5_1_5b.Variants()},
	{"qwen3-0.6b", qwen3_0_6b.Variants()},
	{"qwen3-8b", qwen3_8b.Variants()},
}

// The plan that generated Go makes equals the one made in memory, for every variant: kernels, buffers, weights, bind groups
// and records.
func TestPlansAreTheCompilers(t *testing.T) {
	for _, p := range packages {
		for _, v := range p.variants {
			t.Run(v.Name, func(t *testing.T) {
				got, err := v.Plan()
				if err != nil {
					t.Fatal(err)
				}
				want := compiled(t, p.preset, v)
				if v.Context != want.Context || v.Profile != want.Profile || v.Model != want.Name {
					t.Errorf("the variant's description is %+v", v)
				}
				if !reflect.DeepEqual(want, got) {
					t.Errorf("plan (-in memory +generated):\n%s", cmp.Diff(want, got))
				}
			})
		}
	}
}

// compiled compiles a variant in memory.
func compiled(t *testing.T, preset string, v kgenrt.Variant) *plan.Plan {
	t.Helper()
	p, err := models.LookupPreset(preset)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := schedules.Lookup(v.Profile)
	if err != nil {
		t.Fatal(err)
	}
	kv := map[string]ir.Elem{"f16": ir.F16, "f32": ir.F32}[v.KV]
	spec := golang.ForModel(preset, p.About, p.Hyperparameters, []schedules.Profile{profile})
	spec.Targets = golang.Targets([]schedules.Profile{profile}, []bool{v.Activations == kgenrt.Fast}, []ir.Elem{kv})
	pkg, err := golang.Compile(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	built, err := pkg.Variants[0].Program.Build()
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// device is one that offers a profile and no more. Where the profile leaves the size of subgroups open, it is the usual one.
func device(p schedules.Profile) plan.Device {
	d := plan.Device{Kind: "gpu", Name: p.Name, Limits: p.Limits, Subgroups: p.Subgroups, SubgroupSize: p.SubgroupSize, F16: p.F16}
	if p.Name == "lavapipe" || p.Name == "swiftshader" {
		d.Kind = "software"
	}
	if d.Subgroups && d.SubgroupSize == 0 {
		d.SubgroupSize = golang.GuaranteedSize
	}
	return d
}

// Every profile's devices get a variant of SmolLM2, with the contract and the cache that was wished for.
func TestEveryProfileIsServed(t *testing.T) {
	want := map[string]string{
		"chrome": "portable", "compat": "portable", "firefox-metal": "portable", "lavapipe": "portable", "nvidia-h200": "subgroups",
		"portable": "portable", "subgroups": "subgroups", "swiftshader": "portable",
	}
	for _, p := range schedules.Profiles() {
		for _, c := range []struct {
			wish kgenrt.Wish
			rest string
		}{
			{kgenrt.Wish{}, "_fast_f16"},
			{kgenrt.Wish{Activations: kgenrt.Exact}, "_exact_f32"},
			{kgenrt.Wish{Activations: kgenrt.Exact, KV: "f16"}, "_exact_f16"},
			{kgenrt.Wish{KV: "f32"}, "_fast_f32"},
		} {
			got, err := kgenrt.Choose(smollm2_135m.Variants(), device(p), c.wish)
			if err != nil || got.Variant.Name != want[p.Name]+c.rest {
				t.Errorf("%s, %+v: got %s, %v, want %s", p.Name, c.wish, got.Variant.Name, err, want[p.Name]+c.rest)
			}
		}
	}
}
