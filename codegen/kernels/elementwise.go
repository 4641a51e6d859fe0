package kernels

import (
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/schedules"
)

// each is the frame of kernels that give every thread one of n elements.
type each struct {
	n        int
	schedule schedules.Elementwise
	grid     grid
}

func newEach(n int, s schedules.Elementwise, p schedules.Profile) (each, error) {
	if err := s.Legal(n, p); err != nil {
		return each{}, err
	}
	return each{n, s, newGrid((n+s.Workgroup-1)/s.Workgroup, p.Limits.Workgroups)}, nil
}

// write runs body with i, the element of the thread.
func (e each) write(m *wgsl.Module, body func()) {
	m.Compute(e.schedule.Workgroup, builtins, func() {
		m.Let("i", "%s * %du + local", e.grid.index(), e.schedule.Workgroup)
		if e.grid.spare() || e.n%e.schedule.Workgroup != 0 {
			m.If("i < %du", body, e.n)
		} else {
			body()
		}
	})
}
