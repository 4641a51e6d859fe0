//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

// flavour says how one library differs from another. Everything else follows the header.
type flavour struct {
	name        string
	detect      symbol // a function that this library alone exports
	needs       []symbol
	tried       string // versions that start so were tried; another is used with a warning
	naga        bool   // kernel text is compiled by naga, else by Tint
	f16         uint32 // feature numbers
	subgroups   uint32
	scopes      []uintptr // filters of error scopes, outermost first
	outOfMemory string    // how a validation error ends that means that; empty if there is a type for it
	lost        string    // how an error ends that means the loss of the device; empty if the callback alone tells of it

	futures  bool   // waits are for futures of calls; else for numbers of submits, and replies come inside the calls
	lostMode uint32 // when the library may tell of the loss of a device

	version  func(a *api, lookup func(string) uintptr) (version string, refused error) // refused when it is too old
	instance func(*api) instance
	adapters func(*api, instance) (list []adapter, why string)        // why there is none, if the library tells
	trusted  func(*api, device, *shaderModuleDescriptor) shaderModule // without bounds checks and loop bounds; nil if there is no such way
	submit   func(*api, queue, []commandBuffer) uint64                // returns the number to wait for, if there are numbers
	wait     func(*api, instance, device, uint64)                     // until the future, or the numbered submit and all before it, is done
}

// flavours lists the libraries that can be used. A library joins by a row here; what it exports decides which row it is.
func flavours() []flavour {
	return []flavour{nativeFlavour(), dawnFlavour()}
}
