//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"strings"
	"unsafe"
)

// The wire structs have the layout of the C structs of the stable webgpu.h (declared stable on 2025-09-23) and of
// wgpu.h 29, on 64-bit platforms. TestWireLayout holds sizes and offsets taken from the headers by a C compiler.
// Pointers in them are Go pointers to memory that C only reads during the call that gets the struct.

// Handles are pointers to objects of the library; zero is none. Each sort has its type, so that they can't be confused.
type (
	instance        uintptr
	adapter         uintptr
	device          uintptr
	queue           uintptr
	buffer          uintptr
	shaderModule    uintptr
	bindGroupLayout uintptr
	pipelineLayout  uintptr
	computePipeline uintptr
	bindGroup       uintptr
	commandEncoder  uintptr
	computePass     uintptr
	commandBuffer   uintptr
)

// stringView is WGPUStringView: bytes that need no end mark; a length of all ones means none, or up to the NUL if data is set.
type stringView struct {
	data   *byte
	length uintptr
}

const untilNUL = ^uintptr(0)

// view makes a stringView of a Go string, which it does not copy.
func view(s string) stringView {
	if s == "" {
		return stringView{nil, untilNUL}
	}
	return stringView{unsafe.StringData(s), uintptr(len(s))}
}

// label makes a stringView of a name of the caller's; libraries take it for UTF-8 unseen.
func label(name string) stringView { return view(strings.ToValidUTF8(name, "\uFFFD")) }

// String copies the text: what a callback gets is gone when it returns.
func (v stringView) String() string {
	if v.data == nil {
		return ""
	}
	n := v.length
	if n == untilNUL {
		for n = 0; *(*byte)(unsafe.Add(unsafe.Pointer(v.data), n)) != 0; n++ {
		}
	}
	return strings.Clone(unsafe.String(v.data, n))
}

type chain struct {
	next  *chain
	sType uint32
	_     uint32
}

// The sTypes in use.
const (
	typeSourceWGSL     = 0x00000002
	typeInstanceExtras = 0x00030004 // wgpu-native 29
	typeDawnToggles    = 0x0005000A // Dawn
)

type instanceDescriptor struct {
	next         *chain
	featureCount uintptr
	features     *uint32
	limits       unsafe.Pointer
}

// instanceExtras is wgpu-native's WGPUInstanceExtras.
type instanceExtras struct {
	chain              chain
	backends           uint64
	flags              uint64
	dx12Compiler       uint32
	gles3MinorVersion  uint32
	glFence            uint32
	_                  uint32
	dxcPath            stringView
	dxcModel           uint32
	dx12Presentation   uint32
	budgetForCreation  *uint8
	budgetForLoss      *uint8
	displayKind        uint32
	_                  uint32
	displayA, displayB uintptr
}

// enumerateOptions is wgpu-native's WGPUInstanceEnumerateAdapterOptions.
type enumerateOptions struct {
	next     *chain
	backends uint64
}

// togglesDescriptor is Dawn's WGPUDawnTogglesDescriptor. The lists hold addresses of texts that end in NUL.
type togglesDescriptor struct {
	chain         chain
	enabledCount  uintptr
	enabled       **byte
	disabledCount uintptr
	disabled      **byte
}

// The values of WGPUInstanceFeatureName in use; Dawn alone is asked for them.
const (
	instanceTimedWaitAny             = 1
	instanceMultipleDevicesOfAdapter = 3
)

type requestAdapterOptions struct {
	next                 *chain
	featureLevel         uint32
	powerPreference      uint32
	forceFallbackAdapter uint32
	backendType          uint32
	surface              uintptr
}

// Values of requestAdapterOptions.
const (
	levelCore        = 2
	powerLow         = 1
	powerHigh        = 2
	backendTypeD3D12 = 4
	backendTypeMetal = 5
	backendTypeVk    = 6
)

// futureWaitInfo is WGPUFutureWaitInfo.
type futureWaitInfo struct {
	future    future
	completed uint32
	_         uint32
}

// The bits of wgpu-native's WGPUInstanceBackend.
const (
	backendVulkan = 1 << 0
	backendMetal  = 1 << 2
	backendDX12   = 1 << 3
)

type adapterInfo struct {
	next         *chain
	vendor       stringView
	architecture stringView
	device       stringView
	description  stringView
	backendType  uint32
	adapterType  uint32
	vendorID     uint32
	deviceID     uint32
	subgroupMin  uint32
	subgroupMax  uint32
}

// The values of WGPUAdapterType.
const (
	adapterDiscrete   = 1
	adapterIntegrated = 2
	adapterCPU        = 3
	adapterUnknown    = 4
)

type supportedFeatures struct {
	count    uintptr
	features *uint32
}

// limits is WGPULimits. Fields of all ones are undefined: the library takes its default.
type limits struct {
	next                       *chain
	textureDimension1D         uint32
	textureDimension2D         uint32
	textureDimension3D         uint32
	textureArrayLayers         uint32
	bindGroups                 uint32
	bindGroupsAndVertexBuffers uint32
	bindingsPerBindGroup       uint32
	dynamicUniformBuffers      uint32
	dynamicStorageBuffers      uint32
	sampledTextures            uint32
	samplers                   uint32
	storageBuffers             uint32
	storageTextures            uint32
	uniformBuffers             uint32
	uniformBindingSize         uint64
	storageBindingSize         uint64
	uniformOffsetAlignment     uint32
	storageOffsetAlignment     uint32
	vertexBuffers              uint32
	bufferSize                 uint64
	vertexAttributes           uint32
	vertexArrayStride          uint32
	interStageVariables        uint32
	colorAttachments           uint32
	colorAttachmentBytes       uint32
	workgroupStorage           uint32
	workgroupInvocations       uint32
	workgroupX                 uint32
	workgroupY                 uint32
	workgroupZ                 uint32
	workgroupsPerDimension     uint32
	immediateSize              uint32
}

type queueDescriptor struct {
	next  *chain
	label stringView
}

// callbackInfo is the shape that all the callback infos with a mode share. It is passed by value.
type callbackInfo struct {
	next     unsafe.Pointer
	mode     uint32
	_        uint32
	callback uintptr
	user1    uintptr
	user2    uintptr
}

// The values of WGPUCallbackMode in use.
const (
	allowProcessEvents = 2 // the callback runs inside calls that process events, never at another time or on another thread
	allowSpontaneous   = 3 // at any time, on any thread
)

type uncapturedErrorInfo struct {
	next     unsafe.Pointer
	callback uintptr
	user1    uintptr
	user2    uintptr
}

type deviceDescriptor struct {
	next         *chain
	label        stringView
	featureCount uintptr
	features     *uint32
	limits       *limits
	queue        queueDescriptor
	lost         callbackInfo
	uncaptured   uncapturedErrorInfo
}

type future struct{ id uint64 }

type bufferDescriptor struct {
	next             *chain
	label            stringView
	usage            uint64
	size             uint64
	mappedAtCreation uint32
	_                uint32
}

// The bits of WGPUBufferUsage in use.
const (
	usageMapRead = 0x01
	usageCopySrc = 0x04
	usageCopyDst = 0x08
	usageUniform = 0x40
	usageStorage = 0x80
)

const mapModeRead = 1

type shaderModuleDescriptor struct {
	next  *sourceWGSL
	label stringView
}

type sourceWGSL struct {
	chain chain
	code  stringView
}

type bufferBindingLayout struct {
	next             *chain
	kind             uint32
	hasDynamicOffset uint32
	minBindingSize   uint64
}

// The values of WGPUBufferBindingType in use.
const (
	bindUniform         = 2
	bindStorage         = 3
	bindReadOnlyStorage = 4
)

const stageCompute = 4

// bindGroupLayoutEntry is WGPUBindGroupLayoutEntry; the layouts of samplers and textures stay zero: not used.
type bindGroupLayoutEntry struct {
	next             *chain
	binding          uint32
	_                uint32
	visibility       uint64
	bindingArraySize uint32
	_                uint32
	buffer           bufferBindingLayout
	sampler          [2]uint64
	texture          [3]uint64
	storageTexture   [3]uint64
}

type bindGroupLayoutDescriptor struct {
	next       *chain
	label      stringView
	entryCount uintptr
	entries    *bindGroupLayoutEntry
}

type pipelineLayoutDescriptor struct {
	next          *chain
	label         stringView
	layoutCount   uintptr
	layouts       *bindGroupLayout
	immediateSize uint32
	_             uint32
}

type bindGroupEntry struct {
	next        *chain
	binding     uint32
	_           uint32
	buffer      buffer
	offset      uint64
	size        uint64
	sampler     uintptr
	textureView uintptr
}

type bindGroupDescriptor struct {
	next       *chain
	label      stringView
	layout     bindGroupLayout
	entryCount uintptr
	entries    *bindGroupEntry
}

type computeState struct {
	next          *chain
	module        shaderModule
	entryPoint    stringView
	constantCount uintptr
	constants     unsafe.Pointer
}

type computePipelineDescriptor struct {
	next    *chain
	label   stringView
	layout  pipelineLayout
	compute computeState
}

// statusSuccess is the value of success in WGPUStatus and in the status of every callback.
const statusSuccess = 1

// The values of WGPUErrorType in use, and one of our own for the loss of the device, which has a callback of its own.
const (
	errorNone        = 1
	errorValidation  = 2
	errorOutOfMemory = 3
	errorLost        = 1 << 31
)

// The values of WGPUErrorFilter.
const (
	filterValidation  = 1
	filterOutOfMemory = 2
	filterInternal    = 3
)
