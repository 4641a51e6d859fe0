package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// NormWeights is the operand with the weights of RMSNorm.
const NormWeights = "weights"

// RMSNorm is y[r,i] = x[r,i] / sqrt(mean_i(x[r,i]²) + Eps) · weights[i] for Rows rows of Columns values: a token's vector, or
// its heads; InPlace, y is x. Operands: x, weights of Columns values and, unless in place, y.
type RMSNorm struct {
	Rows, Columns int
	Eps           float64
	InPlace       bool
}

// Kernel builds the kernel, or says why the schedule cannot. A workgroup takes a row; its threads add up squares, then
// halve their sums in workgroup memory.
func (n RMSNorm) Kernel(s schedules.RowReduce, p schedules.Profile) (Kernel, error) {
	if err := s.Legal(n.Columns, p); err != nil {
		return Kernel{}, err
	}
	if n.Rows <= 0 || n.Rows > p.Limits.Workgroups {
		return Kernel{}, fmt.Errorf("%d rows are not within 1..%d, the workgroups of a grid", n.Rows, p.Limits.Workgroups)
	}
	width := widest(n.Columns)
	each := n.Columns / width
	elem := lanes(width)
	y := Y
	k := Kernel{
		Name:   name("rmsnorm", fmt.Sprintf("%dx%d", n.Rows, n.Columns)),
		Header: []string{fmt.Sprintf("y = x / sqrt(mean(x²) + %v) · weights, %d rows of %d", n.Eps, n.Rows, n.Columns), s.String()},
		Operands: []bind.Operand{
			{Name: X, Elem: elem, Count: n.Rows * each, Access: plan.Read},
			{Name: NormWeights, Elem: elem, Count: each, Access: plan.Read, Class: bind.Vector},
			{Name: Y, Elem: elem, Count: n.Rows * each, Access: plan.ReadWrite},
		},
		Workgroup: s.Workgroup, Grid: [3]int{n.Rows, 1, 1}, LoopTrips: s.Trips(n.Columns), Problem: n, Schedule: s,
		Body: func(m *wgsl.Module) {
			m.Workgroup("sums", "f32", s.Workgroup)
			m.Compute(s.Workgroup, builtins, func() {
				m.Let("first", "group.x * %du", each)
				m.Var("squares", zero(width))
				m.Loop("i", "local", each, s.Workgroup, func() {
					m.Let("v", "x[first + i]")
					m.FMA("squares", "v", "v")
				})
				m.Set("sums[local]", total("squares", width))
				addTree(m, "sums", s.Workgroup)
				m.Let("scale", "inverseSqrt(sums[0] / %s + %s)", float(float64(n.Columns)), float(n.Eps))
				m.Loop("i", "local", each, s.Workgroup, func() {
					m.Set(y+"[first + i]", "x[first + i] * scale * weights[i]")
				})
			})
		},
	}
	if n.InPlace {
		y = X
		k.Name = name("rmsnorm_in_place", fmt.Sprintf("%dx%d", n.Rows, n.Columns))
		k.Operands = k.Operands[:2]
		k.Operands[0].Access = plan.ReadWrite
	}
	return k, nil
}

// addTree leaves the sum of n values in workgroup memory, a power of two of them, in the first.
func addTree(m *wgsl.Module, array string, n int) {
	halve(m, n, func(step int) { m.Add(array+"[local]", "%s[local + %du]", array, step) })
}

// halve runs body for the first n/2 threads, then n/4, down to one, with a barrier before each round and after the last.
// body joins what thread local has with what thread local + step has.
func halve(m *wgsl.Module, n int, body func(step int)) {
	m.Barrier()
	for step := n / 2; step > 0; step /= 2 {
		m.If("local < %du", func() { body(step) }, step)
		m.Barrier()
	}
}
