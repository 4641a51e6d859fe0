package main

import (
	"fmt"
	"strconv"
)

func (r *auditReport) print(t *terminal) {
	for i, k := range r.Kernels {
		if before := max(i-1, 0); i == 0 || k.of() != r.Kernels[before].of() || k.Profile != r.Kernels[before].Profile {
			fmt.Fprintf(t.stdout, "%s, profile %s\n%-44s %7s %7s %9s %11s", k.of(), k.Profile, "kernel", "storage", "uniform", "memory", "invocations")
			if k.File != "" {
				fmt.Fprintf(t.stdout, "  %-9s  where", "size")
			}
			fmt.Fprintln(t.stdout)
		}
		k.print(t)
	}
	for _, u := range r.Unserved {
		fmt.Fprintf(t.stdout, "%s, profile %s: %s\n", u.Package, u.Profile, u.Why)
	}
	for _, name := range r.Edited {
		fmt.Fprintf(t.stdout, "%s is not as it was generated\n", name)
	}
	for _, m := range r.Mistakes {
		m.print(t, "")
	}
	for _, n := range r.NotJudged {
		n.print(t, "not judged: ")
	}
	r.printSums(t)
}

// of is what the row's table is of.
func (k *auditRow) of() string { return k.Package + k.table }

func (k *auditRow) print(t *terminal) {
	invocations, size := strconv.Itoa(k.Invocations), k.Stage
	switch {
	case len(k.Workgroup) == 3 && k.Invocations == 0:
		invocations, size = "?", "?"
	case len(k.Workgroup) == 3:
		size = fmt.Sprintf("%dx%dx%d", k.Workgroup[0], k.Workgroup[1], k.Workgroup[2])
	}
	fmt.Fprintf(t.stdout, "%-44s %7d %7d %9d %11s", k.Kernel, k.Storage, k.Uniform, k.WorkgroupBytes, invocations)
	if k.File != "" {
		fmt.Fprintf(t.stdout, "  %-9s  %s:%d", size, k.File, k.Line)
	}
	fmt.Fprintln(t.stdout)
	if k.Unreachable {
		fmt.Fprintln(t.stdout, "  unreachable: it is never dispatched, and does not count")
	}
	if k.Over != "" {
		fmt.Fprintf(t.stdout, "  over: %s\n", k.Over)
	}
	if k.Fault != "" {
		fmt.Fprintf(t.stdout, "  fault: %s\n", k.Fault)
	}
	for _, u := range k.Unknown {
		fmt.Fprintf(t.stdout, "  unknown: %s\n", u)
	}
	for _, n := range k.Notes {
		fmt.Fprintf(t.stdout, "  note: %s\n", n)
	}
}

func (p *auditPlace) print(t *terminal, about string) {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	fmt.Fprintf(t.stdout, "%s: %s%s", at, about, p.Message)
	if p.Unreachable {
		fmt.Fprint(t.stdout, " (in a kernel that is never dispatched)")
	}
	fmt.Fprintln(t.stdout)
}

func (r *auditReport) printSums(t *terminal) {
	if len(r.Kernels) == 0 && len(r.Unserved) == 0 {
		fmt.Fprintln(t.stdout, "nothing was judged: no text has an entry point that can be read")
		return
	}
	fmt.Fprintf(t.stdout, "%d over the limit", r.Over)
	for _, rest := range []struct {
		n         int
		one, many string
	}{
		{r.Faults, "fault", "faults"},
		{len(r.Edited), "edited file", "edited files"},
		{len(r.Unserved), "time no variant", "times no variant"},
		{r.mistakes(), "mistake", "mistakes"},
		{r.Unreachable, "unreachable kernel", "unreachable kernels"},
		{r.Incomplete, "kernel not wholly known", "kernels not wholly known"},
		{len(r.NotJudged), "place not judged", "places not judged"},
	} {
		if rest.n == 1 {
			fmt.Fprintf(t.stdout, ", 1 %s", rest.one)
		} else if rest.n > 1 {
			fmt.Fprintf(t.stdout, ", %d %s", rest.n, rest.many)
		}
	}
	fmt.Fprintln(t.stdout)
}
