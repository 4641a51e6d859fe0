package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// Partials is the operand between ArgMaxPartials and ArgMaxFinal: for each workgroup of the first, the bits of its largest
// value and the value's index.
const Partials = "partials"

// ArgMaxPartials finds the largest of N values in each of as many stretches as the schedule has partials; of equals, the one
// with the lowest index. NaN is never the largest. Operands: x and partials.
type ArgMaxPartials struct{ N int }

// Kernel builds the kernel, or says why the schedule cannot.
func (a ArgMaxPartials) Kernel(s schedules.ArgMax, p schedules.Profile) (Kernel, error) {
	if err := s.Legal(a.N, p); err != nil {
		return Kernel{}, err
	}
	stretch := (a.N + s.Partials - 1) / s.Partials
	return Kernel{
		Name: name("argmax_partials", a.N), Header: []string{fmt.Sprintf("the largest of %d values, in stretches of %d", a.N, stretch), s.String()},
		Operands: []bind.Operand{
			{Name: X, Elem: "f32", Count: a.N, Access: plan.Read},
			{Name: Partials, Elem: "vec2<u32>", Count: s.Partials, Access: plan.ReadWrite},
		},
		Workgroup: s.Workgroup, Grid: [3]int{s.Partials, 1, 1}, LoopTrips: s.Trips(a.N), Problem: a, Schedule: s,
		Body: func(m *wgsl.Module) {
			declareTops(m, s.Workgroup)
			m.Compute(s.Workgroup, builtins, func() {
				m.Let("end", "min((group.x + 1u) * %du, %du)", stretch, a.N)
				m.Let("first", "group.x * %du + local", stretch)
				scan(m, "first", "end", s.Workgroup, func() {
					m.Let("value", "x[i]")
					m.Let("index", "i")
				})
				m.If("local == 0u", func() {
					m.Set("partials[group.x]", "vec2<u32>(bitcast<u32>(tops[0]), indices[0])")
				})
			})
		},
	}, nil
}

// ArgMaxFinal finds the largest of the partials and makes its index the next token: the token and the next position go to
// the record in params, and the token to the ring as long as it has room. When no value is a number above -3.4e38, the token is the last
// of the vocabulary, so that what follows stays in bounds, and the record says from which entry of the ring on that is so. Operands:
// partials and params.
type ArgMaxFinal struct {
	N      int
	Params plan.Params
}

// Kernel builds the kernel, or says why the schedule cannot. The schedule is that of the partials.
func (a ArgMaxFinal) Kernel(s schedules.ArgMax, p schedules.Profile) (Kernel, error) {
	if err := s.Legal(a.N, p); err != nil {
		return Kernel{}, err
	}
	params := paramsOperand(a.Params)
	params.Access = plan.ReadWrite
	return Kernel{
		Name: name("argmax_final", a.N), Header: []string{fmt.Sprintf("the largest of %d partial results becomes the next token", s.Partials), s.String()},
		Operands:  []bind.Operand{{Name: Partials, Elem: "vec2<u32>", Count: s.Partials, Access: plan.Read}, params},
		Workgroup: s.Workgroup, Grid: [3]int{1, 1, 1}, LoopTrips: s.Trips(a.N), Problem: a, Schedule: s,
		Body: func(m *wgsl.Module) {
			declareTops(m, s.Workgroup)
			m.Compute(s.Workgroup, "@builtin(local_invocation_index) local: u32", func() {
				scan(m, "local", s.Partials, s.Workgroup, func() {
					m.Let("value", "bitcast<f32>(partials[i].x)")
					m.Let("index", "partials[i].y")
				})
				m.If("local == 0u", func() {
					m.Let("token", "min(indices[0], %du)", a.N-1)
					m.Let("written", "params[%du]", plan.ParamsOutLen)
					m.If(fmt.Sprintf("indices[0] > %du && params[%du] == 0u", a.N-1, plan.ParamsFault), func() {
						m.Set(fmt.Sprintf("params[%du]", plan.ParamsFault), "written + 1u")
					})
					m.If("written < %du", func() {
						m.Set(fmt.Sprintf("params[params[%du] + written]", plan.ParamsOut), "token")
					}, a.Params.Ring)
					advance(m)
				})
			})
		},
	}, nil
}

// Advance moves the record in params to the next token of a prompt, which it takes from the ring; past the end of the ring,
// the last one again. Operand: params.
type Advance struct{ Params plan.Params }

// Kernel builds the kernel, which one invocation runs.
func (a Advance) Kernel() (Kernel, error) {
	params := paramsOperand(a.Params)
	params.Access = plan.ReadWrite
	if a.Params.Ring <= 0 {
		return Kernel{}, fmt.Errorf("advance: a ring of %d words", a.Params.Ring)
	}
	return Kernel{
		Name: "advance", Header: []string{"the next token of the prompt"},
		Operands: []bind.Operand{params}, Workgroup: 1, Grid: [3]int{1, 1, 1}, Problem: a, Schedule: schedules.Elementwise{Workgroup: 1},
		Body: func(m *wgsl.Module) {
			m.Compute(1, "", func() {
				m.Let("written", "params[%du]", plan.ParamsOutLen)
				m.Let("token", "params[params[%du] + min(written, %du)]", plan.ParamsOut, a.Params.Ring-1)
				advance(m)
			})
		},
	}, nil
}

// advance writes the record of the next step: token, one position and one key more, and one entry of the ring more.
func advance(m *wgsl.Module) {
	m.Set(fmt.Sprintf("params[%du]", plan.ParamsToken), "token")
	m.Add(fmt.Sprintf("params[%du]", plan.ParamsPos), "1u")
	m.Add(fmt.Sprintf("params[%du]", plan.ParamsLen), "1u")
	m.Set(fmt.Sprintf("params[%du]", plan.ParamsOutLen), "written + 1u")
}

func declareTops(m *wgsl.Module, n int) {
	m.Workgroup("tops", "f32", n)
	m.Workgroup("indices", "u32", n)
}

// scan leaves the largest value and its index in tops[0] and indices[0]. Each thread scans i from first below end; candidate
// declares value and index of i.
func scan(m *wgsl.Module, first string, end any, workgroup int, candidate func()) {
	m.Var("top", "-3.4028234e38f")
	m.Var("at", "0xffffffffu")
	m.Loop("i", first, end, workgroup, func() {
		candidate()
		m.If("value > top", func() {
			m.Set("top", "value")
			m.Set("at", "index")
		})
	})
	m.Set("tops[local]", "top")
	m.Set("indices[local]", "at")
	halve(m, workgroup, func(step int) {
		m.Let("value", "tops[local + %du]", step)
		m.Let("index", "indices[local + %du]", step)
		m.If("value > tops[local] || (value == tops[local] && index < indices[local])", func() {
			m.Set("tops[local]", "value")
			m.Set("indices[local]", "index")
		})
	})
}
