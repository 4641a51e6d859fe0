package suite

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Case is a kernel with its trials.
type Case struct {
	Family   string        // gemv, attention
	Name     string        // unique among the cases of a table; without spaces
	Size     int           // about how much a run has to do: cases are run smallest first
	Requires plan.Requires // what a device has to grant
	Package  string        // of a kernel below gen, the package; empty for a case of the table

	turn   int   // cases that differ in one respect have different turns, see Slice
	groups []int // the workgroups that run, by their linear index; nil for all
	kernel *Kernel
	build  func() (*Kernel, error)                       // when kernel is nil
	twin   func() (*Kernel, error)                       // a kernel that has to leave the same bits; nil for none
	trials func(k *Kernel, seed uint64) ([]Trial, error) // nil for those of the problem
}

// Trial is one run of a kernel.
type Trial struct {
	Name string // what sets it apart from the other trials of its case
	// Inputs are the contents of operands by name. What they don't cover holds the sentinel, or in large operands was never written.
	Inputs map[string][]Part
	// Check looks at the operands that the kernel may write, whole; of large ones that inputs cover in parts, at these parts alone,
	// one after another.
	Check func(out map[string][]byte) error
	// Infinite says that the right results are no finite numbers: that the simulator finds one made of finite numbers is then no fault.
	Infinite bool
}

// Part is bytes of an operand from an offset on.
type Part struct {
	Offset uint64
	Data   []byte
}

// Whole is the parts of an operand that is given as a whole.
func Whole(data []byte) []Part { return []Part{{Data: data}} }

// Kernel returns the kernel, which is built at first use.
func (c *Case) Kernel() (*Kernel, error) {
	if c.kernel != nil {
		return c.kernel, nil
	}
	k, err := c.build()
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", c.Family, c.Name, err)
	}
	c.kernel = k
	return k, nil
}

// Subgroup is the size of subgroups that the kernel relies on, 0 when it relies on none.
func (c *Case) Subgroup() int { return c.Requires.SubgroupSize }

// Run runs all trials of a seed. The error tells the trial, and what was wrong with what the kernel wrote or what was found
// while it ran.
func (c *Case) Run(ctx context.Context, r *Runner, seed uint64) error {
	return c.RunText(ctx, r, "", seed)
}

// RunText is Run with another text in place of the kernel's own: one with the same bindings. It ends at the first trial that fails.
func (c *Case) RunText(ctx context.Context, r *Runner, text string, seed uint64) error {
	k, err := c.Kernel()
	if err != nil {
		return err
	}
	trials, err := c.draw(k, seed)
	if err != nil {
		return fmt.Errorf("%s/%s: %w", c.Family, c.Name, err)
	}
	if text != "" {
		k = k.withText(text)
	}
	run := func(some []Trial) error {
		return r.open(c.Requires, c.groups, func(s *session) error {
			for _, t := range some {
				s.infinite = t.Infinite
				if err := c.try(ctx, s, k, t); err != nil {
					return fmt.Errorf("%s: kernel %s, seed %d%s: %w", r, k.Plan.Name, seed, prefixed(", ", t.Name), err)
				}
			}
			return nil
		})
	}
	finite := slices.DeleteFunc(slices.Clone(trials), func(t Trial) bool { return t.Infinite })
	infinite := slices.DeleteFunc(trials, func(t Trial) bool { return !t.Infinite })
	if err := run(finite); err != nil || len(infinite) == 0 {
		return err
	}
	return run(infinite)
}

func prefixed(prefix, name string) string {
	if name == "" {
		return ""
	}
	return prefix + name
}

func (c *Case) draw(k *Kernel, seed uint64) ([]Trial, error) {
	if c.trials != nil {
		return c.trials(k, seed)
	}
	return trialsOf(k, c.groups, seed)
}

func (c *Case) try(ctx context.Context, s *session, k *Kernel, t Trial) error {
	out, err := s.run(ctx, k, t.Inputs)
	if err != nil {
		return err
	}
	if err := t.Check(out); err != nil || c.twin == nil {
		return err
	}
	other, err := c.twin()
	if err != nil {
		return err
	}
	same, err := s.run(ctx, other, t.Inputs)
	if err != nil {
		return fmt.Errorf("kernel %s: %w", other.Plan.Name, err)
	}
	for name := range out {
		if !bytes.Equal(out[name], same[name]) {
			return fmt.Errorf("kernel %s leaves other bits in %s", other.Plan.Name, name)
		}
	}
	return nil
}

// Sorted orders cases by family, in the order in which the families come, and within a family by size.
func Sorted(cases []Case) []Case {
	families := map[string]int{}
	for _, c := range cases {
		if _, ok := families[c.Family]; !ok {
			families[c.Family] = len(families)
		}
	}
	slices.SortStableFunc(cases, func(a, b Case) int {
		return cmp.Or(cmp.Compare(families[a.Family], families[b.Family]), cmp.Compare(a.Size, b.Size))
	})
	return cases
}

// Slice returns one of every n cases, another for each offset. With n up to 4, every value of every axis is in some case of a slice.
func Slice(cases []Case, n, offset int) []Case {
	var some []Case
	for _, c := range cases {
		if c.turn%n == offset%n {
			some = append(some, c)
		}
	}
	return some
}

// Of returns the cases whose kernel has the given text.
func Of(cases []Case, text string) []Case {
	var found []Case
	for _, c := range cases {
		if c.kernel != nil && c.kernel.Plan.Text == text {
			found = append(found, c)
		}
	}
	return found
}
