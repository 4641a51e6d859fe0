package suite

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/codegen/golang"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
	"github.com/kgen-wgsl/kgen/models"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// Preset is a generated package and the preset that it is made of.
type Preset struct{ Package, Name string }

// Presets lists the packages below gen.
func Presets() []Preset {
	return []Preset{
		{"smollm2_135m", "smollm2-135m"}, {"qwen2_5_1_5b", "qwen2.5-1.5b"}, {"qwen3_0_6b", "qwen3-0.6b"}, {"qwen3_8b", "qwen3-8b"},
	}
}

// Generated returns a case for every kernel of the packages below gen, smallest first in each family; kernels that packages share
// have one. Each is bound as a plan of its package has it, and kernels that are too large to run whole run in part. It compiles
// the presets in memory, so that each kernel comes with the problem that it solves.
func Generated(ctx context.Context) ([]Case, error) {
	seen := map[string]bool{}
	var all []Case
	for _, p := range Presets() {
		cases, err := p.Cases(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			if text := c.kernel.Plan.Text; !seen[text] {
				seen[text] = true
				all = append(all, c)
			}
		}
	}
	return Sorted(all), nil
}

// Cases returns a case for every kernel of the package.
func (p Preset) Cases(ctx context.Context) ([]Case, error) {
	preset, err := models.LookupPreset(p.Name)
	if err != nil {
		return nil, err
	}
	var profiles []schedules.Profile
	for _, name := range []string{"portable", "subgroups"} {
		profile, err := schedules.Lookup(name)
		if err != nil {
			return nil, err
		}
		profiles = append(profiles, profile)
	}
	spec := golang.ForModel(p.Name, preset.About, preset.Hyperparameters, profiles)
	seen := map[string]bool{}
	var all []Case
	for _, t := range spec.Targets {
		if t.Fast != (t.KV == ir.F16) {
			continue // the kernels of the other two are those of these
		}
		graph, err := spec.Graph(t.KV)
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return nil, err
		}
		built, err := codegen.Kernels(graph, codegen.Options{Profile: t.Profile, Context: spec.Context, Fast: t.Fast})
		if err != nil {
			return nil, fmt.Errorf("%s for profile %s: %w", p.Name, t.Profile.Name, err)
		}
		for _, b := range built {
			if !seen[b.Compiled.Text] {
				seen[b.Compiled.Text] = true
				all = append(all, p.newCase(b, t.Profile))
			}
		}
	}
	return Sorted(all), nil
}

func (p Preset) newCase(b codegen.Built, profile schedules.Profile) Case {
	k := moved(b.Kernel, b.Compiled, b.Bindings.List)
	c := Case{
		Family: familyOf(b.Problem), Name: p.Package + "-" + b.Compiled.Name, Size: sizeOf(b.Kernel), Package: p.Package,
		Requires: profile.Requires(), kernel: k,
	}
	if !strings.HasPrefix(b.Compiled.Text, plan.EnableSubgroups) {
		c.Requires.Subgroups, c.Requires.SubgroupSize = false, 0
	}
	if sampled(b.Problem) {
		c.groups = sample(b.Grid, b.Compiled.Name, borders(b.Kernel))
	}
	return c
}

// sample picks workgroups: the first, the last and one between, which the name chooses, and others. Of few, nil for all.
func sample(grid [3]int, name string, others []int) []int {
	n := grid[0] * grid[1] * grid[2]
	if n <= 3 {
		return nil
	}
	seed := uint64(0)
	for _, c := range name {
		seed = seed*31 + uint64(c)
	}
	groups := append([]int{0, 1 + rand.New(rand.NewPCG(seed, 3)).IntN(n-2), n - 1}, others...)
	slices.Sort(groups)
	return slices.Compact(groups)
}

// borders returns the workgroups on both sides of where workgroups come to other data: the next weight of those stacked in a GEMV, and
// in an attention the second head of keys.
func borders(k kernels.Kernel) []int {
	var groups []int
	switch p := k.Problem.(type) {
	case kernels.GEMV:
		perGroup, row := k.Schedule.(schedules.GEMV).RowsPerWorkgroup(), 0
		for _, rows := range p.Results[:len(p.Results)-1] {
			row += rows
			groups = append(groups, (row-1)/perGroup, row/perGroup)
		}
	case kernels.AttentionDecode:
		if shared := p.Heads / p.KVHeads; shared < p.Heads {
			groups = append(groups, shared-1, shared)
		}
	}
	return groups
}

// sizeOf is about the work of a kernel: its threads, and the trips of each.
func sizeOf(k kernels.Kernel) int {
	return k.Grid[0] * k.Grid[1] * k.Grid[2] * k.Workgroup * max(1, k.LoopTrips)
}

func familyOf(problem any) string {
	switch p := problem.(type) {
	case kernels.GEMV:
		if p.X == schedules.XQ8 {
			return "gemv_q8"
		}
		return "gemv"
	case kernels.QuantQ8:
		return "quant_q8"
	case kernels.Embed:
		return "embed"
	case kernels.RMSNorm:
		return "rmsnorm"
	case kernels.RoPEKV:
		return "rope"
	case kernels.AttentionDecode:
		return "attention"
	case kernels.ArgMaxPartials:
		return "argmax_partials"
	case kernels.ArgMaxFinal:
		return "argmax_final"
	case kernels.Advance:
		return "advance"
	}
	return "elementwise"
}

// Families lists the families of cases, in the order of the table.
func Families(cases []Case) []string {
	var all []string
	for _, c := range cases {
		if !slices.Contains(all, c.Family) {
			all = append(all, c.Family)
		}
	}
	return all
}
