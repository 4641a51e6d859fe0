//go:build !nogpu && (linux || darwin || (windows && arm64)) && (amd64 || arm64) && !android

package webgpu

import "github.com/ebitengine/purego"

// On these platforms a WGPUStringView passed by value takes two integer registers, so it is declared as two words.
func makeCallbacks() *callbacks {
	return &callbacks{
		reply: purego.NewCallback(func(status uint32, value uintptr, data *byte, n, id, _ uintptr) uintptr {
			return onReply(status, value, stringView{data, n}.String(), id)
		}),
		scope: purego.NewCallback(func(status, kind uint32, data *byte, n, id, _ uintptr) uintptr {
			return onReply(status, uintptr(kind), stringView{data, n}.String(), id)
		}),
		finished: purego.NewCallback(func(status uint32, data *byte, n, id, ticket uintptr) uintptr {
			return onFinished(status, stringView{data, n}.String(), id, ticket)
		}),
		uncaptured: purego.NewCallback(func(_ uintptr, kind uint32, data *byte, n, id, _ uintptr) uintptr {
			return onUncaptured(kind, stringView{data, n}.String(), id)
		}),
		lost: purego.NewCallback(func(_ uintptr, reason uint32, data *byte, n, id, _ uintptr) uintptr {
			return onLost(reason, stringView{data, n}.String(), id)
		}),
	}
}
