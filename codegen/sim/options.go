package sim

import "github.com/kgen-wgsl/kgen/runtime/plan"

// Options say how a program runs. The zero value is the strictest: subgroups of 32, memory of workgroups poisoned, indices out of
// bounds clamped, WebGPU's default limits.
type Options struct {
	// SubgroupSize is 4, 8, 16, 32, 64 or 128; 0 means 32. Invocations form subgroups in the order of their local_invocation_index.
	SubgroupSize int
	// Limits are what the program is held to; zero fields are WebGPU's defaults.
	Limits plan.Limits
	// ZeroWorkgroup lets workgroup memory start as zero, as WGSL says it does. Without it, a read of what no invocation wrote is a
	// finding.
	ZeroWorkgroup bool
	// Trap ends the run at the first access out of bounds. Without it, an index is clamped to the last element.
	Trap bool
	// LoopTrips is the number of trips, of all loops of one invocation together and with each loop's last look at its condition,
	// above which there is a finding: 0 means 65535, the cap of a software driver that is in wide use; below 0 there is none.
	LoopTrips int
	// StopTrips is the number of trips after which an invocation is taken to loop for ever, and the run ends; 0 means 1048576.
	StopTrips int
	// Workers is the number of workgroups that run at the same time; 0 means one for each processor.
	Workers int
	// Seed orders the workgroups.
	Seed uint64
	// Groups, when not nil, says which workgroups of the grid run, by their linear index x + X·(y + Y·z).
	Groups func(linear int) bool
}

// SubgroupSizes are the sizes that devices have.
func SubgroupSizes() []int { return []int{4, 8, 16, 32, 64, 128} }

const (
	defaultSubgroup  = 32
	defaultLoopTrips = 65535
	defaultStopTrips = 1 << 20
)
