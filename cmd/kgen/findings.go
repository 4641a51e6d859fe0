package main

import (
	"fmt"

	"github.com/kgen-wgsl/kgen"
	"github.com/kgen-wgsl/kgen/codegen/sim"
)

// modelFinding is what the simulator found while a model ran, as --json prints it.
type modelFinding struct {
	Kind     sim.Kind `json:"kind"`
	Kernel   string   `json:"kernel"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Variable string   `json:"variable"`
	Index    int64    `json:"index"` // -1 for none
	Detail   string   `json:"detail"`
	Count    int      `json:"count"`
}

// modelFindings returns what was found since the model was loaded, nil where nothing judges.
func modelFindings(m *kgen.Model) *[]modelFinding {
	if m.Device().Kind != "sim" {
		return nil
	}
	all := []modelFinding{}
	for _, f := range m.Findings() {
		all = append(all, modelFinding{f.Kind, f.Kernel, f.File, f.Line, f.Column, f.Variable, f.Index, f.Detail, f.Count})
	}
	return &all
}

// judged prints what the simulator found while a model ran. Findings make the status 1 where err, which ended the run, is nil.
func (t *terminal) judged(m *kgen.Model, err error) error {
	found := m.Findings()
	if len(found) == 0 {
		if err == nil && m.Device().Kind == "sim" {
			t.note("the simulator found nothing wrong")
		}
		return err
	}
	t.findings = modelFindings(m)
	t.stdout.Flush() // what is on stdout comes first; if it can't be written, the run has said so
	for _, f := range found {
		fmt.Fprintln(t.stderr, f.String())
	}
	fmt.Fprintf(t.stderr, "kgen: the simulator has %s\n", count(len(found), "finding"))
	if err == nil {
		err = errReported
	}
	return err
}
