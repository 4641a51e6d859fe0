//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"runtime"
	"strconv"
	"unsafe"
)

// nativeOldest is the first wgpu-native that follows the stable header.
const nativeOldest = 29 << 24

func nativeFlavour() flavour {
	return flavour{
		name:        "wgpu-native",
		detect:      fnGetVersion,
		needs:       []symbol{fnInstanceEnumerateAdapters, fnDevicePoll, fnQueueSubmitForIndex, fnDeviceCreateShaderModuleTrusted},
		tried:       "29.",
		naga:        true,
		f16:         0x0000000B,                                     // the header's number
		subgroups:   0x00030021,                                     // its own; it does not list the header's 0x12
		scopes:      []uintptr{filterValidation, filterOutOfMemory}, // the third, internal, ends the process
		outOfMemory: "Not enough memory left",
		lost:        "Parent device is lost",
		lostMode:    allowProcessEvents,
		version:     nativeVersion,
		instance:    nativeInstance,
		adapters:    nativeAdapters,
		trusted: func(a *api, d device, desc *shaderModuleDescriptor) shaderModule {
			return created[shaderModule](a, call(a.addr[fnDeviceCreateShaderModuleTrusted], uintptr(d), uintptr(unsafe.Pointer(desc)), 0))
		},
		submit: func(a *api, q queue, list []commandBuffer) uint64 {
			return uint64(call(a.addr[fnQueueSubmitForIndex], uintptr(q), uintptr(len(list)), uintptr(unsafe.Pointer(unsafe.SliceData(list)))))
		},
		wait: func(a *api, _ instance, d device, index uint64) {
			call(a.addr[fnDevicePoll], uintptr(d), 1, uintptr(unsafe.Pointer(&index)))
		},
	}
}

// nativeInstance restricts wgpu-native to the platform's best interface: through OpenGL it would list devices again.
func nativeInstance(a *api) instance {
	backends := map[string]uint64{"linux": backendVulkan, "darwin": backendMetal, "windows": backendDX12 | backendVulkan}[runtime.GOOS]
	extras := &instanceExtras{chain: chain{sType: typeInstanceExtras}, backends: backends, dxcPath: view("")}
	return a.createInstance(&instanceDescriptor{next: &extras.chain})
}

func nativeAdapters(a *api, i instance) ([]adapter, string) {
	n := call(a.addr[fnInstanceEnumerateAdapters], uintptr(i), 0, 0)
	list := make([]adapter, n+8) // with room for one that is plugged in between the two calls
	n = min(n+8, call(a.addr[fnInstanceEnumerateAdapters], uintptr(i), 0, uintptr(unsafe.Pointer(unsafe.SliceData(list)))))
	a.live.Add(int64(n))
	return list[:n], ""
}

func nativeVersion(a *api, _ func(string) uintptr) (string, error) {
	v := uint32(call(a.addr[fnGetVersion]))
	if v < nativeOldest {
		return "", refusal("wgpu-native " + versionText(v) + " is too old: " + versionText(nativeOldest) + " is the first that follows the stable header")
	}
	return versionText(v), nil
}

// versionText writes a version as wgpu-native packs it: a byte each for major, minor, patch and build.
func versionText(v uint32) string {
	s := strconv.Itoa(int(v >> 24))
	for shift := 16; shift >= 0; shift -= 8 {
		s += "." + strconv.Itoa(int(v>>shift&0xff))
	}
	return s
}
