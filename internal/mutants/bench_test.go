package mutants_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/kgen-wgsl/kgen/codegen/mutate"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/internal/mutants"
	"github.com/kgen-wgsl/kgen/internal/suite"
)

// bench is the kernels of gen with their cases, and the list of equivalent mutants.
type bench struct {
	kernels []mutate.Kernel
	cases   map[string]*suite.Case
	list    []mutants.Equivalent
}

func newBench(t *testing.T) *bench {
	t.Helper()
	named, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/equivalent.json")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{cases: map[string]*suite.Case{}}
	if b.list, err = mutants.ReadEquivalents(text); err != nil {
		t.Fatal(err)
	}
	cases, err := suite.Generated(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		c := &cases[i]
		k, err := c.Kernel()
		if err != nil {
			t.Fatal(err)
		}
		if named.MatchString(c.Name) {
			b.kernels = append(b.kernels, mutate.Kernel{Name: c.Name, Text: k.Plan.Text})
			b.cases[c.Name] = c
		}
	}
	return b
}

func (b *bench) kernel(name string) mutate.Kernel {
	return b.kernels[slices.IndexFunc(b.kernels, func(k mutate.Kernel) bool { return k.Name == name })]
}

// unused reports whether an entry that speaks of a kernel has no site yet.
func (b *bench) unused(kernel string, used []bool) bool {
	for i := range b.list {
		if !used[i] && b.list[i].Of(kernel) {
			return true
		}
	}
	return false
}

// listed returns the mutants of a kernel that are listed, and marks the entries that have them.
func (b *bench) listed(t *testing.T, k mutate.Kernel, used []bool) []mutate.Mutant {
	t.Helper()
	file, err := wgsl.Parse(k.Name, k.Text)
	if err != nil {
		t.Fatal(err)
	}
	var all []mutate.Mutant
	for _, site := range mutate.Sites(file) {
		for i := range b.list {
			if !b.list[i].Has(k, site) {
				continue
			}
			used[i] = true
			text, err := mutate.Apply(k.Text, site)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, mutate.Mutant{Kernel: k.Name, Site: site, Text: text})
		}
	}
	return all
}

func (b *bench) equivalent(m mutate.Mutant) bool {
	return mutants.Listed(b.list, b.kernel(m.Kernel), m.Site)
}

func (b *bench) run(t *testing.T, list []mutate.Mutant) []mutants.Result {
	t.Helper()
	results, err := mutants.Run(t.Context(), list, b.judge, 2)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// judge runs the case of a mutant's kernel, with subgroups of the size that the kernel needs: to one that needs none, the size is nothing.
// What doesn't end within a minute is at fault, too.
func (b *bench) judge(ctx context.Context, m mutate.Mutant) (string, error) {
	c := b.cases[m.Kernel]
	if c == nil {
		return "", fmt.Errorf("there is no case of %s", m.Kernel)
	}
	within, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := c.RunText(within, suite.Simulator(c.Subgroup()), m.Text, 1); err != nil {
		return err.Error(), ctx.Err()
	}
	return "", nil
}

// unbroken wants no fault with the kernels of mutants themselves.
func (b *bench) unbroken(t *testing.T, drawn []mutate.Mutant) {
	t.Helper()
	whole := map[string]mutate.Mutant{}
	var list []mutate.Mutant
	for _, m := range drawn {
		if _, ok := whole[m.Kernel]; !ok {
			whole[m.Kernel] = mutate.Mutant{Kernel: m.Kernel, Text: b.kernel(m.Kernel).Text}
			list = append(list, whole[m.Kernel])
		}
	}
	for _, r := range b.run(t, list) {
		if r.Killed() {
			t.Errorf("%s without a mistake: %s", r.Kernel, r.Fault)
		}
	}
}
