package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/internal/randomwgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// deviations are programs that WGSL takes and some devices compute otherwise, so that they aren't asked: what the library or the adapter is
// called, and what was seen there.
var deviations = map[string][]struct{ device, seen string }{
	"variable is new in each round": {
		{"wgpu-native", "naga 29 keeps the value of the round before"},
		{"Dawn", "so does Dawn 0.32.0.4"},
	},
	"pointer to an element as an argument": {{"wgpu-native", "naga 29 ends the process: expression is not cached"}},
	"division of the least":                {{"NVIDIA", "through naga 29 the remainder is that of u32"}},
	"remainder of a negative":              {{"NVIDIA", "through naga 29 it is that of u32"}},
	"half rounds to even":                  {{"NVIDIA", "f32(f16(x)) is x, not rounded"}},
}

// deviates reports whether a device is known to compute a program otherwise.
func deviates(d plan.Device, name string) bool {
	return slices.ContainsFunc(deviations[name], func(known struct{ device, seen string }) bool {
		return strings.Contains(d.Library+" "+d.Name, known.device)
	})
}

// TestLanguageOnDevices runs the programs whose results are told by hand on a device: what the simulator is held to is what compilers do.
func TestLanguageOnDevices(t *testing.T) {
	d, o := openForPrograms(t)
	for _, c := range sim.LanguageCases() {
		if strings.HasPrefix(c.Text, "enable f16;") && !o.F16 || deviates(d.Device(), c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			p := randomwgsl.Program{Text: c.Text, Workgroup: [3]int{8, 1, 1}, Grid: [3]int{1, 1, 1}, Bindings: []randomwgsl.Binding{
				{Name: "out", Access: "read_write", Words: make([]uint32, 8)},
			}}
			got, err := compute(t.Context(), d, p)
			if err != nil {
				t.Fatalf("%v\n%s", err, c.Text)
			}
			if !slices.Equal(got[0], c.Want[:]) {
				t.Errorf("got %v, want %v\n%s", got[0], c.Want, c.Text)
			}
		})
	}
}
