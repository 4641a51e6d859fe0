package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/sim"
)

// The JSON of a run. Scripts rely on findings and outputs; other keys are more.
type simJSON struct {
	Findings  []findingJSON         `json:"findings"`
	Outputs   map[string]outputJSON `json:"outputs"`
	Entry     string                `json:"entry"`
	Grid      [3]int                `json:"grid"`
	Workgroup [3]int                `json:"workgroup"`
	Subgroup  int                   `json:"subgroup"` // of the outputs
}

type findingJSON struct {
	Kind        sim.Kind         `json:"kind"`
	File        string           `json:"file"`
	Line        int              `json:"line"`
	Column      int              `json:"column"`
	Variable    string           `json:"variable"`
	Index       int64            `json:"index"` // -1 for none
	Detail      string           `json:"detail"`
	Invocations []invocationJSON `json:"invocations"`
	Count       int              `json:"count"`
	Subgroup    int              `json:"subgroup"`  // with which it was seen first; 0 where it needs no run
	Subgroups   []int            `json:"subgroups"` // all of them
}

type invocationJSON struct {
	Workgroup [3]int `json:"workgroup"`
	Local     int    `json:"local"`
}

type outputJSON struct {
	Group       int             `json:"group"`
	Binding     int             `json:"binding"`
	Type        string          `json:"type"`
	Bytes       int             `json:"bytes"`
	Values      [0]int          `json:"values"`      // where the values go
	Differences []simDifference `json:"differences"` // with other sizes of subgroups
}

func (s *simulation) json() simJSON {
	r := simJSON{
		Findings: []findingJSON{}, Outputs: map[string]outputJSON{},
		Entry: s.program.Entry(), Grid: s.grid, Workgroup: s.program.Workgroup(), Subgroup: s.sizes[0],
	}
	for _, f := range s.findings {
		j := findingJSON{
			Kind: f.Kind, File: f.File, Line: f.Line, Column: f.Column, Variable: f.Variable, Index: f.Index, Detail: f.Detail,
			Invocations: []invocationJSON{}, Count: f.Count, Subgroups: slices.Sorted(slices.Values(f.sizes)),
		}
		for _, i := range f.Invocations {
			j.Invocations = append(j.Invocations, invocationJSON(i))
		}
		if len(f.sizes) > 0 {
			j.Subgroup = f.sizes[0]
		} else {
			j.Subgroups = []int{}
		}
		r.Findings = append(r.Findings, j)
	}
	for i, o := range s.outputs {
		j := outputJSON{
			Group: o.declared.Group, Binding: o.declared.Binding, Type: o.declared.Type.String(), Bytes: len(o.values.Data),
			Differences: []simDifference{},
		}
		for _, d := range s.differences {
			if d.output == i {
				j.Differences = append(j.Differences, d)
			}
		}
		r.Outputs[o.declared.Name] = j
	}
	return r
}

// printJSON prints the run as one value. Values are written as they are made: there may be hundreds of millions.
func (s *simulation) printJSON(t *terminal) error {
	var frame bytes.Buffer
	e := json.NewEncoder(&frame)
	e.SetEscapeHTML(false)
	if err := e.Encode(s.json()); err != nil {
		return err
	}
	outputs := slices.Clone(s.outputs)
	slices.SortFunc(outputs, func(a, b simOutput) int { return strings.Compare(a.declared.Name, b.declared.Name) }) // as maps are written
	const place = `"values":[`                                                                                      // never in a string, where quotes have a backslash
	for i, part := range strings.Split(frame.String(), place) {
		if i > 0 {
			t.stdout.WriteString(place)
			outputs[i-1].values.write(t.stdout)
		}
		t.stdout.WriteString(part)
	}
	return t.stdout.Flush()
}
