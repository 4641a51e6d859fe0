package kgenrt

import (
	"context"
	"errors"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Code names a kind of failure. Codes are stable: programs match on them.
type Code string

// The codes.
const (
	NoWebGPU         Code = "NO_WEBGPU"
	NoModel          Code = "NO_MODEL"
	UnknownModel     Code = "UNKNOWN_MODEL"
	InvalidModel     Code = "INVALID_MODEL"
	UnsupportedModel Code = "UNSUPPORTED_MODEL"
	InvalidTemplate  Code = "INVALID_TEMPLATE"
	BadRequest       Code = "BAD_REQUEST"
	ContextFull      Code = "CONTEXT_FULL"
	LimitExceeded    Code = "LIMIT_EXCEEDED"
	OutOfMemory      Code = "OUT_OF_MEMORY"
	KernelRefused    Code = "KERNEL_REFUSED"
	DeviceRefused    Code = "DEVICE_REFUSED"
	DeviceLost       Code = "DEVICE_LOST"
	Aborted          Code = "ABORTED"
	GenerationFailed Code = "GENERATION_FAILED"
)

// CodeInfo explains a code: what usually causes it, what to do next, and the HTTP status a server answers with.
type CodeInfo struct {
	Code   Code
	Cause  string
	Fix    string
	Status int
}

// Codes returns the table of all codes, in the order documentation lists them.
func Codes() []CodeInfo {
	return []CodeInfo{
		{NoWebGPU, "no WebGPU library could be loaded, or it offers no adapter",
			"`kgen lib install` gets a library, the system or `make setup` a Vulkan driver; `kgen doctor` tells more; `--device cpu` runs without", 503},
		{NoModel, "the model file does not exist or can't be read", "check the path; `make setup` fetches the demo model", 404},
		{UnknownModel, "the name is neither a file nor a model that kgen knows", "give the path of a GGUF file", 404},
		{InvalidModel, "the model file is damaged or contradicts itself", "fetch the file again; the detail names the field", 422},
		{UnsupportedModel, "the model's architecture or a tensor type is not supported yet",
			"use a file with another quantisation or a model of a supported architecture; `--device cpu` runs some that have no kernels yet", 422},
		{InvalidTemplate, "the model's chat template can't be rendered", "use `--raw` to send the prompt without a template", 422},
		{BadRequest, "an option or argument is out of its range", "correct what the message names", 400},
		{ContextFull, "the tokens do not fit the context", "shorten the prompt, or raise the context with `--ctx`", 413},
		{LimitExceeded, "a kernel or buffer needs more than the device or profile allows",
			"choose another profile with `--profile`, a smaller context with `--ctx`, or another device", 507},
		{OutOfMemory, "the device refused an allocation", "use a smaller context with `--ctx`, a smaller model, or another device", 507},
		{KernelRefused, "the device's shader compiler refused a kernel",
			"report it with the message; `--device cpu` runs without kernels", 500},
		{DeviceRefused, "the device computes wrong results: small kernels with known answers came out otherwise",
			"update its driver, choose another adapter with `--adapter`, or run without with `--device cpu`; `kgen doctor` shows each check", 503},
		{DeviceLost, "the device was lost or closed", "load the model again", 503},
		{Aborted, "the work was cancelled by its caller", "nothing: start it again when it is wanted", 499},
		{GenerationFailed, "the runtime failed in a way it has no better name for", "report it with the message and detail", 500},
	}
}

// Info returns the table row of a code; an unknown code gets the row of GenerationFailed.
func (c Code) Info() CodeInfo {
	table := Codes()
	for _, row := range table {
		if row.Code == c {
			return row
		}
	}
	return table[len(table)-1]
}

// Error is a failure with a code. Err is what it wraps, nil when the message says all.
type Error struct {
	Code    Code
	Message string
	Err     error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Detail returns the text of the wrapped error, empty when there is none.
func (e *Error) Detail() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// newError is the short way to make an Error.
func newError(code Code, message string, err error) *Error {
	return &Error{Code: code, Message: message, Err: err}
}

// Wrap gives an error of a backend, of a context or of package plan its code; doing says what failed. An *Error stays as
// it is, nil stays nil.
func Wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	var typed *Error
	if errors.As(err, &typed) {
		return err
	}
	return newError(codeOf(err), doing, err)
}

func codeOf(err error) Code {
	var limit *plan.LimitError
	var kernel *plan.KernelError
	var device *plan.DeviceError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Aborted
	case errors.As(err, &limit):
		return LimitExceeded
	case errors.As(err, &kernel):
		return KernelRefused
	case errors.As(err, &device):
		return faultCode(device.Fault)
	}
	return GenerationFailed
}

func faultCode(f plan.DeviceFault) Code {
	switch f {
	case plan.NoLibrary, plan.NoAdapter:
		return NoWebGPU
	case plan.OutOfMemory:
		return OutOfMemory
	case plan.Lost, plan.Closed:
		return DeviceLost
	case plan.Miscomputes:
		return DeviceRefused
	}
	return GenerationFailed
}
