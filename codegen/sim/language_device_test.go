package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/internal/randomwgsl"
)

// nagaFaults are what naga 29 does wrong with programs that WGSL takes, so that wgpu-native isn't asked.
var nagaFaults = map[string]string{
	"variable is new in each round":        "it keeps the value of the round before",
	"pointer to an element as an argument": "it ends the process: expression is not cached",
}

// TestLanguageOnDevices runs the programs whose results are told by hand on a device: what the simulator is held to is what compilers do.
func TestLanguageOnDevices(t *testing.T) {
	d, o := openForPrograms(t)
	for _, c := range sim.LanguageCases() {
		if strings.HasPrefix(c.Text, "enable f16;") && !o.F16 || nagaFaults[c.Name] != "" && strings.HasPrefix(d.Device().Library, "wgpu") {
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
