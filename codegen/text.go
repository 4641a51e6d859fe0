package codegen

import (
	"fmt"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// PlanText prints a plan for people and goldens: everything but the texts of the kernels, in the plan's own order. The same
// plan gives the same text.
func PlanText(p *plan.Plan) string {
	t := planText{plan: p}
	t.line("plan %q for profile %s, format %d", p.Name, p.Profile, p.Format)
	t.line("vocabulary %d, context %d", p.Vocab, p.Context)
	t.kernels()
	t.buffers()
	t.state()
	t.weights()
	t.lists()
	return t.String()
}

type planText struct {
	strings.Builder
	plan *plan.Plan
}

func (t *planText) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

func (t *planText) kernels() {
	t.line("\nkernels")
	for i, k := range t.plan.Kernels {
		t.line("  %d %s: workgroup %dx%dx%d, memory %d, proved %v", i, k.Name, k.Workgroup[0], k.Workgroup[1], k.Workgroup[2], k.WorkgroupBytes, k.Proved)
		for j, b := range k.Bindings {
			t.line("    %d %s %s, %d bytes", j, b.Access, b.Name, b.Bytes)
		}
	}
}

func (t *planText) buffers() {
	t.line("\nbuffers")
	for i, b := range t.plan.Buffers {
		t.line("  %d %s: %v, %d bytes", i, b.Name, b.Kind, b.Bytes)
	}
}

// at prints a range with its buffer's name.
func (t *planText) at(r plan.Range) string {
	return fmt.Sprintf("%s[%d+%d]", t.plan.Buffers[r.Buffer].Name, r.Offset, r.Bytes)
}

func (t *planText) state() {
	p := t.plan.Params
	t.line("\nstate")
	t.line("  params %s: %d sequences, %d pages from word %d, ring of %d from word %d", t.at(p.Range), p.Sequences, p.Pages, p.PagesAt, p.Ring, p.RingAt)
	for _, table := range t.plan.Tables {
		factors := ""
		if table.Factors != "" {
			factors = ", factors " + table.Factors
		}
		t.line("  positions %s: base %v, dims %d, factor %v, %d positions%s", t.at(table.To), table.Base, table.Dims, table.Factor, table.Positions, factors)
	}
	element := "f32"
	if t.plan.KV.F16 {
		element = "f16"
	}
	for i, r := range t.plan.KV.Layers {
		t.line("  %s of layer %d %s: %s, %d pages of %d", []string{"keys", "values"}[i%2], i/2, t.at(r), element, t.plan.KV.Pages, t.plan.KV.PageTokens)
	}
	for _, o := range t.plan.Outputs {
		t.line("  output %s %s", o.Name, t.at(o.Range))
	}
}

func (t *planText) weights() {
	t.line("\nweights")
	for _, w := range t.plan.Weights {
		r := w.Recipe
		from := ""
		if w.From > 0 {
			from = fmt.Sprintf(" from row %d on", w.From)
		}
		t.line("  %s: %s, %d rows%s of %d blocks of %d bytes", w.Tensor, r.Type, r.Rows, from, r.RowBlocks, r.BlockBytes)
		for _, p := range r.Planes {
			t.line("    %s %s: rows of %d bytes, bits of a block %s", p.Name, t.at(p.To), p.RowStride, fieldsText(p.Fields))
		}
	}
}

func fieldsText(fields []plan.Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = fmt.Sprintf("%d..%d", f.From, f.From+f.Bits-1)
	}
	return strings.Join(parts, " ")
}

func (t *planText) lists() {
	for _, l := range t.plan.Lists {
		t.line("\n%v, %d columns, %d dispatches", l.Phase, l.Columns, len(l.Records)/plan.RecordWords)
		for at := 0; at < len(l.Records); at += plan.RecordWords {
			r := l.Records[at : at+plan.RecordWords]
			var ranges []string
			for _, place := range t.plan.Groups[r[1]].Ranges {
				ranges = append(ranges, t.at(place))
			}
			t.line("  %s %dx%dx%d %s", t.plan.Kernels[r[0]].Name, r[2], r[3], r[4], strings.Join(ranges, " "))
		}
	}
}
