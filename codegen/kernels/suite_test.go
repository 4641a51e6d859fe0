package kernels_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/schedules"
)

// wholeSuite says that KGEN_SUITE asks for all cases with all seeds, where tests run a slice by themselves.
func wholeSuite() bool { return os.Getenv("KGEN_SUITE") == "all" }

// TestSuite runs the cases of package suite in the simulator, with subgroups of every size, and those of the kernels of gen. Nothing may
// be found. A family ends at its first failure, which is the smallest case that fails.
func TestSuite(t *testing.T) {
	for i, size := range sim.SubgroupSizes() {
		run := suiteRun{runner: func() *suite.Runner { return suite.Simulator(size) }, parallel: true}
		t.Run(fmt.Sprint("sim", size), func(t *testing.T) { run.cases(t, simulated(t, i, size)) })
	}
	t.Run("gen", func(t *testing.T) {
		cases, err := suite.Generated(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		testWholeGen(t, cases)
		for i, size := range sim.SubgroupSizes() {
			some := generated(cases, i, size)
			run := suiteRun{runner: func() *suite.Runner { return suite.Simulator(size) }, parallel: true}
			t.Run(fmt.Sprint("sim", size), func(t *testing.T) { run.cases(t, some) })
		}
	})
}

// generated is the cases of gen for a size of subgroups: those that need this one, and of those that need none a slice has each with
// one size.
func generated(cases []suite.Case, i, size int) []suite.Case {
	var some []suite.Case
	for n, c := range cases {
		if c.Subgroup() == size || c.Subgroup() == 0 && (wholeSuite() || n%len(sim.SubgroupSizes()) == i) {
			some = append(some, c)
		}
	}
	return some
}

// simulated is the table for a size of subgroups. A slice has every case that needs no subgroups with two sizes, for profile compat with one, and of those that need subgroups half for each size.
func simulated(t *testing.T, i, size int) []suite.Case {
	all := 1
	if wholeSuite() {
		all = 0
	}
	subgroups := profile(t, "subgroups")
	subgroups.SubgroupSize = size
	var cases []suite.Case
	for _, part := range []struct {
		schedules.Profile
		of, offset int
	}{{profile(t, "portable"), 3, i}, {profile(t, "compat"), 6, i + 1}, {subgroups, 2, i}} {
		cases = append(cases, suite.Slice(suite.Cases(part.Profile), 1+all*(part.of-1), part.offset)...)
	}
	return suite.Sorted(cases)
}

// onAdapter is the table for a profile on an adapter. Compiling takes most of the time there, of products above all, so a slice has
// few of those.
func onAdapter(p schedules.Profile) []suite.Case {
	cases := suite.Cases(p)
	if wholeSuite() {
		return cases
	}
	of := map[string]int{"portable": 2, "compat": 8, "subgroups": 4}[p.Name]
	return slices.DeleteFunc(cases, func(c suite.Case) bool {
		switch {
		case strings.HasSuffix(c.Family, "_tails"):
			return len(suite.Slice([]suite.Case{c}, 2*of, 1)) == 0
		case strings.HasPrefix(c.Family, "gemv"), c.Family == "attention":
			return len(suite.Slice([]suite.Case{c}, of, 0)) == 0
		}
		return false
	})
}

// suiteRun runs cases, each family on a runner that runner returns.
type suiteRun struct {
	runner   func() *suite.Runner
	parallel bool
}

func (r suiteRun) cases(t *testing.T, cases []suite.Case) {
	seeds := suiteSeeds(t)
	start := time.Now()
	var ran atomic.Int64
	families := suite.Families(cases)
	t.Cleanup(func() {
		t.Logf("suite: %s: %d cases of %d families, %d seeds, in %.1f s", t.Name(), ran.Load(), len(families), len(seeds), time.Since(start).Seconds())
	})
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			if r.parallel {
				t.Parallel()
			}
			runner := r.runner()
			for _, c := range cases {
				if c.Family != family {
					continue
				}
				ran.Add(1)
				if !t.Run(c.Name, func(t *testing.T) { runCase(t, c, runner, seeds) }) {
					t.Log("larger cases of the family did not run")
					return
				}
			}
		})
	}
}

func runCase(t *testing.T, c suite.Case, runner *suite.Runner, seeds []uint64) {
	for _, seed := range seeds {
		if err := c.Run(t.Context(), runner, seed); err != nil {
			t.Fatalf("%v\nrun it again: %s", err, again(t.Name(), seed))
		}
	}
}

// suiteSeeds are one that never changes, and in the whole suite three of them and one that does. KGEN_SUITE_SEED asks for one alone.
func suiteSeeds(t *testing.T) []uint64 {
	if text := os.Getenv("KGEN_SUITE_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("KGEN_SUITE_SEED: %v", err)
		}
		return []uint64{seed}
	}
	if !wholeSuite() {
		return suite.Seeds()[:1]
	}
	seeds := append(suite.Seeds(), suite.FreshSeeds(1)...)
	t.Logf("suite: %s: seeds %v", t.Name(), seeds)
	return seeds
}

// again is the command that runs one test of the suite.
func again(name string, seed uint64) string {
	variables := ""
	for _, v := range []string{"KGEN_SUITE", "KGEN_WEBGPU_LIB", "KGEN_ADAPTER", "VK_DRIVER_FILES"} {
		if value := os.Getenv(v); value != "" {
			variables += v + "=" + value + " "
		}
	}
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("%sKGEN_SUITE_SEED=%d go test ./codegen/kernels -count=1 -run '%s'", variables, seed, strings.Join(parts, "/"))
}

// testWholeGen wants a case for every text below gen, as its package dispatches it, and no other.
func testWholeGen(t *testing.T, cases []suite.Case) {
	t.Helper()
	texts := map[string]string{}
	for _, p := range suite.Presets() {
		for name, text := range generatedTexts(t, p.Package) {
			texts[text] = p.Package + "/" + name
		}
	}
	for _, c := range cases {
		k, err := c.Kernel()
		if err != nil {
			t.Fatal(err)
		}
		if texts[k.Plan.Text] == "" {
			t.Errorf("%s is no kernel of gen: run go generate ./gen", c.Name)
		}
		delete(texts, k.Plan.Text)
	}
	for _, name := range texts {
		t.Errorf("gen/%s has no case", name)
	}
}

// generatedTexts reads the kernels of a package by the names of their files.
func generatedTexts(t *testing.T, pkg string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "gen", pkg, "kernels", "*.wgsl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("gen/%s has no kernels: %v", pkg, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	return texts
}
