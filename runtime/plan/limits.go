package plan

// WebGPU's names of the limits, as a LimitError carries them.
const (
	LimitStorageBuffers  = "maxStorageBuffersPerShaderStage"
	LimitUniformBuffers  = "maxUniformBuffersPerShaderStage"
	LimitBindingBytes    = "maxStorageBufferBindingSize"
	LimitUniformBytes    = "maxUniformBufferBindingSize"
	LimitBufferBytes     = "maxBufferSize"
	LimitWorkgroupBytes  = "maxComputeWorkgroupStorageSize"
	LimitInvocations     = "maxComputeInvocationsPerWorkgroup"
	LimitWorkgroupX      = "maxComputeWorkgroupSizeX"
	LimitWorkgroupY      = "maxComputeWorkgroupSizeY"
	LimitWorkgroupZ      = "maxComputeWorkgroupSizeZ"
	LimitWorkgroups      = "maxComputeWorkgroupsPerDimension"
	LimitOffsetAlignment = "minStorageBufferOffsetAlignment"
)

// LimitLoopTrips is what a LimitError calls the cap of loops that some drivers have. WebGPU knows none.
const LimitLoopTrips = "loop trips of one invocation"

// RangeAlignment is what the offset of every bound range is a multiple of: the largest alignment a WebGPU device may ask for.
const RangeAlignment = 256

// DefaultLimits returns the limits that every WebGPU device has: the defaults of the specification, table "Limits". The
// number of dispatches in a pass is not limited there; 1024 keeps a command buffer small enough for all drivers seen.
func DefaultLimits() Limits {
	return Limits{
		StorageBuffers:   8,
		UniformBuffers:   12,
		BindingBytes:     128 << 20,
		UniformBytes:     64 << 10,
		BufferBytes:      256 << 20,
		WorkgroupBytes:   16 << 10,
		Invocations:      256,
		WorkgroupX:       256,
		WorkgroupY:       256,
		WorkgroupZ:       64,
		Workgroups:       65535,
		OffsetAlignment:  RangeAlignment,
		DispatchesInPass: 1024,
	}
}

// WithDefaults returns l with WebGPU's default in every field that is zero.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		StorageBuffers:   either(l.StorageBuffers, d.StorageBuffers),
		UniformBuffers:   either(l.UniformBuffers, d.UniformBuffers),
		BindingBytes:     either(l.BindingBytes, d.BindingBytes),
		UniformBytes:     either(l.UniformBytes, d.UniformBytes),
		BufferBytes:      either(l.BufferBytes, d.BufferBytes),
		WorkgroupBytes:   either(l.WorkgroupBytes, d.WorkgroupBytes),
		Invocations:      either(l.Invocations, d.Invocations),
		WorkgroupX:       either(l.WorkgroupX, d.WorkgroupX),
		WorkgroupY:       either(l.WorkgroupY, d.WorkgroupY),
		WorkgroupZ:       either(l.WorkgroupZ, d.WorkgroupZ),
		Workgroups:       either(l.Workgroups, d.Workgroups),
		OffsetAlignment:  either(l.OffsetAlignment, d.OffsetAlignment),
		DispatchesInPass: either(l.DispatchesInPass, d.DispatchesInPass),
	}
}

func either[T int | uint64](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// Check returns why the device d can't run what asks for r, or nil: a *LimitError, or a *DeviceError for a feature.
func (r Requires) Check(d Device) error {
	for _, c := range []struct {
		limit      string
		need, have uint64
	}{
		{LimitStorageBuffers, uint64(r.StorageBuffers), uint64(d.Limits.StorageBuffers)},
		{LimitUniformBuffers, uint64(r.UniformBuffers), uint64(d.Limits.UniformBuffers)},
		{LimitBindingBytes, r.BindingBytes, d.Limits.BindingBytes},
		{LimitUniformBytes, r.UniformBytes, d.Limits.UniformBytes},
		{LimitBufferBytes, r.BufferBytes, d.Limits.BufferBytes},
		{LimitWorkgroupBytes, uint64(r.WorkgroupBytes), uint64(d.Limits.WorkgroupBytes)},
		{LimitInvocations, uint64(r.Invocations), uint64(d.Limits.Invocations)},
		{LimitWorkgroupX, uint64(r.WorkgroupX), uint64(d.Limits.WorkgroupX)},
		{LimitWorkgroupY, uint64(r.WorkgroupY), uint64(d.Limits.WorkgroupY)},
		{LimitWorkgroupZ, uint64(r.WorkgroupZ), uint64(d.Limits.WorkgroupZ)},
		{LimitWorkgroups, uint64(r.Workgroups), uint64(d.Limits.Workgroups)},
	} {
		if c.need > c.have {
			return &LimitError{Subject: d.Name, Limit: c.limit, Need: c.need, Have: c.have}
		}
	}
	if r.OffsetAlignment != 0 && r.OffsetAlignment < d.Limits.OffsetAlignment {
		return &LimitError{Subject: d.Name, Limit: LimitOffsetAlignment, Need: uint64(r.OffsetAlignment), Have: uint64(d.Limits.OffsetAlignment)}
	}
	if d.LoopTrips != 0 && r.LoopTrips > d.LoopTrips {
		return &LimitError{Subject: d.Name, Limit: LimitLoopTrips, Need: uint64(r.LoopTrips), Have: uint64(d.LoopTrips)}
	}
	return r.checkFeatures(d)
}

func (r Requires) checkFeatures(d Device) error {
	missing := ""
	switch {
	case r.F16 && !d.F16:
		missing = "shader-f16"
	case (r.Subgroups || r.SubgroupSize != 0) && !d.Subgroups:
		missing = "subgroups"
	case r.SubgroupSize != 0 && r.SubgroupSize != d.SubgroupSize:
		missing = "subgroups of " + itoa(r.SubgroupSize) + " consecutive invocations (measured: " + itoa(d.SubgroupSize) + ")"
	case r.PackedDot && d.BadPackedDot:
		missing = "a packed dot product that is right"
	default:
		return nil
	}
	return &DeviceError{Fault: NoAdapter, Call: "check adapter " + d.Name, Detail: "it lacks " + missing}
}
