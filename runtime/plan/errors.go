package plan

import "strconv"

// LimitError says that something needs more than the device or the profile allows.
type LimitError struct {
	Subject string // the kernel, buffer or binding
	Limit   string // WebGPU's name of the limit, such as maxStorageBuffersPerShaderStage
	Need    uint64
	Have    uint64
}

func (e *LimitError) Error() string {
	return e.Subject + ": needs " + e.Limit + " " + strconv.FormatUint(e.Need, 10) + ", the limit is " + strconv.FormatUint(e.Have, 10)
}

// KernelError says that the device's compiler refused a kernel, or that it can't be used as asked.
type KernelError struct {
	Kernel string
	Detail string // the library's message
}

func (e *KernelError) Error() string { return "kernel " + e.Kernel + ": " + e.Detail }

// PlanError says that a plan breaks a rule of WebGPU or contradicts itself; it is a mistake of whoever built the plan.
type PlanError struct {
	Subject string // the kernel, group, list or buffer
	Detail  string
}

func (e *PlanError) Error() string { return "plan: " + e.Subject + ": " + e.Detail }

// DeviceFault says what went wrong with a device.
type DeviceFault uint8

// The faults.
const (
	NoLibrary   DeviceFault = iota + 1 // no WebGPU library was found or could be loaded
	NoAdapter                          // the library offers no adapter that fits
	OutOfMemory                        // an allocation was refused
	Lost                               // the device is gone
	Closed                             // the backend was closed
	Failed                             // anything else the library reported
	Miscomputes                        // kernels whose answer is known came out wrong
)

// DeviceError is a failure of the device or of the library that drives it.
type DeviceError struct {
	Fault  DeviceFault
	Call   string // what was being done, such as "create buffer kv0"
	Detail string // the library's message
}

func (e *DeviceError) Error() string {
	s := e.Call
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}
