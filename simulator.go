package kgen

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Finding is one fault of a kernel that the simulator saw: where, which variable, and what is wrong.
type Finding = sim.Finding

// simKind is the Kind of the simulator's device.
const simKind = "sim"

// Findings returns what the simulator has found since the model was loaded, by kernel and place. Other devices find nothing.
func (m *Model) Findings() []Finding {
	if d, ok := m.backend.(*sim.Device); ok {
		return d.Findings()
	}
	return nil
}

// simulated returns the simulator as a target, for the profile that was asked for or subgroups.
func simulated(opts *Options) (*target, error) {
	if opts.Adapter != "" || opts.Library != "" {
		return nil, badRequest("adapter and library choose a device; the simulator needs none")
	}
	size := cmp.Or(opts.SubgroupSize, 32)
	if !slices.Contains(sim.SubgroupSizes(), size) {
		return nil, badRequest("the simulator has no subgroups of %d; it has those of %v", size, sim.SubgroupSizes())
	}
	t := &target{device: simDevice(size)}
	profile, _, err := chooseProfile(cmp.Or(opts.Profile, "subgroups"), t.device)
	if err != nil {
		return nil, asError("choose a device", err)
	}
	t.profile = profile
	opts.Log("device: the simulator, as asked, with subgroups of " + strconv.Itoa(size) + "; profile " + profile.Name)
	return t, nil
}

// simDevice describes the simulator before it is opened: it grants what a plan requires, whatever that is, and no more.
func simDevice(size int) plan.Device {
	const most = math.MaxInt32
	return plan.Device{
		Kind: simKind, Name: "simulator", Library: "kgen", Subgroups: true, SubgroupSize: size, F16: true,
		Limits: plan.Limits{
			StorageBuffers: most, UniformBuffers: most, BindingBytes: most, UniformBytes: most, BufferBytes: most,
			WorkgroupBytes: most, Invocations: most, WorkgroupX: most, WorkgroupY: most, WorkgroupZ: most,
			Workgroups: most, OffsetAlignment: 4, DispatchesInPass: most,
		},
	}
}

// simulator opens the simulator for a plan and tells it of the operands, when they are known.
func (t *target) simulator(p *plan.Plan, uses [][][]plan.Use) (plan.Backend, error) {
	d, err := sim.Open(p.Requires, sim.Options{SubgroupSize: t.device.SubgroupSize})
	if err != nil {
		return nil, err
	}
	if uses != nil {
		d.Describe(p, uses)
	}
	return d, nil
}
