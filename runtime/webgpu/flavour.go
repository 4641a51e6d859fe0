//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"runtime"
	"strconv"
	"unsafe"
)

// flavour says how one library differs from another. Everything else follows the header.
type flavour struct {
	name        string
	detect      symbol // a function that this library alone exports
	needs       []symbol
	oldest      uint32 // oldest version that follows the stable header
	newest      uint32 // newest version tried; a later one is used with a warning
	naga        bool   // kernel text is compiled by naga, else by Tint
	f16         uint32 // feature numbers
	subgroups   uint32
	scopes      []uintptr // filters of error scopes, outermost first
	outOfMemory string    // what a validation error says when it means that

	instance func(*api) instance
	adapters func(*api, instance) []adapter
	trusted  func(*api, device, *shaderModuleDescriptor) shaderModule // without bounds checks and loop bounds
	submit   func(*api, queue, []commandBuffer) uint64                // returns a number to wait for
	wait     func(*api, device, uint64)                               // until the numbered submit and all before it are done
}

// flavours lists the libraries that can be used. A library joins by a row here; what it exports decides which row it is.
func flavours() []flavour {
	return []flavour{{
		name:        "wgpu-native",
		detect:      fnGetVersion,
		needs:       []symbol{fnInstanceEnumerateAdapters, fnDevicePoll, fnQueueSubmitForIndex, fnDeviceCreateShaderModuleTrusted},
		oldest:      29 << 24,
		newest:      29<<24 | 0xffffff,
		naga:        true,
		f16:         0x0000000B,                                     // the header's number
		subgroups:   0x00030021,                                     // its own; it does not list the header's 0x12
		scopes:      []uintptr{filterValidation, filterOutOfMemory}, // the third, internal, ends the process
		outOfMemory: "Not enough memory left",
		instance:    nativeInstance,
		adapters:    nativeAdapters,
		trusted: func(a *api, d device, desc *shaderModuleDescriptor) shaderModule {
			return created[shaderModule](a, call(a.addr[fnDeviceCreateShaderModuleTrusted], uintptr(d), uintptr(unsafe.Pointer(desc)), 0))
		},
		submit: func(a *api, q queue, list []commandBuffer) uint64 {
			return uint64(call(a.addr[fnQueueSubmitForIndex], uintptr(q), uintptr(len(list)), uintptr(unsafe.Pointer(unsafe.SliceData(list)))))
		},
		wait: func(a *api, d device, index uint64) {
			call(a.addr[fnDevicePoll], uintptr(d), 1, uintptr(unsafe.Pointer(&index)))
		},
	}}
}

// nativeInstance restricts wgpu-native to the platform's best interface: through OpenGL it would list devices again.
func nativeInstance(a *api) instance {
	backends := map[string]uint64{"linux": backendVulkan, "darwin": backendMetal, "windows": backendDX12 | backendVulkan}[runtime.GOOS]
	extras := &instanceExtras{chain: chain{sType: typeInstanceExtras}, backends: backends, dxcPath: view("")}
	return a.createInstance(&instanceDescriptor{next: &extras.chain})
}

func nativeAdapters(a *api, i instance) []adapter {
	n := call(a.addr[fnInstanceEnumerateAdapters], uintptr(i), 0, 0)
	list := make([]adapter, n+8) // with room for one that is plugged in between the two calls
	n = min(n+8, call(a.addr[fnInstanceEnumerateAdapters], uintptr(i), 0, uintptr(unsafe.Pointer(unsafe.SliceData(list)))))
	a.live.Add(int64(n))
	return list[:n]
}

// versionText writes a version as wgpu-native packs it: a byte each for major, minor, patch and build.
func versionText(v uint32) string {
	s := strconv.Itoa(int(v >> 24))
	for shift := 16; shift >= 0; shift -= 8 {
		s += "." + strconv.Itoa(int(v>>shift&0xff))
	}
	return s
}
