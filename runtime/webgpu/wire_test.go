//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"testing"
	"unsafe"
)

// TestWireLayout compares every wire struct with sizes and offsets that a C compiler (gcc 12, x86-64) printed from webgpu.h
// and wgpu.h of wgpu-native 29.0.1.1, for Dawn's own from the headers in wgpudawn 0.32.0.4, by sizeof and offsetof. Struct rules are the same on all 64-bit targets.
func TestWireLayout(t *testing.T) {
	type offset struct {
		field     string
		got, want uintptr
	}
	for _, s := range []struct {
		name      string
		got, want uintptr
		offsets   []offset
	}{
		{"WGPUStringView", unsafe.Sizeof(stringView{}), 16, []offset{
			{"data", unsafe.Offsetof(stringView{}.data), 0},
			{"length", unsafe.Offsetof(stringView{}.length), 8},
		}},
		{"WGPUChainedStruct", unsafe.Sizeof(chain{}), 16, []offset{
			{"next", unsafe.Offsetof(chain{}.next), 0},
			{"sType", unsafe.Offsetof(chain{}.sType), 8},
		}},
		{"WGPUInstanceDescriptor", unsafe.Sizeof(instanceDescriptor{}), 32, []offset{
			{"next", unsafe.Offsetof(instanceDescriptor{}.next), 0},
			{"featureCount", unsafe.Offsetof(instanceDescriptor{}.featureCount), 8},
			{"features", unsafe.Offsetof(instanceDescriptor{}.features), 16},
			{"limits", unsafe.Offsetof(instanceDescriptor{}.limits), 24},
		}},
		{"WGPUInstanceExtras", unsafe.Sizeof(instanceExtras{}), 112, []offset{
			{"chain", unsafe.Offsetof(instanceExtras{}.chain), 0},
			{"backends", unsafe.Offsetof(instanceExtras{}.backends), 16},
			{"flags", unsafe.Offsetof(instanceExtras{}.flags), 24},
			{"dx12Compiler", unsafe.Offsetof(instanceExtras{}.dx12Compiler), 32},
			{"gles3MinorVersion", unsafe.Offsetof(instanceExtras{}.gles3MinorVersion), 36},
			{"glFence", unsafe.Offsetof(instanceExtras{}.glFence), 40},
			{"dxcPath", unsafe.Offsetof(instanceExtras{}.dxcPath), 48},
			{"dxcModel", unsafe.Offsetof(instanceExtras{}.dxcModel), 64},
			{"dx12Presentation", unsafe.Offsetof(instanceExtras{}.dx12Presentation), 68},
			{"budgetForCreation", unsafe.Offsetof(instanceExtras{}.budgetForCreation), 72},
			{"budgetForLoss", unsafe.Offsetof(instanceExtras{}.budgetForLoss), 80},
			{"displayKind", unsafe.Offsetof(instanceExtras{}.displayKind), 88},
		}},
		{"WGPUInstanceEnumerateAdapterOptions", unsafe.Sizeof(enumerateOptions{}), 16, []offset{
			{"next", unsafe.Offsetof(enumerateOptions{}.next), 0},
			{"backends", unsafe.Offsetof(enumerateOptions{}.backends), 8},
		}},
		{"WGPURequestAdapterOptions", unsafe.Sizeof(requestAdapterOptions{}), 32, []offset{
			{"featureLevel", unsafe.Offsetof(requestAdapterOptions{}.featureLevel), 8},
			{"powerPreference", unsafe.Offsetof(requestAdapterOptions{}.powerPreference), 12},
			{"forceFallbackAdapter", unsafe.Offsetof(requestAdapterOptions{}.forceFallbackAdapter), 16},
			{"backendType", unsafe.Offsetof(requestAdapterOptions{}.backendType), 20},
			{"surface", unsafe.Offsetof(requestAdapterOptions{}.surface), 24},
		}},
		{"WGPUDawnTogglesDescriptor", unsafe.Sizeof(togglesDescriptor{}), 48, []offset{
			{"enabledCount", unsafe.Offsetof(togglesDescriptor{}.enabledCount), 16},
			{"enabled", unsafe.Offsetof(togglesDescriptor{}.enabled), 24},
			{"disabledCount", unsafe.Offsetof(togglesDescriptor{}.disabledCount), 32},
			{"disabled", unsafe.Offsetof(togglesDescriptor{}.disabled), 40},
		}},
		{"WGPUFutureWaitInfo", unsafe.Sizeof(futureWaitInfo{}), 16, []offset{
			{"completed", unsafe.Offsetof(futureWaitInfo{}.completed), 8},
		}},
		{"WGPUAdapterInfo", unsafe.Sizeof(adapterInfo{}), 96, []offset{
			{"next", unsafe.Offsetof(adapterInfo{}.next), 0},
			{"vendor", unsafe.Offsetof(adapterInfo{}.vendor), 8},
			{"architecture", unsafe.Offsetof(adapterInfo{}.architecture), 24},
			{"device", unsafe.Offsetof(adapterInfo{}.device), 40},
			{"description", unsafe.Offsetof(adapterInfo{}.description), 56},
			{"backendType", unsafe.Offsetof(adapterInfo{}.backendType), 72},
			{"adapterType", unsafe.Offsetof(adapterInfo{}.adapterType), 76},
			{"vendorID", unsafe.Offsetof(adapterInfo{}.vendorID), 80},
			{"deviceID", unsafe.Offsetof(adapterInfo{}.deviceID), 84},
			{"subgroupMin", unsafe.Offsetof(adapterInfo{}.subgroupMin), 88},
			{"subgroupMax", unsafe.Offsetof(adapterInfo{}.subgroupMax), 92},
		}},
		{"WGPUSupportedFeatures", unsafe.Sizeof(supportedFeatures{}), 16, []offset{
			{"count", unsafe.Offsetof(supportedFeatures{}.count), 0},
			{"features", unsafe.Offsetof(supportedFeatures{}.features), 8},
		}},
		{"WGPULimits", unsafe.Sizeof(limits{}), 152, []offset{
			{"next", unsafe.Offsetof(limits{}.next), 0},
			{"textureDimension1D", unsafe.Offsetof(limits{}.textureDimension1D), 8},
			{"textureDimension2D", unsafe.Offsetof(limits{}.textureDimension2D), 12},
			{"textureDimension3D", unsafe.Offsetof(limits{}.textureDimension3D), 16},
			{"textureArrayLayers", unsafe.Offsetof(limits{}.textureArrayLayers), 20},
			{"bindGroups", unsafe.Offsetof(limits{}.bindGroups), 24},
			{"bindGroupsAndVertexBuffers", unsafe.Offsetof(limits{}.bindGroupsAndVertexBuffers), 28},
			{"bindingsPerBindGroup", unsafe.Offsetof(limits{}.bindingsPerBindGroup), 32},
			{"dynamicUniformBuffers", unsafe.Offsetof(limits{}.dynamicUniformBuffers), 36},
			{"dynamicStorageBuffers", unsafe.Offsetof(limits{}.dynamicStorageBuffers), 40},
			{"sampledTextures", unsafe.Offsetof(limits{}.sampledTextures), 44},
			{"samplers", unsafe.Offsetof(limits{}.samplers), 48},
			{"storageBuffers", unsafe.Offsetof(limits{}.storageBuffers), 52},
			{"storageTextures", unsafe.Offsetof(limits{}.storageTextures), 56},
			{"uniformBuffers", unsafe.Offsetof(limits{}.uniformBuffers), 60},
			{"uniformBindingSize", unsafe.Offsetof(limits{}.uniformBindingSize), 64},
			{"storageBindingSize", unsafe.Offsetof(limits{}.storageBindingSize), 72},
			{"uniformOffsetAlignment", unsafe.Offsetof(limits{}.uniformOffsetAlignment), 80},
			{"storageOffsetAlignment", unsafe.Offsetof(limits{}.storageOffsetAlignment), 84},
			{"vertexBuffers", unsafe.Offsetof(limits{}.vertexBuffers), 88},
			{"bufferSize", unsafe.Offsetof(limits{}.bufferSize), 96},
			{"vertexAttributes", unsafe.Offsetof(limits{}.vertexAttributes), 104},
			{"vertexArrayStride", unsafe.Offsetof(limits{}.vertexArrayStride), 108},
			{"interStageVariables", unsafe.Offsetof(limits{}.interStageVariables), 112},
			{"colorAttachments", unsafe.Offsetof(limits{}.colorAttachments), 116},
			{"colorAttachmentBytes", unsafe.Offsetof(limits{}.colorAttachmentBytes), 120},
			{"workgroupStorage", unsafe.Offsetof(limits{}.workgroupStorage), 124},
			{"workgroupInvocations", unsafe.Offsetof(limits{}.workgroupInvocations), 128},
			{"workgroupX", unsafe.Offsetof(limits{}.workgroupX), 132},
			{"workgroupY", unsafe.Offsetof(limits{}.workgroupY), 136},
			{"workgroupZ", unsafe.Offsetof(limits{}.workgroupZ), 140},
			{"workgroupsPerDimension", unsafe.Offsetof(limits{}.workgroupsPerDimension), 144},
			{"immediateSize", unsafe.Offsetof(limits{}.immediateSize), 148},
		}},
		{"WGPUQueueDescriptor", unsafe.Sizeof(queueDescriptor{}), 24, []offset{
			{"next", unsafe.Offsetof(queueDescriptor{}.next), 0},
			{"label", unsafe.Offsetof(queueDescriptor{}.label), 8},
		}},
		{"WGPUBufferMapCallbackInfo", unsafe.Sizeof(callbackInfo{}), 40, []offset{
			{"next", unsafe.Offsetof(callbackInfo{}.next), 0},
			{"mode", unsafe.Offsetof(callbackInfo{}.mode), 8},
			{"callback", unsafe.Offsetof(callbackInfo{}.callback), 16},
			{"user1", unsafe.Offsetof(callbackInfo{}.user1), 24},
			{"user2", unsafe.Offsetof(callbackInfo{}.user2), 32},
		}},
		{"WGPUDeviceLostCallbackInfo", unsafe.Sizeof(callbackInfo{}), 40, []offset{
			{"next", unsafe.Offsetof(callbackInfo{}.next), 0},
			{"mode", unsafe.Offsetof(callbackInfo{}.mode), 8},
			{"callback", unsafe.Offsetof(callbackInfo{}.callback), 16},
			{"user1", unsafe.Offsetof(callbackInfo{}.user1), 24},
			{"user2", unsafe.Offsetof(callbackInfo{}.user2), 32},
		}},
		{"WGPURequestDeviceCallbackInfo", unsafe.Sizeof(callbackInfo{}), 40, []offset{
			{"next", unsafe.Offsetof(callbackInfo{}.next), 0},
			{"mode", unsafe.Offsetof(callbackInfo{}.mode), 8},
			{"callback", unsafe.Offsetof(callbackInfo{}.callback), 16},
			{"user1", unsafe.Offsetof(callbackInfo{}.user1), 24},
			{"user2", unsafe.Offsetof(callbackInfo{}.user2), 32},
		}},
		{"WGPUPopErrorScopeCallbackInfo", unsafe.Sizeof(callbackInfo{}), 40, []offset{
			{"next", unsafe.Offsetof(callbackInfo{}.next), 0},
			{"mode", unsafe.Offsetof(callbackInfo{}.mode), 8},
			{"callback", unsafe.Offsetof(callbackInfo{}.callback), 16},
			{"user1", unsafe.Offsetof(callbackInfo{}.user1), 24},
			{"user2", unsafe.Offsetof(callbackInfo{}.user2), 32},
		}},
		{"WGPUQueueWorkDoneCallbackInfo", unsafe.Sizeof(callbackInfo{}), 40, []offset{
			{"next", unsafe.Offsetof(callbackInfo{}.next), 0},
			{"mode", unsafe.Offsetof(callbackInfo{}.mode), 8},
			{"callback", unsafe.Offsetof(callbackInfo{}.callback), 16},
			{"user1", unsafe.Offsetof(callbackInfo{}.user1), 24},
			{"user2", unsafe.Offsetof(callbackInfo{}.user2), 32},
		}},
		{"WGPUUncapturedErrorCallbackInfo", unsafe.Sizeof(uncapturedErrorInfo{}), 32, []offset{
			{"next", unsafe.Offsetof(uncapturedErrorInfo{}.next), 0},
			{"callback", unsafe.Offsetof(uncapturedErrorInfo{}.callback), 8},
			{"user1", unsafe.Offsetof(uncapturedErrorInfo{}.user1), 16},
			{"user2", unsafe.Offsetof(uncapturedErrorInfo{}.user2), 24},
		}},
		{"WGPUDeviceDescriptor", unsafe.Sizeof(deviceDescriptor{}), 144, []offset{
			{"next", unsafe.Offsetof(deviceDescriptor{}.next), 0},
			{"label", unsafe.Offsetof(deviceDescriptor{}.label), 8},
			{"featureCount", unsafe.Offsetof(deviceDescriptor{}.featureCount), 24},
			{"features", unsafe.Offsetof(deviceDescriptor{}.features), 32},
			{"limits", unsafe.Offsetof(deviceDescriptor{}.limits), 40},
			{"queue", unsafe.Offsetof(deviceDescriptor{}.queue), 48},
			{"lost", unsafe.Offsetof(deviceDescriptor{}.lost), 72},
			{"uncaptured", unsafe.Offsetof(deviceDescriptor{}.uncaptured), 112},
		}},
		{"WGPUFuture", unsafe.Sizeof(future{}), 8, []offset{
			{"id", unsafe.Offsetof(future{}.id), 0},
		}},
		{"WGPUBufferDescriptor", unsafe.Sizeof(bufferDescriptor{}), 48, []offset{
			{"next", unsafe.Offsetof(bufferDescriptor{}.next), 0},
			{"label", unsafe.Offsetof(bufferDescriptor{}.label), 8},
			{"usage", unsafe.Offsetof(bufferDescriptor{}.usage), 24},
			{"size", unsafe.Offsetof(bufferDescriptor{}.size), 32},
			{"mappedAtCreation", unsafe.Offsetof(bufferDescriptor{}.mappedAtCreation), 40},
		}},
		{"WGPUShaderModuleDescriptor", unsafe.Sizeof(shaderModuleDescriptor{}), 24, []offset{
			{"next", unsafe.Offsetof(shaderModuleDescriptor{}.next), 0},
			{"label", unsafe.Offsetof(shaderModuleDescriptor{}.label), 8},
		}},
		{"WGPUShaderSourceWGSL", unsafe.Sizeof(sourceWGSL{}), 32, []offset{
			{"chain", unsafe.Offsetof(sourceWGSL{}.chain), 0},
			{"code", unsafe.Offsetof(sourceWGSL{}.code), 16},
		}},
		{"WGPUBufferBindingLayout", unsafe.Sizeof(bufferBindingLayout{}), 24, []offset{
			{"next", unsafe.Offsetof(bufferBindingLayout{}.next), 0},
			{"kind", unsafe.Offsetof(bufferBindingLayout{}.kind), 8},
			{"hasDynamicOffset", unsafe.Offsetof(bufferBindingLayout{}.hasDynamicOffset), 12},
			{"minBindingSize", unsafe.Offsetof(bufferBindingLayout{}.minBindingSize), 16},
		}},
		{"WGPUBindGroupLayoutEntry", unsafe.Sizeof(bindGroupLayoutEntry{}), 120, []offset{
			{"next", unsafe.Offsetof(bindGroupLayoutEntry{}.next), 0},
			{"binding", unsafe.Offsetof(bindGroupLayoutEntry{}.binding), 8},
			{"visibility", unsafe.Offsetof(bindGroupLayoutEntry{}.visibility), 16},
			{"bindingArraySize", unsafe.Offsetof(bindGroupLayoutEntry{}.bindingArraySize), 24},
			{"buffer", unsafe.Offsetof(bindGroupLayoutEntry{}.buffer), 32},
			{"sampler", unsafe.Offsetof(bindGroupLayoutEntry{}.sampler), 56},
			{"texture", unsafe.Offsetof(bindGroupLayoutEntry{}.texture), 72},
			{"storageTexture", unsafe.Offsetof(bindGroupLayoutEntry{}.storageTexture), 96},
		}},
		{"WGPUBindGroupLayoutDescriptor", unsafe.Sizeof(bindGroupLayoutDescriptor{}), 40, []offset{
			{"next", unsafe.Offsetof(bindGroupLayoutDescriptor{}.next), 0},
			{"label", unsafe.Offsetof(bindGroupLayoutDescriptor{}.label), 8},
			{"entryCount", unsafe.Offsetof(bindGroupLayoutDescriptor{}.entryCount), 24},
			{"entries", unsafe.Offsetof(bindGroupLayoutDescriptor{}.entries), 32},
		}},
		{"WGPUPipelineLayoutDescriptor", unsafe.Sizeof(pipelineLayoutDescriptor{}), 48, []offset{
			{"next", unsafe.Offsetof(pipelineLayoutDescriptor{}.next), 0},
			{"label", unsafe.Offsetof(pipelineLayoutDescriptor{}.label), 8},
			{"layoutCount", unsafe.Offsetof(pipelineLayoutDescriptor{}.layoutCount), 24},
			{"layouts", unsafe.Offsetof(pipelineLayoutDescriptor{}.layouts), 32},
			{"immediateSize", unsafe.Offsetof(pipelineLayoutDescriptor{}.immediateSize), 40},
		}},
		{"WGPUBindGroupEntry", unsafe.Sizeof(bindGroupEntry{}), 56, []offset{
			{"next", unsafe.Offsetof(bindGroupEntry{}.next), 0},
			{"binding", unsafe.Offsetof(bindGroupEntry{}.binding), 8},
			{"buffer", unsafe.Offsetof(bindGroupEntry{}.buffer), 16},
			{"offset", unsafe.Offsetof(bindGroupEntry{}.offset), 24},
			{"size", unsafe.Offsetof(bindGroupEntry{}.size), 32},
			{"sampler", unsafe.Offsetof(bindGroupEntry{}.sampler), 40},
			{"textureView", unsafe.Offsetof(bindGroupEntry{}.textureView), 48},
		}},
		{"WGPUBindGroupDescriptor", unsafe.Sizeof(bindGroupDescriptor{}), 48, []offset{
			{"next", unsafe.Offsetof(bindGroupDescriptor{}.next), 0},
			{"label", unsafe.Offsetof(bindGroupDescriptor{}.label), 8},
			{"layout", unsafe.Offsetof(bindGroupDescriptor{}.layout), 24},
			{"entryCount", unsafe.Offsetof(bindGroupDescriptor{}.entryCount), 32},
			{"entries", unsafe.Offsetof(bindGroupDescriptor{}.entries), 40},
		}},
		{"WGPUComputeState", unsafe.Sizeof(computeState{}), 48, []offset{
			{"next", unsafe.Offsetof(computeState{}.next), 0},
			{"module", unsafe.Offsetof(computeState{}.module), 8},
			{"entryPoint", unsafe.Offsetof(computeState{}.entryPoint), 16},
			{"constantCount", unsafe.Offsetof(computeState{}.constantCount), 32},
			{"constants", unsafe.Offsetof(computeState{}.constants), 40},
		}},
		{"WGPUComputePipelineDescriptor", unsafe.Sizeof(computePipelineDescriptor{}), 80, []offset{
			{"next", unsafe.Offsetof(computePipelineDescriptor{}.next), 0},
			{"label", unsafe.Offsetof(computePipelineDescriptor{}.label), 8},
			{"layout", unsafe.Offsetof(computePipelineDescriptor{}.layout), 24},
			{"compute", unsafe.Offsetof(computePipelineDescriptor{}.compute), 32},
		}},
	} {
		if s.got != s.want {
			t.Errorf("%s has %d bytes, want %d", s.name, s.got, s.want)
		}
		for _, o := range s.offsets {
			if o.got != o.want {
				t.Errorf("%s.%s is at %d, want %d", s.name, o.field, o.got, o.want)
			}
		}
	}
}
