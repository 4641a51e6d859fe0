package kernels_test

import (
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// A submit runs a kernel so often that what submitting and waiting takes is little of it.
const loopRows, loopTrips, loopRuns = 2048, 512, 64

// loopForms are the ways to write the loop over a row. Compilers that must prove that a loop ends count its trips, where they can't see
// how many there are; families write the first form.
var loopForms = map[string]func(m *wgsl.Module, body func()){
	"constant": func(m *wgsl.Module, body func()) { m.Loop("i", "0u", loopTrips, 1, body) },
	"uniform":  func(m *wgsl.Module, body func()) { m.Loop("i", "0u", "params[0]", 1, body) },
	"while": func(m *wgsl.Module, body func()) {
		m.Var("i", "0u")
		m.While("i < params[0]", func() {
			body()
			m.Add("i", "1u")
		})
	},
}

// BenchmarkLoops multiplies an f32 matrix of 16 MiB with each form of the loop, with the compiler's bounds checks and loop bounds and
// without. After an upgrade of a WebGPU library it tells whether the form that families write still costs nothing.
func BenchmarkLoops(b *testing.B) {
	d := open(b)
	for _, form := range []string{"constant", "uniform", "while"} {
		k := kernels.Kernel{
			Name: "loop_" + form, Workgroup: 64, Grid: [3]int{loopRows / 64, 1, 1},
			Operands: []bind.Operand{
				{Name: "params", Elem: "u32", Count: 4, Access: plan.Read},
				{Name: "w", Elem: "vec4<f32>", Count: loopRows * loopTrips, Access: plan.Read},
				{Name: "x", Elem: "vec4<f32>", Count: loopTrips, Access: plan.Read},
				{Name: "y", Elem: "f32", Count: loopRows, Access: plan.ReadWrite},
			},
			Body: func(m *wgsl.Module) {
				m.Compute(64, "@builtin(global_invocation_id) id: vec3<u32>", func() {
					m.Var("acc", "vec4<f32>()")
					loopForms[form](m, func() { m.FMA("acc", "w[id.x * %du + i]", "x[i]", loopTrips) })
					m.Set("y[id.x]", "(acc.x + acc.y) + (acc.z + acc.w)")
				})
			},
		}
		built := build(b, k, nil)
		var ranges []plan.Range
		for i, r := range built.Ranges {
			h, err := d.NewBuffer(plan.Buffer{Name: form + "_" + built.Plan.Bindings[i].Name, Kind: plan.ArenaBuffer, Bytes: r.Bytes})
			if err != nil {
				b.Fatal(err)
			}
			if i == 0 {
				if err := d.Write(h, 0, suite.Words([]uint32{loopTrips, 0, 0, 0})); err != nil {
					b.Fatal(err)
				}
			}
			ranges = append(ranges, plan.Range{Buffer: int(h), Bytes: r.Bytes})
		}
		group, err := d.NewGroup(built.Plan.Accesses(), ranges)
		if err != nil {
			b.Fatal(err)
		}
		for _, trusted := range []bool{false, true} {
			name := form + "/checked"
			if trusted {
				name = form + "/unchecked"
			}
			pipeline := d.pipeline(b, built, trusted)
			b.Run(name, func(b *testing.B) {
				b.SetBytes(loopRuns * loopRows * loopTrips * 16)
				records := slices.Repeat([]uint32{pipeline, uint32(group), loopRows / 64, 1, 1}, loopRuns)
				for b.Loop() {
					ticket, err := d.Submit(plan.Work{Replays: [][]uint32{records}})
					if err == nil {
						_, err = d.Wait(b.Context(), ticket)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/loopRuns, "ns/dispatch")
			})
		}
	}
}
