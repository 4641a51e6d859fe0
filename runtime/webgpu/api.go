//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// symbol numbers the functions that are called by address.
type symbol int

// The functions bound in every library. Those that a library has but does not implement stay out: wgpu-native ends the
// process in them (SetLabel, InstanceWaitAny, GetProcAddress, ShaderModuleGetCompilationInfo and others).
const (
	fnCreateInstance symbol = iota
	fnInstanceRelease
	fnAdapterGetInfo
	fnAdapterGetLimits
	fnAdapterGetFeatures
	fnAdapterRelease
	fnDeviceGetLimits
	fnDeviceGetQueue
	fnDevicePushErrorScope
	fnDeviceDestroy
	fnDeviceRelease
	fnDeviceCreateBuffer
	fnDeviceCreateShaderModule
	fnDeviceCreateBindGroupLayout
	fnDeviceCreatePipelineLayout
	fnDeviceCreateComputePipeline
	fnDeviceCreateBindGroup
	fnDeviceCreateCommandEncoder
	fnBufferGetConstMappedRange
	fnBufferUnmap
	fnBufferDestroy
	fnBufferRelease
	fnShaderModuleRelease
	fnBindGroupLayoutRelease
	fnPipelineLayoutRelease
	fnComputePipelineRelease
	fnBindGroupRelease
	fnCommandEncoderBeginComputePass
	fnCommandEncoderCopyBufferToBuffer
	fnCommandEncoderFinish
	fnCommandEncoderRelease
	fnComputePassSetPipeline
	fnComputePassSetBindGroup
	fnComputePassDispatch
	fnComputePassEnd
	fnComputePassRelease
	fnCommandBufferRelease
	fnQueueWriteBuffer
	fnQueueRelease
	commonSymbols // below are functions of one library

	fnGetVersion
	fnInstanceEnumerateAdapters
	fnDevicePoll
	fnQueueSubmitForIndex
	fnDeviceCreateShaderModuleTrusted
	fnInstanceAddRef
	fnInstanceWaitAny
	fnQueueSubmit
	fnDeviceTick
	symbols
)

var symbolNames = [symbols]string{
	fnCreateInstance:                   "wgpuCreateInstance",
	fnInstanceRelease:                  "wgpuInstanceRelease",
	fnAdapterGetInfo:                   "wgpuAdapterGetInfo",
	fnAdapterGetLimits:                 "wgpuAdapterGetLimits",
	fnAdapterGetFeatures:               "wgpuAdapterGetFeatures",
	fnAdapterRelease:                   "wgpuAdapterRelease",
	fnDeviceGetLimits:                  "wgpuDeviceGetLimits",
	fnDeviceGetQueue:                   "wgpuDeviceGetQueue",
	fnDevicePushErrorScope:             "wgpuDevicePushErrorScope",
	fnDeviceDestroy:                    "wgpuDeviceDestroy",
	fnDeviceRelease:                    "wgpuDeviceRelease",
	fnDeviceCreateBuffer:               "wgpuDeviceCreateBuffer",
	fnDeviceCreateShaderModule:         "wgpuDeviceCreateShaderModule",
	fnDeviceCreateBindGroupLayout:      "wgpuDeviceCreateBindGroupLayout",
	fnDeviceCreatePipelineLayout:       "wgpuDeviceCreatePipelineLayout",
	fnDeviceCreateComputePipeline:      "wgpuDeviceCreateComputePipeline",
	fnDeviceCreateBindGroup:            "wgpuDeviceCreateBindGroup",
	fnDeviceCreateCommandEncoder:       "wgpuDeviceCreateCommandEncoder",
	fnBufferGetConstMappedRange:        "wgpuBufferGetConstMappedRange",
	fnBufferUnmap:                      "wgpuBufferUnmap",
	fnBufferDestroy:                    "wgpuBufferDestroy",
	fnBufferRelease:                    "wgpuBufferRelease",
	fnShaderModuleRelease:              "wgpuShaderModuleRelease",
	fnBindGroupLayoutRelease:           "wgpuBindGroupLayoutRelease",
	fnPipelineLayoutRelease:            "wgpuPipelineLayoutRelease",
	fnComputePipelineRelease:           "wgpuComputePipelineRelease",
	fnBindGroupRelease:                 "wgpuBindGroupRelease",
	fnCommandEncoderBeginComputePass:   "wgpuCommandEncoderBeginComputePass",
	fnCommandEncoderCopyBufferToBuffer: "wgpuCommandEncoderCopyBufferToBuffer",
	fnCommandEncoderFinish:             "wgpuCommandEncoderFinish",
	fnCommandEncoderRelease:            "wgpuCommandEncoderRelease",
	fnComputePassSetPipeline:           "wgpuComputePassEncoderSetPipeline",
	fnComputePassSetBindGroup:          "wgpuComputePassEncoderSetBindGroup",
	fnComputePassDispatch:              "wgpuComputePassEncoderDispatchWorkgroups",
	fnComputePassEnd:                   "wgpuComputePassEncoderEnd",
	fnComputePassRelease:               "wgpuComputePassEncoderRelease",
	fnCommandBufferRelease:             "wgpuCommandBufferRelease",
	fnQueueWriteBuffer:                 "wgpuQueueWriteBuffer",
	fnQueueRelease:                     "wgpuQueueRelease",
	fnGetVersion:                       "wgpuGetVersion",
	fnInstanceEnumerateAdapters:        "wgpuInstanceEnumerateAdapters",
	fnDevicePoll:                       "wgpuDevicePoll",
	fnQueueSubmitForIndex:              "wgpuQueueSubmitForIndex",
	fnDeviceCreateShaderModuleTrusted:  "wgpuDeviceCreateShaderModuleTrusted",
	fnInstanceAddRef:                   "wgpuInstanceAddRef",
	fnInstanceWaitAny:                  "wgpuInstanceWaitAny",
	fnQueueSubmit:                      "wgpuQueueSubmit",
	fnDeviceTick:                       "wgpuDeviceTick",
}

// api is one loaded library: addresses of its functions, and a count of the objects it handed out that are not released.
type api struct {
	flavour *flavour
	version string
	addr    [symbols]uintptr
	live    atomic.Int64

	// Functions that take a struct by value go through purego's slower way; none is called per dispatch.
	requestAdapter  func(instance, unsafe.Pointer, callbackInfo) future
	requestDevice   func(adapter, unsafe.Pointer, callbackInfo) future
	popErrorScope   func(device, callbackInfo) future
	mapAsync        func(buffer, uint64, uintptr, uintptr, callbackInfo) future
	adapterInfoFree func(adapterInfo)
	featuresFree    func(supportedFeatures)
	onSubmittedWork func(queue, callbackInfo) future
	callbacks       *callbacks
}

// call calls a C function. The directive keeps what the arguments point to on the heap and alive until it returns, for
// arguments of the form uintptr(unsafe.Pointer(p)) written in the call itself.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// created counts an object that the library made.
func created[H ~uintptr](a *api, h uintptr) H {
	if h != 0 {
		a.live.Add(1)
	}
	return H(h)
}

// release gives an object back; zero is none.
func release[H ~uintptr](a *api, fn symbol, h H) {
	if h != 0 {
		a.live.Add(-1)
		call(a.addr[fn], uintptr(h))
	}
}

func (a *api) createInstance(d *instanceDescriptor) instance {
	return created[instance](a, call(a.addr[fnCreateInstance], uintptr(unsafe.Pointer(d))))
}

func (a *api) adapterInfo(h adapter, info *adapterInfo) bool {
	return uint32(call(a.addr[fnAdapterGetInfo], uintptr(h), uintptr(unsafe.Pointer(info)))) == statusSuccess
}

func (a *api) adapterLimits(h adapter, l *limits) bool {
	return uint32(call(a.addr[fnAdapterGetLimits], uintptr(h), uintptr(unsafe.Pointer(l)))) == statusSuccess
}

func (a *api) deviceLimits(h device, l *limits) bool {
	return uint32(call(a.addr[fnDeviceGetLimits], uintptr(h), uintptr(unsafe.Pointer(l)))) == statusSuccess
}

func (a *api) adapterFeatures(h adapter) []uint32 {
	f := new(supportedFeatures)
	call(a.addr[fnAdapterGetFeatures], uintptr(h), uintptr(unsafe.Pointer(f)))
	if f.count == 0 {
		return nil
	}
	list := append([]uint32(nil), unsafe.Slice(f.features, f.count)...)
	a.featuresFree(*f)
	return list
}

func (a *api) createBuffer(d device, desc *bufferDescriptor) buffer {
	return created[buffer](a, call(a.addr[fnDeviceCreateBuffer], uintptr(d), uintptr(unsafe.Pointer(desc))))
}

func (a *api) createShaderModule(d device, desc *shaderModuleDescriptor) shaderModule {
	return created[shaderModule](a, call(a.addr[fnDeviceCreateShaderModule], uintptr(d), uintptr(unsafe.Pointer(desc))))
}

func (a *api) createBindGroupLayout(d device, desc *bindGroupLayoutDescriptor) bindGroupLayout {
	return created[bindGroupLayout](a, call(a.addr[fnDeviceCreateBindGroupLayout], uintptr(d), uintptr(unsafe.Pointer(desc))))
}

func (a *api) createPipelineLayout(d device, desc *pipelineLayoutDescriptor) pipelineLayout {
	return created[pipelineLayout](a, call(a.addr[fnDeviceCreatePipelineLayout], uintptr(d), uintptr(unsafe.Pointer(desc))))
}

func (a *api) createComputePipeline(d device, desc *computePipelineDescriptor) computePipeline {
	return created[computePipeline](a, call(a.addr[fnDeviceCreateComputePipeline], uintptr(d), uintptr(unsafe.Pointer(desc))))
}

func (a *api) createBindGroup(d device, desc *bindGroupDescriptor) bindGroup {
	return created[bindGroup](a, call(a.addr[fnDeviceCreateBindGroup], uintptr(d), uintptr(unsafe.Pointer(desc))))
}

func (a *api) createCommandEncoder(d device) commandEncoder {
	return created[commandEncoder](a, call(a.addr[fnDeviceCreateCommandEncoder], uintptr(d), 0))
}

func (a *api) beginComputePass(e commandEncoder) computePass {
	return created[computePass](a, call(a.addr[fnCommandEncoderBeginComputePass], uintptr(e), 0))
}

func (a *api) copyBuffer(e commandEncoder, from buffer, fromAt uint64, to buffer, toAt, bytes uint64) {
	call(a.addr[fnCommandEncoderCopyBufferToBuffer], uintptr(e), uintptr(from), uintptr(fromAt), uintptr(to), uintptr(toAt), uintptr(bytes))
}

func (a *api) finish(e commandEncoder) commandBuffer {
	return created[commandBuffer](a, call(a.addr[fnCommandEncoderFinish], uintptr(e), 0))
}

func (a *api) writeBuffer(q queue, to buffer, at uint64, data []byte) {
	call(a.addr[fnQueueWriteBuffer], uintptr(q), uintptr(to), uintptr(at), uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)))
}

// mapped copies bytes of a buffer that is mapped for reading.
func (a *api) mapped(b buffer, dst []byte) bool {
	p := call(a.addr[fnBufferGetConstMappedRange], uintptr(b), 0, uintptr(len(dst)))
	if p == 0 {
		return false
	}
	// The address is the library's memory, not Go's: it stays where it is until Unmap. The detour keeps vet's check of
	// conversions useful for the rest of the file.
	copy(dst, unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), len(dst)))
	return true
}
