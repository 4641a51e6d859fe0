// Package webgpu runs plans on a WebGPU library that is loaded at run time, without cgo. It implements plan.Backend.
//
// Vocabulary:
//
//   - A library is a shared object with the C API of webgpu.h: wgpu-native 29, or Dawn since it follows the stable header.
//     Find looks for one, Survey for all.
//   - An adapter is a device that a library offers, a GPU or a software one. Its limits, features and measured subgroup
//     size are known before anything is compiled for it.
//   - A canary is a small kernel with a known answer. Canaries run before the first plan does; Checks tells what came of them.
//   - A device is an adapter that was opened with the limits and features that a plan requires, and no others.
//   - A flavour is the row of a table that says how one library differs from the others.
//
// A program that chooses a plan by what the adapter can do goes step by step:
//
//	library, err := webgpu.Find(webgpu.Options{})
//	adapters, err := library.Adapters()
//	info, err := adapters[0].Measure(ctx) // choose or compile a plan for info
//	device, err := adapters[0].Open(ctx, p.Requires)
//
// Open does all of it for a plan that is there already. A program that opens devices again and again should keep its library:
// NVIDIA's driver (580, Linux) lists no adapter any more after some thirty instances in one process.
//
// # Threads and waiting
//
// A goroutine that is locked to its thread makes all calls of a device, in the order in which the methods were called, and
// methods may be called from any goroutine. Submit never waits for the device's work: the next burst is encoded while one
// runs. (Mesa's lavapipe itself finishes one submit before it takes the next.) Wait sleeps in the library until its own submit is
// done, later ones or not, without spinning; calls of other goroutines stand in line meanwhile.
//
// # Errors
//
// Mistakes come back as *plan.LimitError, *plan.KernelError and *plan.PlanError, trouble of the device or the library as
// *plan.DeviceError; none ends the process, with one exception. wgpu-native ends the process when a submit fails, where Dawn
// returns an error, and nothing in Go can catch that. What can make a submit fail is kept out: command buffers that did not finish without error are never
// submitted, none is submitted twice, no buffer is freed or mapped while work uses it, and a small write before each
// submit finds out whether the device is gone. What is left is a device that is lost between that write and the end of the
// submit, some microseconds later. A server that must survive it runs the engine in a child process. docs/aborts.md lists
// each mistake that ends a process, and how it ends here.
//
// A device that was lost answers every call with fault Lost. Close releases it as usual.
//
// # Canaries
//
// Drivers and compilers get things wrong without a word. So Measure, which Open calls, runs some ten kernels with known answers
// the first time: memory, workgroups, integers, floats, control flow, halves and bytes, and on any adapter that claims them
// packed dot products, f16 and subgroups. Where every plan needs what came out wrong, the adapter is refused with fault
// Miscomputes; else the feature is left out. Loops that the driver ends early become a cap that plans are held to,
// plan.Device.LoopTrips. Every trouble is a line of the log.
//
// # Bounds checks
//
// A kernel whose plan says that every index was proved in bounds is compiled without checks if the caller trusts the plan:
// wgpu-native's checks and its bounding of loops can cost more than the kernel. KGEN_GPU_CHECKS=1 keeps them. Dawn always
// checks.
//
// # Noise
//
// Dawn writes warnings to stderr about limits of a driver that it lowers; none of these limits has a part in compute.
//
// On Linux a line "XDG_RUNTIME_DIR is invalid or not set in the environment" may appear on stderr, a few times. It comes from Mesa's device
// selection layer, which asks a Wayland server for the default GPU, and is harmless. NODEVICE_SELECT=1 in the environment turns that layer
// off. This package does not set it, because it would change the environment of the whole program; a command may.
//
// # Builds without it
//
// In a browser, on platforms that are not bound, and with build tag nogpu, the package has the same names, imports no purego, and
// every way in returns a *plan.DeviceError with fault NoLibrary.
package webgpu
