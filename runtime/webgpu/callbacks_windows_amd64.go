//go:build !nogpu

package webgpu

import "github.com/ebitengine/purego"

// The x64 convention of Windows passes a struct of 16 bytes by a pointer to a copy, so the view is declared as one.
func makeCallbacks() *callbacks {
	return &callbacks{
		reply: purego.NewCallback(func(status uint32, value uintptr, text *stringView, id, _ uintptr) uintptr {
			return onReply(status, value, text.String(), id)
		}),
		scope: purego.NewCallback(func(status, kind uint32, text *stringView, id, _ uintptr) uintptr {
			return onReply(status, uintptr(kind), text.String(), id)
		}),
		finished: purego.NewCallback(func(status uint32, text *stringView, id, ticket uintptr) uintptr {
			return onFinished(status, text.String(), id, ticket)
		}),
		uncaptured: purego.NewCallback(func(_ uintptr, kind uint32, text *stringView, id, _ uintptr) uintptr {
			return onUncaptured(kind, text.String(), id)
		}),
		lost: purego.NewCallback(func(_ uintptr, reason uint32, text *stringView, id, _ uintptr) uintptr {
			return onLost(reason, text.String(), id)
		}),
	}
}
