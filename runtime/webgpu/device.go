//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Device is a plan.Backend on a WebGPU device. A goroutine of its own, locked to its thread, makes all calls: errors
// arrive inside the call that made them, and drivers see one thread.
type Device struct {
	api     *api
	library *Library // closed with the device, if the device owns it
	info    plan.Device
	checked bool // keep bounds checks in proved kernels
	log     func(string)

	calls   chan func()
	stopped chan struct{}

	statsLock sync.Mutex
	stats     plan.Stats

	// The rest belongs to the device's goroutine.
	mail      *mailbox
	instance  instance
	device    device
	queue     queue
	lost      *plan.DeviceError
	closing   bool
	probe     buffer // target of the write before each submit
	buffers   []bufferObject
	sizes     []uint64 // of the buffers
	layouts   []layoutObject
	pipelines []pipelineObject
	groups    []groupObject
	flush     flushState
	readbacks []*readback
	tickets   map[plan.Ticket]*ticket
	last      plan.Ticket
	args      [5]uintptr // of calls that are made per dispatch
}

var _ plan.Backend = (*Device)(nil)

// open opens a device without looking at what the adapter offers.
func (a *Adapter) open(ctx context.Context, requires plan.Requires) (*Device, error) {
	if a.handle == 0 {
		return nil, &plan.DeviceError{Fault: plan.Closed, Call: "open " + a.info.Name, Detail: "the library was closed"}
	}
	d := &Device{
		api:     a.library.api,
		info:    a.info,
		checked: a.library.options.Checked || os.Getenv("KGEN_GPU_CHECKS") == "1",
		log:     a.library.options.Log,
		calls:   make(chan func()),
		stopped: make(chan struct{}),
		mail:    newMailbox(),
		tickets: map[plan.Ticket]*ticket{},
	}
	go d.run()
	err := ctx.Err()
	if err == nil {
		err = d.do("open "+a.info.Name, func() error { return d.start(a, requires) })
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// run makes the calls that the methods send, until Close.
func (d *Device) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(d.stopped)
	for !d.closing {
		(<-d.calls)()
	}
}

// do runs f on the device's goroutine and waits for it.
func (d *Device) do(call string, f func() error) error {
	if d.calls == nil {
		return closedError(call) // a Device that no Open made
	}
	done := make(chan error, 1)
	select {
	case d.calls <- func() { done <- d.guard(f) }:
		return <-done
	case <-d.stopped:
		return closedError(call)
	}
}

// guard keeps calls from a device that is lost.
func (d *Device) guard(f func() error) error {
	if d.lost != nil {
		return d.lost
	}
	return f()
}

func closedError(call string) error {
	return &plan.DeviceError{Fault: plan.Closed, Call: call, Detail: "the device was closed"}
}

// start requests the device.
func (d *Device) start(a *Adapter, requires plan.Requires) error {
	call := "open " + a.info.Name
	d.instance = a.library.instance
	if d.api.flavour.futures { // waits need it, and the library may be closed before the device
		call1(d.api.addr[fnInstanceAddRef], d.instance)
		d.api.live.Add(1)
	}
	var features []uint32
	if requires.F16 {
		features = append(features, d.api.flavour.f16)
	}
	if requires.Subgroups || requires.SubgroupSize != 0 {
		features = append(features, d.api.flavour.subgroups)
	}
	cb := d.api.callbacks
	desc := &deviceDescriptor{
		label:        view("kgen"),
		featureCount: uintptr(len(features)),
		features:     unsafe.SliceData(features),
		limits:       a.limits.request(requires.Limits),
		queue:        queueDescriptor{label: view("kgen")},
		lost:         callbackInfo{mode: d.api.flavour.lostMode, callback: cb.lost, user1: d.mail.id},
		uncaptured:   uncapturedErrorInfo{callback: cb.uncaptured, user1: d.mail.id},
	}
	r := d.request(func() future {
		return d.api.requestDevice(a.handle, unsafe.Pointer(desc), callbackInfo{mode: allowProcessEvents, callback: cb.reply, user1: d.mail.id})
	})
	if !r.done || r.status != statusSuccess || r.value == 0 {
		return &plan.DeviceError{Fault: plan.NoAdapter, Call: call, Detail: oneLine(r.text)}
	}
	d.device = created[device](d.api, r.value)
	d.queue = created[queue](d.api, call1(d.api.addr[fnDeviceGetQueue], d.device))
	if d.queue == 0 {
		return &plan.DeviceError{Fault: plan.Failed, Call: call, Detail: "the device has no queue"}
	}
	granted := new(limits)
	if !d.api.deviceLimits(d.device, granted) {
		return &plan.DeviceError{Fault: plan.Failed, Call: call, Detail: "the device does not tell its limits"}
	}
	d.info.Limits = granted.plan()
	if n := requires.DispatchesInPass; n > 0 {
		d.info.Limits.DispatchesInPass = min(n, d.info.Limits.DispatchesInPass)
	}
	d.info.F16, d.info.Subgroups = requires.F16, len(features) > 0 && features[len(features)-1] == d.api.flavour.subgroups
	var err error
	d.probe, err = d.createBuffer("preflight", 4, usageCopyDst)
	return err
}

func call1[H ~uintptr](fn uintptr, h H) uintptr { return call(fn, uintptr(h)) }

// Device describes the device: the limits and features are those it was opened with.
func (d *Device) Device() plan.Device { return d.info }

// Stats returns what was counted so far.
func (d *Device) Stats() plan.Stats {
	d.statsLock.Lock()
	defer d.statsLock.Unlock()
	return d.stats
}

func (d *Device) count(f func(s *plan.Stats)) {
	d.statsLock.Lock()
	defer d.statsLock.Unlock()
	f(&d.stats)
}

// Close waits for the work that was submitted, and releases everything. It may be called twice.
func (d *Device) Close() error {
	if d.calls == nil {
		return nil
	}
	done := make(chan struct{})
	select {
	case d.calls <- func() { d.stop(); close(done) }:
		<-done
		<-d.stopped
	case <-d.stopped:
	}
	return nil
}

func (d *Device) stop() {
	d.closing = true
	if d.device != 0 && d.lost == nil {
		d.settle()
	}
	for _, g := range d.groups {
		release(d.api, fnBindGroupRelease, g.handle)
	}
	for _, p := range d.pipelines {
		release(d.api, fnComputePipelineRelease, p.handle)
	}
	for _, l := range d.layouts {
		release(d.api, fnPipelineLayoutRelease, l.pipeline)
		release(d.api, fnBindGroupLayoutRelease, l.group)
	}
	for _, r := range d.readbacks {
		d.freeBuffer(r.buffer)
	}
	for _, b := range d.buffers {
		d.freeBuffer(b.handle)
	}
	d.freeBuffer(d.probe)
	release(d.api, fnQueueRelease, d.queue)
	if d.device != 0 {
		call(d.api.addr[fnDeviceDestroy], uintptr(d.device))
		release(d.api, fnDeviceRelease, d.device)
	}
	if d.api.flavour.futures {
		release(d.api, fnInstanceRelease, d.instance)
	}
	d.mail.close()
	if d.library != nil {
		d.library.Close()
	}
}
