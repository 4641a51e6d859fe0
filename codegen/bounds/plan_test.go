package bounds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// The kernels of a small plan: one reads by what params say, one counts.
const (
	readsParams = `@group(0) @binding(0) var<storage, read> params: array<u32, 24>;
@group(0) @binding(1) var<storage, read_write> y: array<u32, 100>;
@compute @workgroup_size(1)
fn main() { y[params[2u] - 1u] = params[params[5u] + params[1u] / 32u]; }
`
	counts = `@group(0) @binding(0) var<storage, read_write> params: array<u32, 24>;
@compute @workgroup_size(1)
fn main() {
  params[0u] = min(params[0u] + 1u, 9u);
  params[1u] += 1u;
  params[2u] += 1u;
}
`
)

// smallPlan is a plan of both kernels, of 100 positions in 4 pages.
func smallPlan() *plan.Plan {
	params := plan.Range{Buffer: 0, Offset: 0, Bytes: 96}
	y := plan.Range{Buffer: 1, Offset: 0, Bytes: 400}
	return &plan.Plan{
		Kernels: []plan.Kernel{
			{Name: "reads", Text: readsParams, Bindings: []plan.Binding{{Name: "params", Access: plan.Read, Bytes: 96}, {Name: "y", Access: plan.ReadWrite, Bytes: 400}}},
			{Name: "counts", Text: counts, Bindings: []plan.Binding{{Name: "params", Access: plan.ReadWrite, Bytes: 96}}},
		},
		Groups: []plan.Group{{Ranges: []plan.Range{params, y}}, {Ranges: []plan.Range{params}}},
		Lists:  []plan.List{{Phase: plan.Decode, Columns: 1, Records: []uint32{0, 0, 1, 1, 1, 1, 1, 1, 1, 1}}, {Phase: plan.Forward, Records: []uint32{0, 0, 1, 1, 1}}},
		Params: plan.Params{Range: params, Sequences: 1, PagesAt: 8, Pages: 4, RingAt: 12, Ring: 12},
		KV:     plan.KV{PageTokens: 32, Pages: 4}, Vocab: 10, Context: 100,
	}
}

// What the runtime makes sure of in the params block counts only where the plan leaves no way around it.
func TestProvePlan(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *plan.Plan)
		says   []string // of each kernel; empty where it is proved
	}{
		{"as it is", func(*plan.Plan) {}, []string{"", ""}},
		{"more positions than y has", func(p *plan.Plan) { p.Context = 101 }, []string{"y[params[2u] - 1u]: the index may be 0 to 100", ""}},
		{"pages elsewhere", func(p *plan.Plan) { p.Params.PagesAt, p.Params.RingAt = 21, 25 }, []string{"21 to 24, and there are 24", ""}},
		{"a writer before others", func(p *plan.Plan) { p.Lists[0].Records = []uint32{1, 1, 1, 1, 1, 0, 0, 1, 1, 1} },
			[]string{"as counts writes it before other dispatches of a list", ""}},
		{"a writer twice", func(p *plan.Plan) { p.Lists[0].Records = append([]uint32{1, 1, 1, 1, 1}, p.Lists[0].Records...) },
			[]string{"as counts writes it before other dispatches of a list", ""}},
		{"y over params", func(p *plan.Plan) { p.Groups[0].Ranges[1] = plan.Range{Buffer: 0, Bytes: 400} }, []string{"as reads binds a part of it in another way", ""}},
		{"another buffer as params", func(p *plan.Plan) { p.Groups[0].Ranges[0].Buffer = 2 }, []string{"y[params[2u] - 1u]: the index may be 0 to 4294967295", ""}},
		{"another buffer in one dispatch", func(p *plan.Plan) {
			p.Groups = append(p.Groups, plan.Group{Ranges: []plan.Range{{Buffer: 2, Bytes: 96}, {Buffer: 1, Bytes: 400}}})
			p.Lists[1].Records[1] = 2
		}, []string{"y[params[2u] - 1u]: the index may be 0 to 4294967295", ""}},
		{"a grid of two to count", func(p *plan.Plan) { p.Lists[0].Records[7] = 2 }, []string{"as counts may break it", ""}},
		{"a grid of two before one of one", func(p *plan.Plan) {
			p.Lists[0].Records[7] = 2
			p.Lists[1].Records = append(p.Lists[1].Records, 1, 1, 1, 1, 1)
		}, []string{"as counts may break it", ""}},
		{"a token beyond the vocabulary", func(p *plan.Plan) { p.Vocab = 9 }, []string{"the value may be 1 to 9, and words 0 to 0 of params are stated to hold 0 to 8", ""}},
		{"a count by two", func(p *plan.Plan) { replace(p, 1, "params[2u] += 1u", "params[2u] += 2u") }, []string{"word 2 of params counts: the value is not the one before and 1", ""}},
		{"less bound than declared", func(p *plan.Plan) { p.Kernels[0].Bindings[1].Bytes = 396 }, []string{"y: it has 400 bytes, and 396 are bound", ""}},
		{"nothing bound", func(p *plan.Plan) { p.Kernels[0].Bindings = p.Kernels[0].Bindings[:1] }, []string{"y: the plan binds nothing to it", ""}},
		{"no dispatch", func(p *plan.Plan) { p.Lists = p.Lists[:1]; p.Lists[0].Records = p.Lists[0].Records[5:] }, []string{"the plan never dispatches it", ""}},
		{"no WGSL", func(p *plan.Plan) { replace(p, 1, "fn main", "fun main") }, []string{"as counts can't be read", "counts.wgsl:3:1"}},
		{"a plan without params", func(p *plan.Plan) { p.Params = plan.Params{} }, []string{"y[params[2u] - 1u]: the index may be 0 to 4294967295", ""}},
		{"a plan without a context", func(p *plan.Plan) { p.Context = 0 }, []string{"y[params[2u] - 1u]: the index may be 0 to 4294967295", ""}},
		{"page ids in the record", func(p *plan.Plan) { p.Params.PagesAt = 2 }, []string{"y[params[2u] - 1u]: the index may be 0 to 4294967295", ""}},
		{"a ring over the page ids", func(p *plan.Plan) { p.Params.RingAt = 11 }, []string{"y[params[2u] - 1u]: the index may be 0 to 4294967295", ""}},
		{"a context that no u32 counts", func(p *plan.Plan) { p.Context = 1<<32 + 100 }, []string{"y[params[2u] - 1u]: the index may be 0 to 4294967295", ""}},
		{"two sequences", func(p *plan.Plan) {
			p.Params = plan.Params{Range: p.Params.Range, Sequences: 2, PagesAt: 16, Pages: 2, RingAt: 20, Ring: 2}
			replace(p, 0, "params[2u] - 1u", "params[10u] - 1u")
			replace(p, 0, "params[5u] + params[1u] / 32u", "params[13u] + params[9u] / 32u")
		}, []string{"", ""}},
		{"a runtime-sized array of what is bound", func(p *plan.Plan) { replace(p, 0, "array<u32, 100>", "array<u32>") }, []string{"", ""}},
		{"too little for a runtime-sized array", func(p *plan.Plan) {
			replace(p, 0, "array<u32, 100>", "array<u32>")
			p.Kernels[0].Bindings[1].Bytes = 396
		}, []string{"no more than 99 elements for certain", ""}},
	} {
		p := smallPlan()
		c.change(p)
		for i, proof := range bounds.ProvePlan(p) {
			said := ""
			for _, f := range proof.Failures {
				said += fmt.Sprintln(f)
			}
			if proof.Proved() != (c.says[i] == "") || !strings.Contains(said, c.says[i]) {
				t.Errorf("%s: kernel %s: %swant %q", c.name, p.Kernels[i].Name, said, c.says[i])
			}
		}
	}
}

func replace(p *plan.Plan, kernel int, old, new string) {
	p.Kernels[kernel].Text = strings.Replace(p.Kernels[kernel].Text, old, new, 1)
}
