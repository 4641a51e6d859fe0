package main

import (
	"fmt"
	"io"
	"strings"
)

// doctorText prints a report for people.
type doctorText struct {
	out    io.Writer
	colour bool
}

func (d doctorText) line(label, format string, args ...any) {
	fmt.Fprintf(d.out, "%-10s %s\n", label, fmt.Sprintf(format, args...))
}

// paint colours a text: 31 is red, 32 green, 33 yellow.
func (d doctorText) paint(colour int, text string) string {
	if !d.colour {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", colour, text)
}

func (r *doctorReport) print(d doctorText) {
	if r.Library != nil {
		d.line("library", "%s  %s  %s", r.Library.Name, r.Library.Path, r.Library.hash())
		d.line("compiler", "%s", map[string]string{
			"naga": `naga; texts go without "enable subgroups;"`, "tint": `Tint; texts with subgroups have "enable subgroups;"`,
		}[r.Compiler])
	}
	if r.Library == nil {
		for _, p := range r.Places {
			if p.Path != "" {
				d.line("tried", "%s: %s", p.Path, p.Error)
			}
		}
	}
	if r.Loader != "" {
		state := "found"
		if r.LoaderError != "" {
			state = d.paint(31, r.LoaderError)
		}
		d.line("loader", "%s: %s", r.Loader, state)
	}
	for _, name := range doctorVariables {
		if value := r.Environment[name]; value != "" {
			d.line("set", "%s=%s", name, value)
		}
	}
	for i, a := range r.Adapters {
		chosen := ""
		if a.Chosen {
			chosen = "  <- chosen"
		}
		d.line(fmt.Sprintf("adapter %d", i), "%s  %s  %s  %s%s", a.Name, a.Kind, a.API, a.Driver, chosen)
	}
	if f := r.Features; f != nil {
		d.line("features", "%s", strings.Join(f.texts(), ", "))
	}
	if len(r.Checks) > 0 {
		var parts []string
		for _, c := range r.Checks {
			state := d.paint(32, "ok")
			if !c.OK {
				state = d.paint(33, "see below")
			}
			parts = append(parts, c.Name+" "+state)
		}
		d.line("checks", "%s", strings.Join(parts, ", "))
	}
	if r.Profile != "" {
		d.line("profile", "%s", r.Profile)
		var parts []string
		for _, l := range r.Limits {
			parts = append(parts, fmt.Sprintf("%s %s of %s", l.Name, l.amount(l.Used), l.amount(l.Offered)))
		}
		d.line("limits", "%s", strings.Join(parts, ", "))
	}
	if r.SubmitMicro > 0 {
		d.line("time", "submit and wait %.0f µs", r.SubmitMicro)
	}
	if r.Usable {
		mode := "kernels that are proved in bounds run unchecked (KGEN_GPU_CHECKS=1 checks them)"
		switch {
		case r.Checked && r.Compiler == "tint":
			mode = "all kernels are checked at run time, as Dawn does it no other way"
		case r.Checked:
			mode = "all kernels are checked at run time, as KGEN_GPU_CHECKS=1 asks"
		}
		d.line("mode", "%s", mode)
	}
	for _, f := range r.Findings {
		colour, label := 33, "note"
		if f.Fatal {
			colour, label = 31, "problem"
		}
		fmt.Fprintf(d.out, "\n%s: %s\n  cause: %s\n  fix:   %s\n", d.paint(colour, label), f.Problem, f.Cause, f.Fix)
	}
	verdict := d.paint(32, "usable: kernels run on a device")
	if !r.Usable {
		verdict = d.paint(31, "not usable: models run on the CPU alone")
	}
	fmt.Fprintf(d.out, "\n%s\n", verdict)
}

// texts says what the adapter can do.
func (f *doctorFeatures) texts() []string {
	yes := map[bool]string{true: "yes", false: "no"}
	list := []string{"f16 " + yes[f.F16], "subgroups " + yes[f.Subgroups]}
	switch {
	case f.SubgroupSize > 0:
		list[1] += fmt.Sprintf(" (size %d, measured)", f.SubgroupSize)
	case f.Subgroups:
		list[1] += " (of no one size)"
	}
	list = append(list, "packed dot product "+yes[f.PackedDot])
	if f.LoopTrips > 0 {
		list = append(list, fmt.Sprintf("loops end after %d trips", f.LoopTrips))
	}
	return list
}

// amount writes a limit with its unit.
func (l doctorLimit) amount(n uint64) string {
	if l.Unit == "" {
		return fmt.Sprint(n)
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x, at := float64(n), 0
	for x >= 1024 && at < len(units)-1 {
		x, at = x/1024, at+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") + " " + units[at]
}
