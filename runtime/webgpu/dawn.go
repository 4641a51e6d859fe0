//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"runtime"
	"unsafe"
)

// Dawn as it follows the stable header, since the end of 2025. It returns errors where wgpu-native ends the process.
func dawnFlavour() flavour {
	return flavour{
		name:      "Dawn",
		detect:    fnDeviceTick,
		needs:     []symbol{fnInstanceAddRef, fnInstanceWaitAny, fnQueueSubmit},
		tried:     "0.32.0.4",
		f16:       0x0000000B, // the header's numbers
		subgroups: 0x00000012,
		scopes:    []uintptr{filterValidation, filterOutOfMemory, filterInternal},
		futures:   true,
		lostMode:  allowSpontaneous,
		version:   dawnVersion,
		instance:  dawnInstance,
		adapters:  dawnAdapters,
		submit: func(a *api, q queue, list []commandBuffer) uint64 {
			call(a.addr[fnQueueSubmit], uintptr(q), uintptr(len(list)), uintptr(unsafe.Pointer(unsafe.SliceData(list))))
			return 0
		},
		wait: func(a *api, i instance, _ device, f uint64) {
			call(a.addr[fnInstanceWaitAny], uintptr(i), 1, uintptr(unsafe.Pointer(&futureWaitInfo{future: future{f}})), uintptr(forever))
		},
	}
}

// forever is a time-out in nanoseconds that never comes.
const forever = 1<<64 - 1

// dawnVersion returns the version of the package that Dawn was taken from, which the stub knows; Dawn itself tells none.
func dawnVersion(_ *api, lookup func(string) uintptr) (string, error) {
	fn := lookup("kgen_dawn_version")
	if fn == 0 {
		return "of unknown version", nil
	}
	return cString(call(fn)), nil
}

// dawnInstance asks for waits with a time-out, without which WaitAny does not sleep, and for adapters that can open more
// than one device.
func dawnInstance(a *api) instance {
	features := []uint32{instanceTimedWaitAny, instanceMultipleDevicesOfAdapter}
	return a.createInstance(&instanceDescriptor{featureCount: uintptr(len(features)), features: unsafe.SliceData(features)})
}

// dawnAdapters asks for the fastest adapter, the thriftiest and a software one: Dawn lists none, it returns one for each
// request. Those that came before are left out.
func dawnAdapters(a *api, i instance) ([]adapter, string) {
	mail := newMailbox()
	defer mail.close()
	var list []adapter
	var seen []adapterKey
	why := ""
	backend := map[string]uint32{"linux": backendTypeVk, "darwin": backendTypeMetal, "windows": backendTypeD3D12}[runtime.GOOS]
	for _, o := range []requestAdapterOptions{{powerPreference: powerHigh}, {powerPreference: powerLow}, {forceFallbackAdapter: 1}} {
		o.featureLevel, o.backendType = levelCore, backend
		// On NVIDIA's driver Dawn offers f16 only when asked like this. Kernels with f16 were right there, see the package's tests.
		name := cText("vulkan_enable_f16_on_nvidia")
		toggles := &togglesDescriptor{chain: chain{sType: typeDawnToggles}, enabledCount: 1, enabled: &name}
		o.next = &toggles.chain
		r := mail.request(func() {
			f := a.requestAdapter(i, unsafe.Pointer(&o), callbackInfo{mode: allowProcessEvents, callback: a.callbacks.reply, user1: mail.id})
			a.flavour.wait(a, i, 0, f.id)
		})
		if !r.done || r.status != statusSuccess || r.value == 0 {
			if why == "" {
				why = oneLine(r.text)
			}
			continue
		}
		h := created[adapter](a, r.value)
		key, ok := a.adapterKey(h)
		for _, k := range seen {
			ok = ok && k != key
		}
		if !ok {
			release(a, fnAdapterRelease, h)
			continue
		}
		list, seen = append(list, h), append(seen, key)
	}
	return list, why
}

// adapterKey tells adapters apart.
type adapterKey struct {
	name, driver     string
	vendor, id, kind uint32
}

func (a *api) adapterKey(h adapter) (adapterKey, bool) {
	info := new(adapterInfo)
	if !a.adapterInfo(h, info) {
		return adapterKey{}, false
	}
	defer a.adapterInfoFree(*info)
	return adapterKey{info.device.String(), info.description.String(), info.vendorID, info.deviceID, info.adapterType}, true
}

// cText returns the address of a copy of s that ends in NUL.
func cText(s string) *byte { return unsafe.SliceData(append([]byte(s), 0)) }

// cString copies a text of the library that ends in NUL.
func cString(address uintptr) string {
	return stringView{*(**byte)(unsafe.Pointer(&address)), untilNUL}.String()
}
