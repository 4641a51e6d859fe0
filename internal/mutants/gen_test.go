package mutants_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/mutate"
	"github.com/kgen-wgsl/kgen/internal/mutants"
	"github.com/kgen-wgsl/kgen/internal/suite"
)

var (
	sample = flag.Int("mutants", 20, "how many mutants TestMutants draws, and how many of those listed")
	seed   = flag.Uint64("seed", 1, "what they are drawn with")
	only   = flag.String("kernels", "", "a regular expression for the names of the kernels that are broken")
)

// many is the size of a sample that says something of the whole.
const many = 100

// bar is the share of the mutants that must be killed, of those that are not equivalent and of all.
const bar = 0.95

// TestMutants breaks kernels of gen and runs the cases that they have, in the simulator.
func TestMutants(t *testing.T) {
	b := newBench(t)
	t.Run("sample", func(t *testing.T) { testSample(t, b) })
	t.Run("list", func(t *testing.T) { testList(t, b) })
}

// testSample breaks kernels at sites drawn at random. What survives has to be listed as equivalent.
func testSample(t *testing.T, b *bench) {
	t.Helper()
	drawn, err := mutate.Sample(b.kernels, *sample, *seed)
	if err != nil {
		t.Fatal(err)
	}
	b.unbroken(t, drawn)
	results := b.run(t, drawn)
	s := mutants.Summarise(results, b.equivalent)
	for _, r := range results {
		t.Logf("%s: %s", r.Site, told(r.Fault))
	}
	t.Logf("seed %d\n%s", *seed, s)
	testProofs(t, b, results)
	for _, r := range s.Unexplained {
		t.Errorf("survives: %s", r.Site)
	}
	for _, r := range s.Wrong {
		t.Errorf("listed as equivalent, but killed: %s: %s", r.Site, r.Fault)
	}
	if of := float64(s.Total.Killed) / float64(s.Total.Mutants); s.Total.Share() < bar || len(drawn) >= many && of < bar {
		t.Errorf("%.1f %% are killed, %.1f %% of those that can be", 100*of, 100*s.Total.Share())
	}
}

// testList wants a site for every entry of the list, and no fault with the mutants that it has, of which it draws some.
func testList(t *testing.T, b *bench) {
	t.Helper()
	used := make([]bool, len(b.list))
	var listed []mutate.Mutant
	for _, k := range b.kernels {
		if *sample >= many || b.unused(k.Name, used) {
			listed = append(listed, b.listed(t, k, used)...)
		}
	}
	for i, e := range b.list {
		if !used[i] && *only == "" {
			t.Errorf("no site is what the list says of %s, %s: %s", e.Kernel, e.Change, e.Why)
		}
	}
	t.Logf("%d mutants are listed", len(listed))
	random := suite.Random(*seed)
	random.Shuffle(len(listed), func(i, j int) { listed[i], listed[j] = listed[j], listed[i] })
	for _, r := range b.run(t, listed[:min(*sample, len(listed))]) {
		if r.Killed() {
			t.Errorf("listed as equivalent, but killed: %s: %s", r.Site, r.Fault)
		}
	}
}

func told(fault string) string {
	if fault == "" {
		return "survives"
	}
	first, _, _ := strings.Cut(fault, "\n")
	return "killed: " + first
}
