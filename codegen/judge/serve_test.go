package judge

import (
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// A text that needs what an adapter lacks is not held against it, and never passes silently.
func TestLacks(t *testing.T) {
	for text, want := range map[string]string{
		"fn main() {}":                        "",
		"enable f16;":                         "shader-f16",
		"enable subgroups, f16;":              "shader-f16",
		"enable\n  f16 ;":                     "shader-f16",
		"// enable f16;\nfn main() {}":        "",
		"/* enable f16;\n */ fn main() {}":    "",
		"enable dual_source_blending; // f16": "",
		"enable subgroups;":                   "subgroups",
		"let r = subgroupAdd(f);":             "subgroups",
		"let r = quadSwapX (f);":              "subgroups",
		"let r = quadBroadcast(f, 1);":        "subgroups",
		"@builtin(subgroup_invocation_id)":    "subgroups",
		"@builtin(subgroup_size) n: u32":      "subgroups",
		"@builtin(num_subgroups) n: u32":      "subgroups",
		"// subgroupAdd(f)":                   "",
		"let subgroup = 1; let subgroups = 2": "",
	} {
		if got := lacks(plan.Device{}, text); got != want {
			t.Errorf("%q: lacks %q, want %q", text, got, want)
		}
		if got := lacks(plan.Device{F16: true, Subgroups: true}, text); got != "" {
			t.Errorf("%q: a device with both lacks %q", text, got)
		}
	}
}
