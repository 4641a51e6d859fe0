package schedules

import "github.com/kgen-wgsl/kgen/runtime/plan"

// Profile is a class of devices: what a kernel made for it may use. A device is opened with exactly these limits.
type Profile struct {
	Name         string
	About        string // one line for people
	Dialect      Dialect
	Limits       plan.Limits
	Subgroups    bool
	SubgroupSize int // invocations that consecutively form a subgroup, guaranteed; 0 when unknown
	F16          bool
	PackedDot    bool // four 8-bit products are one instruction; WGSL has it everywhere, emulated where a device has none
	LoopTrips    int  // trips that all loops of one invocation may make together, counted as plan.Device counts; 0 when not capped
}

// Dialect says which compiler front ends the text must please.
type Dialect string

// The dialects. Kernel text is the same but for one line, see plan.EnableSubgroups.
const (
	Any  Dialect = "any"
	Tint Dialect = "tint" // Chrome, Dawn, Safari
	Naga Dialect = "naga" // Firefox, wgpu
)

// Requires lists what a device must offer to run kernels made for p.
func (p Profile) Requires() plan.Requires {
	return plan.Requires{Limits: p.Limits, Subgroups: p.Subgroups, SubgroupSize: p.SubgroupSize, F16: p.F16}
}

// WithDevice returns p for one device: a size of subgroups that p leaves open becomes the measured one, a cap of loops that
// was found on the device holds for p, and a packed dot product that was found to be wrong is not used. It fails with a
// *FitError when the device offers less than p asks for.
func (p Profile) WithDevice(d plan.Device) (Profile, error) {
	if err := p.Fit(d); err != nil {
		return Profile{}, err
	}
	if p.Subgroups && p.SubgroupSize == 0 {
		p.SubgroupSize = d.SubgroupSize
	}
	if d.LoopTrips > 0 && (p.LoopTrips == 0 || d.LoopTrips < p.LoopTrips) {
		p.LoopTrips = d.LoopTrips
	}
	p.PackedDot = p.PackedDot && !d.BadPackedDot
	return p, nil
}

// Fit returns nil when the device offers all that p asks for, else a *FitError.
func (p Profile) Fit(d plan.Device) error {
	e := &FitError{Profile: p.Name, Device: d.Name}
	for _, l := range limits(p.Limits, d.Limits) {
		if l.lower && l.have > l.need || !l.lower && l.have < l.need {
			e.Misses = append(e.Misses, Miss{Requirement: l.name, Need: l.need, Have: l.have})
		}
	}
	if p.Subgroups && !d.Subgroups {
		e.Misses = append(e.Misses, Miss{Requirement: "subgroups", Need: 1})
	} else if p.Subgroups && (d.SubgroupSize == 0 || p.SubgroupSize != 0 && p.SubgroupSize != d.SubgroupSize) {
		e.Misses = append(e.Misses, Miss{"subgroup size", uint64(p.SubgroupSize), uint64(d.SubgroupSize)})
	}
	if p.F16 && !d.F16 {
		e.Misses = append(e.Misses, Miss{Requirement: "shader-f16", Need: 1})
	}
	if len(e.Misses) == 0 {
		return nil
	}
	return e
}

// limit is one limit of a profile beside the device's; lower means that a device may have less than asked for, not more.
type limit struct {
	name       string
	need, have uint64
	lower      bool
}

// limits pairs the limits under the names that WebGPU gives them.
func limits(need, have plan.Limits) []limit {
	i := func(name string, n, h int) limit { return limit{name, uint64(n), uint64(h), false} }
	return []limit{
		i(plan.LimitStorageBuffers, need.StorageBuffers, have.StorageBuffers),
		i(plan.LimitUniformBuffers, need.UniformBuffers, have.UniformBuffers),
		{plan.LimitBindingBytes, need.BindingBytes, have.BindingBytes, false},
		{plan.LimitUniformBytes, need.UniformBytes, have.UniformBytes, false},
		{plan.LimitBufferBytes, need.BufferBytes, have.BufferBytes, false},
		i(plan.LimitWorkgroupBytes, need.WorkgroupBytes, have.WorkgroupBytes),
		i(plan.LimitInvocations, need.Invocations, have.Invocations),
		i(plan.LimitWorkgroupX, need.WorkgroupX, have.WorkgroupX),
		i(plan.LimitWorkgroupY, need.WorkgroupY, have.WorkgroupY),
		i(plan.LimitWorkgroupZ, need.WorkgroupZ, have.WorkgroupZ),
		i(plan.LimitWorkgroups, need.Workgroups, have.Workgroups),
		{plan.LimitOffsetAlignment, uint64(need.OffsetAlignment), uint64(have.OffsetAlignment), true},
	}
}
