package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// simFinding is a finding with the sizes of subgroups at which it was seen; none where it doesn't come from a run.
type simFinding struct {
	sim.Finding
	sizes []int
}

// simOutput is what a binding that the kernel may write holds after a run.
type simOutput struct {
	declared sim.Declared
	values   simValues
}

// simDifference is how an output with another size of subgroups differs from the first size's.
type simDifference struct {
	output  int
	Size    int     `json:"subgroup"`
	Values  int     `json:"values"`  // how many differ
	Largest float64 `json:"largest"` // difference of two that do, where it is a number
	Strange int     `json:"strange"` // how many differ by no number: one of the two is NaN or an infinity
}

// addFindings takes over what a run found. What was found with another size of subgroups already is one finding.
func (s *simulation) addFindings(found []sim.Finding, size int) {
	for _, f := range found {
		at := slices.IndexFunc(s.findings, func(old simFinding) bool { return old.Same(f) })
		if at < 0 {
			at = len(s.findings)
			s.findings = append(s.findings, simFinding{Finding: f})
		}
		s.findings[at].sizes = append(s.findings[at].sizes, size)
	}
}

// addDivergent adds what compilers refuse, where the runs didn't show the same, and puts the findings in order.
func (s *simulation) addDivergent() {
	for _, e := range s.divergent {
		at := slices.IndexFunc(s.findings, func(f simFinding) bool {
			return f.Kind == sim.Divergent && f.File == e.Pos.File && f.Line == e.Pos.Line
		})
		refused := "compilers refuse it: " + e.Message
		if at >= 0 {
			s.findings[at].Detail += "; " + refused
			continue
		}
		s.findings = append(s.findings, simFinding{Finding: sim.Finding{
			Kind: sim.Divergent, File: e.Pos.File, Line: e.Pos.Line, Column: e.Pos.Column, Index: -1, Detail: refused, Count: 1,
		}})
	}
	slices.SortStableFunc(s.findings, func(a, b simFinding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Kind, b.Kind))
	})
}

// addOutputs keeps what the first run made, and how those of other sizes differ.
func (s *simulation) addOutputs(buffers []*sim.Buffer, size int) {
	n := 0
	for i, in := range s.inputs {
		if in.declared.Access != plan.ReadWrite {
			continue
		}
		values := simValues{in.declared.Type, buffers[i].Read(0, in.bytes)}
		if size == s.sizes[0] {
			s.outputs = append(s.outputs, simOutput{in.declared, values})
		} else if d := differenceOf(s.outputs[n].values, values); d.Values > 0 {
			d.output, d.Size = n, size
			s.differences = append(s.differences, d)
		}
		n++
	}
	for i := range s.files {
		if f := &s.files[i]; size == s.sizes[0] {
			f.data = buffers[f.input].Read(0, s.inputs[f.input].bytes)
		}
	}
}

// differenceOf compares memory of one type. NaNs are equal.
func differenceOf(a, b simValues) simDifference {
	var d simDifference
	eachScalar(a.Type, 0, len(a.Data), func(s wgsl.Scalar, offset int) bool {
		x, y := scalarAt(s, a.Data, offset), scalarAt(s, b.Data, offset)
		if x == y || math.IsNaN(x) && math.IsNaN(y) {
			return true
		}
		d.Values++
		if gap := math.Abs(x - y); math.IsNaN(gap) || math.IsInf(gap, 0) {
			d.Strange++
		} else {
			d.Largest = max(d.Largest, gap)
		}
		return true
	})
	return d
}

// text says how many values differ, and by how much.
func (d simDifference) text() string {
	text := count(d.Values, "value") + " differ"
	if d.Values == 1 {
		text += "s"
	}
	if d.Strange < d.Values {
		text += ", by up to " + string(appendScalar(nil, wgsl.F32, d.Largest))
	}
	if d.Strange > 0 {
		text += fmt.Sprintf(", %d as NaN or infinity on one side", d.Strange)
	}
	return text
}

// sizesText says at which sizes of subgroups a finding was seen, when it is not all of them.
func (s *simulation) seenWith(f simFinding) string {
	if len(f.sizes) == 0 || len(f.sizes) == len(s.sizes) {
		return ""
	}
	sizes := slices.Sorted(slices.Values(f.sizes))
	names := make([]string, len(sizes))
	for i, size := range sizes {
		names[i] = strconv.Itoa(size)
	}
	return ", with subgroups of " + strings.Join(names, ", ")
}

// print prints a line for each finding and each output.
func (s *simulation) print(t *terminal, shown int) error {
	for _, f := range s.findings {
		fmt.Fprintln(t.stdout, f.String()+s.seenWith(f))
	}
	for i, o := range s.outputs {
		text, n := o.values.first(shown)
		if n > shown {
			text += " …"
		}
		hash := sha256.Sum256(o.values.Data)
		fmt.Fprintf(t.stdout, "%s, binding %s, %s:%s\n  %s, %d bytes, sha256 %s\n",
			o.declared.Name, label(o.declared), o.declared.Type, text, count(n, "value"), len(o.values.Data), hex.EncodeToString(hash[:6]))
		for _, d := range s.differences {
			if d.output == i {
				fmt.Fprintf(t.stdout, "  with subgroups of %d, %s\n", d.Size, d.text())
			}
		}
	}
	_, err := fmt.Fprintln(t.stdout, count(len(s.findings), "finding"))
	return err
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
