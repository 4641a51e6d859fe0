package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/schedules"
)

// unreachable is a line of the list of kernels that are never dispatched.
type unreachable struct {
	place   string // file and line
	pattern string
}

// readUnreachable reads the list.
func readUnreachable(t *terminal, path string) ([]unreachable, error) {
	if path == "" {
		return nil, nil
	}
	text, err := t.readText("--unreachable", path)
	if err != nil {
		return nil, err
	}
	var list []unreachable
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if strings.ContainsAny(line, " \t,") {
			return nil, usagef("--unreachable: %s:%d: %q is more than one name: each has a line of its own", path, i+1, line)
		}
		list = append(list, unreachable{fmt.Sprintf("%s:%d", path, i+1), line})
	}
	return list, nil
}

// mark marks the kernels that the list names. A name that is none's is an error: the list would rot otherwise.
func (r *auditReport) mark(list []unreachable) error {
	matched := make([]bool, len(list))
	reached := map[string]bool{} // texts with an entry point that is dispatched
	for i := range r.Kernels {
		row := &r.Kernels[i]
		for j, u := range list {
			if slices.ContainsFunc(row.names(), func(name string) bool { return matches(u.pattern, name) }) {
				matched[j], row.Unreachable = true, true
			}
		}
		reached[row.File] = reached[row.File] || !row.Unreachable
	}
	for i := range r.Mistakes {
		known, ok := reached[r.Mistakes[i].File]
		r.Mistakes[i].Unreachable = ok && !known
	}
	if at := slices.Index(matched, false); at >= 0 {
		return r.unmatched(list[at])
	}
	return nil
}

// names are those that a list may call the kernel by: entry points of .wgsl files tend to have the same.
func (k *auditRow) names() []string {
	if file, ok := strings.CutSuffix(filepath.Base(k.File), ".wgsl"); ok {
		return []string{k.Kernel, file}
	}
	return []string{k.Kernel}
}

func (r *auditReport) unmatched(u unreachable) error {
	seen := map[string]bool{}
	var names []string
	for _, row := range r.Kernels {
		for _, name := range row.names() {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return usagef("--unreachable: %s: there is no kernel %q, nor any other", u.place, u.pattern)
	}
	return usagef("--unreachable: %s: no kernel is named %q; nearest: %s", u.place, u.pattern, strings.Join(schedules.Nearest(u.pattern, names), ", "))
}

// matches reports whether a name fits a pattern, in which * stands for any letters or none.
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return pattern == name
	}
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name = name[at+len(part):]
	}
	return true
}
