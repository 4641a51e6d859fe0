package mutants

import (
	"fmt"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/mutate"
)

// Summary counts results.
type Summary struct {
	Operators []Count // those with mutants, in the order of mutate.Operators
	Total     Count

	Unexplained []Result // that survive and are not known to be equivalent
	Wrong       []Result // that are killed though listed as equivalent
}

// Count is how many mutants there were of an operator, and what became of them.
type Count struct {
	Operator                    string
	Mutants, Killed, Equivalent int
}

// Share is the part of the mutants that was killed, of those that can be.
func (c Count) Share() float64 {
	if c.Mutants == c.Equivalent {
		return 1
	}
	return float64(c.Killed) / float64(c.Mutants-c.Equivalent)
}

// Summarise counts results by operator. equivalent says which survivors are explained.
func Summarise(results []Result, equivalent func(mutate.Mutant) bool) Summary {
	counts := map[string]*Count{}
	s := Summary{Total: Count{Operator: "all"}}
	for _, r := range results {
		c := counts[r.Site.Operator]
		if c == nil {
			c = &Count{Operator: r.Site.Operator}
			counts[c.Operator] = c
		}
		listed := equivalent(r.Mutant)
		c.Mutants++
		switch {
		case r.Killed():
			if c.Killed++; listed {
				s.Wrong = append(s.Wrong, r)
			}
		case listed:
			c.Equivalent++
		default:
			s.Unexplained = append(s.Unexplained, r)
		}
	}
	for _, o := range mutate.Operators() {
		if c := counts[o.Name]; c != nil {
			s.Operators = append(s.Operators, *c)
			s.Total.Mutants += c.Mutants
			s.Total.Killed += c.Killed
			s.Total.Equivalent += c.Equivalent
		}
	}
	return s
}

// String returns the counts as a table.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %7s %7s %10s %7s\n", "operator", "mutants", "killed", "equivalent", "share")
	for _, c := range append(s.Operators[:len(s.Operators):len(s.Operators)], s.Total) {
		fmt.Fprintf(&b, "%-10s %7d %7d %10d %6.1f%%\n", c.Operator, c.Mutants, c.Killed, c.Equivalent, 100*c.Share())
	}
	return b.String()
}
