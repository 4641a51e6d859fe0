package plan

import "context"

// Handle names an object of a Backend: a buffer, a pipeline or a bind group. Handles of each sort count from 0.
type Handle uint32

// Device describes what a Backend runs on.
type Device struct {
	Kind         string // gpu, software, sim
	Name         string // the adapter's name
	API          string // vulkan, metal, d3d12; empty for none
	Library      string // library and version
	Driver       string
	Limits       Limits // what the device grants
	Subgroups    bool
	SubgroupSize int // measured; 0 when it varies, was not measured, or consecutive invocations do not form a subgroup
	F16          bool

	// LoopTrips is how often all loops of one invocation go round together before the device ends them without a word, each loop's last
	// look at its condition counted as a trip. 0 when no such cap was found.
	LoopTrips int
	// BadPackedDot says that dot4I8Packed was seen to give wrong sums.
	BadPackedDot bool
}

// Backend runs kernels: a WebGPU library, a browser, or the simulator. Methods may be called from any goroutine; calls
// take effect in the order they return. Errors are typed: *LimitError, *KernelError, *DeviceError, and *PlanError for what
// no plan of a Builder asks for.
type Backend interface {
	Device() Device

	// NewBuffer allocates a zeroed buffer.
	NewBuffer(b Buffer) (Handle, error)
	// Write copies data, a multiple of 4 bytes at an offset that is one too, into a buffer before any later submit.
	Write(buffer Handle, offset uint64, data []byte) error
	// NewPipeline compiles a kernel. With trusted set, a kernel that is Proved loses its bounds checks.
	NewPipeline(k *Kernel, trusted bool) (Handle, error)
	// NewGroup makes a bind group for kernels whose accesses are layout; ranges name buffers by their handles.
	NewGroup(layout []Access, ranges []Range) (Handle, error)

	// Submit encodes the work and hands it to the device in one submit, without waiting.
	Submit(w Work) (Ticket, error)
	// Wait blocks until the work of t is done and returns the bytes of its reads, one after another. A second Wait for
	// the same ticket is an error, unless the first was ended by its context.
	Wait(ctx context.Context, t Ticket) ([]byte, error)

	// Stats returns what was counted since the backend was opened.
	Stats() Stats

	// Close frees everything; later calls return an error. It may be called twice.
	Close() error
}

// Work is one submit: lists of records, replayed in order, then copies out.
type Work struct {
	// Replays hold records whose kernels and groups are the backend's handles. Each is encoded in command buffers of
	// its own, one compute pass each.
	Replays [][]uint32
	// Reads are copied after the last replay; their ranges name buffers by handle.
	Reads []Range
}

// Ticket names a submit.
type Ticket uint64

// Stats counts what a backend did since it was opened. Times are wall-clock nanoseconds of the calling goroutine.
type Stats struct {
	Dispatches, Submits, Syncs int64
	EncodeNanos, SyncNanos     int64
	WrittenBytes, ReadBytes    int64
}
