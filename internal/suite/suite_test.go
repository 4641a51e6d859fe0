package suite_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/schedules"
)

// A kernel with a fault planted in its text fails in the case that has it, with what is wrong; without, it passes.
func TestPlantedFaults(t *testing.T) {
	portable := profile(t, "portable")
	subgroups := profile(t, "subgroups")
	subgroups.SubgroupSize = 32
	tables := map[string][]suite.Case{"portable": suite.Cases(portable), "subgroups": suite.Cases(subgroups)}
	for _, c := range []struct {
		name     string // family/case
		old, new string
		subgroup int
		want     string
	}{
		{"rmsnorm/portable-1x576-group128", "workgroupBarrier();", "", 32, "race: sums"},
		{"rmsnorm/portable-3x80-group32", "first + i] * scale", "(first + i) ^ 1u] * scale", 32, "exceeds 1e-10"},
		{"elementwise/portable-add-65-group64", "i < 65u", "i < 66u", 32, "out-of-bounds"},
		{"elementwise/portable-add-65-group64", "i < 65u", "i < 64u", 32, "exceeds 1e-12"},
		{"elementwise/portable-glu-silu-257-group64", "80.0", "8.0", 32, "value 0 is"},
		{"gemv/portable-Q4_0-131x96-of-1-rows4-group24-bias-add", "min(row1, 130u)", "row1", 32, "out-of-bounds"},
		{"gemv/portable-Q4_0-131x96-of-1-rows4-group24-bias-add", "dots1 =", "dots0 =", 32, "dots0"},
		{"gemv/portable-F32-576x576-of-1-rows1-group64-add", "block < 144u", "block < 143u", 32, "row "},
		{"gemv/subgroups-Q8_0-576x576-of-1-rows1-group64-add", "", "", 16, "it lacks subgroups of 32"},
		{"quant_q8/portable-96-group32", "/ 127.0", "/ 128.0", 32, "the scale is"},
		{"embed/portable-Q4_0-16x96-from-16-of-37", "- 16u", "- 15u", 32, "token 16: "},
		{"rope/portable-4x4x80-dims20-style2-f32-group64", "127u", "128u", 32, "position 134: 3 findings"},
		{"attention/portable-9x3x64-f32-window0-group64", "workgroupBarrier();", "", 32, "race"},
		{"argmax_partials/portable-1000-in-3", "value > top", "value >= top", 32, "stretch"},
		{"argmax_final/portable-1000-in-3", "written < 16u", "written < 15u", 32, "word 27 of params"},
		{"advance/portable-ring16", "min(written, 15u)", "written", 32, "out-of-bounds"},
	} {
		found := false
		for _, k := range tables[strings.Split(c.name[strings.Index(c.name, "/")+1:], "-")[0]] {
			if k.Family+"/"+k.Name != c.name {
				continue
			}
			found = true
			plant(t, k, c.old, c.new, c.subgroup, c.want)
		}
		if !found {
			t.Errorf("there is no case %s", c.name)
		}
	}
}

// A text that takes subgroups for 32 wide fails with those of 4 and 64.
func TestWrongSubgroups(t *testing.T) {
	texts := map[int]suite.Case{}
	p := profile(t, "subgroups")
	for _, size := range []int{4, 32, 64} {
		p.SubgroupSize = size
		for _, c := range suite.Cases(p) {
			if c.Family == "gemv" && c.Name == "subgroups-Q8_0-576x576-of-1-rows1-group64-add" {
				texts[size] = c
			}
		}
	}
	wrong := texts[32]
	k, err := wrong.Kernel()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{4, 64} {
		c := texts[size]
		if err := c.RunText(t.Context(), suite.Simulator(size), k.Plan.Text, 1); err == nil {
			t.Errorf("subgroups of %d: nothing is wrong with a text for 32", size)
		}
	}
}

// plant replaces the first occurrence of a part of a case's text.
func plant(t *testing.T, c suite.Case, from, to string, subgroup int, want string) {
	t.Helper()
	k, err := c.Kernel()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(k.Plan.Text, from, to, 1)
	if text == k.Plan.Text && from != "" {
		t.Errorf("%s has no %q:\n%s", c.Name, from, text)
		return
	}
	if err := c.Run(t.Context(), suite.Simulator(c.Subgroup()), 1); err != nil {
		t.Errorf("as it is: %v", err)
	}
	err = c.RunText(t.Context(), suite.Simulator(subgroup), text, 1)
	if want == "" || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s with %q in place of %q: got %v, want %s", c.Name, to, from, err, want)
	}
}

func profile(t *testing.T, name string) schedules.Profile {
	t.Helper()
	p, err := schedules.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
