package mutants

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/mutate"
)

// Equivalent says of mutants that they compute what the kernel does.
type Equivalent struct {
	Operators []string `json:"operators"` // that make the mistake
	Kernel    string   `json:"kernel"`    // a pattern of path.Match for the kernel's name
	At        string   `json:"at"`        // a regular expression for the kernel's text from the line of the site on, where ▸ stands for the site; empty for any
	Change    string   `json:"change"`    // a regular expression for the whole description of the site
	Why       string   `json:"why"`       // the argument

	at, change *regexp.Regexp
}

// ReadEquivalents reads a list in JSON.
func ReadEquivalents(data []byte) ([]Equivalent, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var list []Equivalent
	if err := decoder.Decode(&list); err != nil {
		return nil, err
	}
	for i := range list {
		if err := list[i].compile(); err != nil {
			return nil, fmt.Errorf("equivalent %d: %w", i, err)
		}
	}
	return list, nil
}

func (e *Equivalent) compile() error {
	if len(e.Operators) == 0 || e.Kernel == "" || e.Change == "" || e.Why == "" {
		return fmt.Errorf("operators, kernel, change and why must be given")
	}
	if _, err := path.Match(e.Kernel, ""); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	var err error
	if e.at, err = regexp.Compile(`^\s*(?:` + e.At + `)`); err != nil {
		return fmt.Errorf("at: %w", err)
	}
	if e.change, err = regexp.Compile(`^(?:` + e.Change + `)$`); err != nil {
		return fmt.Errorf("change: %w", err)
	}
	return nil
}

// Has reports whether a mistake at a site of a kernel is one of those meant.
func (e *Equivalent) Has(k mutate.Kernel, site mutate.Site) bool {
	if !slices.Contains(e.Operators, site.Operator) || !e.change.MatchString(site.Description) {
		return false
	}
	text := from(k.Text, site.Pos.Line)
	if at := site.Pos.Column - 1; strings.Contains(e.At, here) {
		text = text[:at] + here + text[at:]
	}
	return e.Of(k.Name) && e.at.MatchString(text)
}

// here stands for the site in an expression for the text around it.
const here = "▸"

// Of reports whether it speaks of a kernel.
func (e *Equivalent) Of(kernel string) bool {
	ok, _ := path.Match(e.Kernel, kernel)
	return ok
}

// from returns a text from a line on.
func from(text string, line int) string {
	for range line - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// Listed reports whether a mistake at a site of a kernel is one of a list.
func Listed(list []Equivalent, k mutate.Kernel, site mutate.Site) bool {
	return slices.ContainsFunc(list, func(e Equivalent) bool { return e.Has(k, site) })
}
