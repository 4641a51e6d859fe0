package schedules

import (
	"fmt"
	"slices"
	"strings"
)

// FitError says which requirements of a profile a device misses.
type FitError struct {
	Profile, Device string
	Misses          []Miss
}

// Miss is one requirement that is not met: a limit by WebGPU's name, or a feature, which needs 1. A need of 0 asks for any
// known value.
type Miss struct {
	Requirement string
	Need, Have  uint64
}

func (m Miss) String() string {
	switch {
	case m.Need == 0:
		return "a known " + m.Requirement
	case m.Need == 1 && m.Have == 0:
		return m.Requirement + ", which it lacks"
	}
	return fmt.Sprintf("%s %d, has %d", m.Requirement, m.Need, m.Have)
}

func (e *FitError) Error() string {
	parts := make([]string, len(e.Misses))
	for i, m := range e.Misses {
		parts[i] = m.String()
	}
	return fmt.Sprintf("profile %s does not fit device %q: it needs %s", e.Profile, e.Device, strings.Join(parts, "; "))
}

// IllegalError lists every reason why a schedule cannot compute a problem.
type IllegalError struct {
	Schedule string // its text form
	Reasons  []Reason
}

// Reason names the field of the schedule or of the problem that is at fault, and why. Limit says that another device or
// profile might compute it.
type Reason struct {
	Field, Why string
	Limit      bool
}

func (r Reason) String() string { return r.Field + ": " + r.Why }

func (e *IllegalError) Error() string {
	parts := make([]string, len(e.Reasons))
	for i, r := range e.Reasons {
		parts[i] = r.String()
	}
	return "illegal schedule (" + e.Schedule + "): " + strings.Join(parts, "; ")
}

// BeyondLimits reports whether a limit of the profile is among the reasons.
func (e *IllegalError) BeyondLimits() bool {
	return slices.ContainsFunc(e.Reasons, func(r Reason) bool { return r.Limit })
}

// reasons collects the reasons of a refusal.
type reasons []Reason

// unless adds a reason when the condition does not hold.
func (r *reasons) unless(ok bool, field, format string, a ...any) {
	if !ok {
		*r = append(*r, Reason{Field: field, Why: fmt.Sprintf(format, a...)})
	}
}

// within adds a reason when what a limit allows is exceeded.
func (r *reasons) within(ok bool, field, format string, a ...any) {
	if !ok {
		*r = append(*r, Reason{field, fmt.Sprintf(format, a...), true})
	}
}

// is adds a reason unless the only choice that is built was made.
func is[T comparable](r *reasons, field string, got, built T) {
	r.unless(got == built, field, "%v is not built yet, only %v", got, built)
}

func (r reasons) err(schedule string) error {
	if len(r) == 0 {
		return nil
	}
	return &IllegalError{schedule, r}
}

// UnknownError says that a name is none of the known ones.
type UnknownError struct {
	What, Name string   // profile, key; and the name that was given
	Nearest    []string // the known names closest to it, best first
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown %s %q; nearest: %s", e.What, e.Name, strings.Join(e.Nearest, ", "))
}
