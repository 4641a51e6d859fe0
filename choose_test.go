package kgen

import (
	"errors"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

func TestChooseProfile(t *testing.T) {
	small := plan.DefaultLimits() // of a device in compatibility mode
	small.StorageBuffers, small.Invocations, small.WorkgroupX, small.WorkgroupY = 4, 128, 128, 128
	small.UniformBytes = 16 << 10
	none := small
	none.StorageBuffers = 3
	device := func(kind string, limits plan.Limits, subgroup int) plan.Device {
		return plan.Device{Kind: kind, Name: kind, Limits: limits, Subgroups: subgroup > 0, SubgroupSize: subgroup}
	}
	full := plan.DefaultLimits()
	for _, c := range []struct {
		name   string
		asked  string
		device plan.Device
		want   string // empty for an error
		size   int    // of subgroups
	}{
		{"a GPU with subgroups", "", device("gpu", full, 32), "subgroups", 32},
		{"a GPU with others", "", device("gpu", full, 64), "subgroups", 64},
		{"a GPU with subgroups of unknown size", "", plan.Device{Kind: "gpu", Limits: full, Subgroups: true}, "portable", 0},
		{"a GPU without", "", device("gpu", full, 0), "portable", 0},
		{"a small GPU with subgroups", "", device("gpu", small, 32), "compat", 0},
		{"software with subgroups", "", device("software", full, 8), "portable", 0},
		{"software without", "", device("software", full, 0), "portable", 0},
		{"small software", "", device("software", small, 8), "compat", 0},
		{"a GPU on which nothing fits", "", device("gpu", none, 32), "", 0},
		{"software on which nothing fits", "", device("software", none, 0), "", 0},
		{"what was asked for", "compat", device("gpu", full, 32), "compat", 0},
		{"subgroups that were asked for", "subgroups", device("software", full, 8), "subgroups", 8},
		{"what was asked for and does not fit", "portable", device("gpu", small, 32), "", 0},
		{"what was asked for and is none", "portible", device("gpu", full, 32), "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := chooseProfile(c.asked, c.device)
			var fit *schedules.FitError
			var unknown *schedules.UnknownError
			switch {
			case c.want == "" && !errors.As(err, &fit) && !errors.As(err, &unknown):
				t.Errorf("chose %q, %v", p.Name, err)
			case c.want == "":
			case err != nil || p.Name != c.want || p.SubgroupSize != c.size:
				t.Errorf("chose %q with subgroups of %d, %v; want %q with %d", p.Name, p.SubgroupSize, err, c.want, c.size)
			}
		})
	}
}
