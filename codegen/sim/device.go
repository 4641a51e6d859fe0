package sim

import "github.com/kgen-wgsl/kgen/runtime/plan"

// Device is a plan.Backend that runs kernels in the simulator and keeps what it finds.
type Device struct {
	plan.Backend // TODO
}

// Open returns a device that grants what requires asks for, and WebGPU's defaults where that asks for nothing. o.Limits is not
// used: the device's are.
func Open(requires plan.Requires, o Options) (*Device, error) { return nil, nil }

// Findings returns what was found since the device was opened, by kernel and place.
func (d *Device) Findings() []Finding { return nil }

// Describe tells the device of a plan whose lists it will replay: which operands lie where, so that reads of what another tensor
// overwrote are found, and accesses beyond an operand within a wider binding. uses[i][j] is of dispatch j of list i, as
// codegen.Result.Uses has them. Lists are known by their records.
func (d *Device) Describe(p *plan.Plan, uses [][][]Use) {}

// Use is an operand of a dispatch: a tensor and where it lies.
type Use = plan.Use
