//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// abortCase is a mistake for which a library ends the process or reports an error, and what becomes of it here. Each runs
// in a process of its own, on every library.
type abortCase struct {
	name  string
	about string // the mistake, in the words of the API

	// raw makes the mistake with the library's own functions. A library that is in dies ends the process, with these
	// words on stderr; the others come back.
	raw  func(t *testing.T, b *bench)
	dies map[string]string

	// run makes the mistake, or comes as near to it as one can, through exported methods alone. With want it must
	// return that error, with text in it, parts separated by |; without, nil.
	run  func(t *testing.T, b *bench) error
	want error
	text string
	by   map[string]string // more of the text, by library

	never string              // why no call leads to the mistake; empty where one does
	ends  string              // how it ends where that is no error
	alone string              // what a library does of itself, if it is not to report an error and there is no raw
	users map[string][]string // shows it: the only functions of the package that use a name
	env   []string            // of the child
	bare  bool                // run gets no bench
	lost  bool                // the device is of no use afterwards
}

const (
	native = "wgpu-native"
	dawn   = "Dawn"
)

// either is text by library.
func either(n, d string) map[string]string { return map[string]string{native: n, dawn: d} }

func rw() []plan.Access { return []plan.Access{plan.Read, plan.ReadWrite} }

// lying is axpy that claims to need little: groups of small ranges are made for it, and fail when they are used.
func lying(t *testing.T, b *bench) error {
	k := axpy()
	k.Name = "lying"
	p := testPipeline(t, b.Device, k)
	g, err := b.NewGroup(rw(), []plan.Range{{Buffer: b.x, Bytes: 256}, {Buffer: b.y, Bytes: 256}})
	if err != nil {
		t.Fatal(err)
	}
	return b.submit(plan.Work{Replays: [][]uint32{{p, uint32(g), 1, 1, 1}}})
}

// on runs f on the device's goroutine.
func on(t *testing.T, b *bench, f func()) {
	t.Helper()
	if err := b.do("test", func() error { f(); return nil }); err != nil {
		t.Fatal(err)
	}
}

// copyOnce is a finished command buffer that copies x to another buffer.
func (b *bench) copyOnce(to buffer, bytes uint64) commandBuffer {
	e := b.api.createCommandEncoder(b.device)
	b.api.copyBuffer(e, b.buffers[b.x].handle, 0, to, 0, bytes)
	c := b.api.finish(e)
	release(b.api, fnCommandEncoderRelease, e)
	return c
}

// rawSubmit hands a command buffer over without any check.
func (b *bench) rawSubmit(list ...commandBuffer) { b.api.flavour.submit(b.api, b.queue, list) }

func abortCases() []abortCase {
	const submitDies = "Error in wgpuQueueSubmit"
	return []abortCase{
		{
			name: "submit: destroyed buffer", about: "a command buffer is submitted that uses a buffer which was destroyed",
			raw: func(t *testing.T, b *bench) {
				on(t, b, func() {
					c := b.copyOnce(b.buffers[b.y].handle, 256)
					call1(b.api.addr[fnBufferDestroy], b.buffers[b.x].handle)
					b.rawSubmit(c)
				})
			},
			dies:  map[string]string{native: "has been destroyed"},
			never: "no method destroys a buffer but Close, which waits for all work first; a readback buffer is replaced by a larger one only when no submit has it",
			users: map[string][]string{"fnBufferDestroy": {"freeBuffer"}, "freeBuffer": {"readbackFor", "stop"}},
			lost:  true,
			run: func(t *testing.T, b *bench) error {
				for round := range 3 { // reads outgrow each other while others are in flight
					var tickets []plan.Ticket
					for i := range 6 {
						n, err := b.Submit(plan.Work{Replays: [][]uint32{{b.pipeline, b.group, 64, 1, 1}}, Reads: []plan.Range{{Buffer: b.y, Bytes: uint64(256) << i}}})
						if err != nil {
							return err
						}
						tickets = append(tickets, n)
					}
					for i, n := range tickets {
						if data, err := b.Wait(context.Background(), n); err != nil || len(data) != 256<<i {
							return fmt.Errorf("round %d, read %d: %d bytes, %w", round, i, len(data), err)
						}
					}
				}
				_, err := b.Submit(b.work(64, 1, 1))
				return errors.Join(err, b.Close())
			},
		},
		{
			name: "submit: mapped buffer", about: "a command buffer is submitted that writes to a buffer which is mapped",
			raw: func(t *testing.T, b *bench) {
				n, err := b.Submit(b.work(64, 1, 1))
				if err != nil {
					t.Fatal(err)
				}
				on(t, b, func() {
					b.await(b.tickets[n].index) // its readback buffer is mapped from here on
					b.rawSubmit(b.copyOnce(b.tickets[n].read.buffer, 256))
				})
			},
			dies:  map[string]string{native: "is still mapped"},
			never: "readback buffers alone are mapped; one belongs to one submit until its bytes were copied and it was unmapped",
			users: map[string][]string{"mapAsync": {"bind", "follow"}, "usageMapRead": {"readbackFor"}},
			run: func(t *testing.T, b *bench) error {
				var tickets []plan.Ticket
				for range 8 {
					n, err := b.Submit(b.work(64, 1, 1))
					if err != nil {
						return err
					}
					tickets = append(tickets, n)
				}
				seen := map[*readback]bool{}
				on(t, b, func() {
					for _, t := range b.tickets {
						seen[t.read] = true
					}
				})
				if len(seen) != len(tickets) {
					return fmt.Errorf("%d readback buffers for %d submits in flight", len(seen), len(tickets))
				}
				for i := range tickets {
					if _, err := b.Wait(context.Background(), tickets[len(tickets)-1-i]); err != nil {
						return err
					}
				}
				return b.submit(b.work(64, 1, 1))
			},
		},
		{
			name: "submit: command buffer twice", about: "a command buffer is submitted a second time",
			raw: func(t *testing.T, b *bench) {
				on(t, b, func() {
					c := b.copyOnce(b.buffers[b.y].handle, 256)
					b.rawSubmit(c)
					b.rawSubmit(c)
				})
			},
			dies:  map[string]string{native: "has already been submitted"},
			never: "a command buffer is made, submitted and released in one call; no method takes or returns one",
			users: map[string][]string{"flavour.submit": {"submit", "submitNothing"}, "fnQueueSubmitForIndex": {"nativeFlavour"}, "fnQueueSubmit": {"dawnFlavour"}},
			run: func(t *testing.T, b *bench) error {
				w := b.work(64, 1, 1)
				return errors.Join(b.submit(w), b.submit(w))
			},
		},
		{
			name: "submit: failed Finish", about: "a command buffer is submitted whose Finish reported an error",
			raw: func(t *testing.T, b *bench) {
				on(t, b, func() { b.rawSubmit(b.copyOnce(b.buffers[b.y].handle, 1<<40)) })
			},
			dies: map[string]string{native: submitDies},
			run:  lying, want: &plan.DeviceError{Fault: plan.Failed, Call: "record dispatches"},
		},
		{
			name: "submit: device lost", about: "anything is submitted to a device that was lost or destroyed",
			raw: func(t *testing.T, b *bench) {
				b.destroy(t)
				on(t, b, func() { b.rawSubmit() })
			},
			dies: map[string]string{native: "Parent device is lost"},
			run: func(t *testing.T, b *bench) error {
				b.destroy(t)
				_, err := b.Submit(plan.Work{})
				return err
			},
			want: &plan.DeviceError{Fault: plan.Lost, Call: "submit"}, lost: true,
		},
		{
			name: "submit: loss within it", about: "a device is lost after the write before a submit, and before the submit is done",
			raw: func(t *testing.T, b *bench) {
				hook(t, b.Device, b.destroyBeforeSubmit)
				b.Submit(b.work(64, 1, 1))
			},
			dies: map[string]string{native: "Parent device is lost"},
			ends: "as by itself: nothing can be checked in between. On Dawn, DeviceError of fault Lost",
			lost: true,
			run: func(t *testing.T, b *bench) error {
				if b.api.flavour.name == native {
					return nil
				}
				hook(t, b.Device, b.destroyBeforeSubmit)
				n, err := b.Submit(b.work(64, 1, 1))
				if err == nil {
					_, err = b.Wait(context.Background(), n)
				}
				isFault(t, "Submit or Wait", err, plan.Lost)
				return nil
			},
		},
		{
			name: "error without a handler", about: "an error outside of every scope on a device that has no handler for uncaptured errors",
			raw: func(t *testing.T, b *bench) {
				desc := &deviceDescriptor{label: view(""), queue: queueDescriptor{label: view("")}}
				handle := firstAdapter(t).handle
				var other device
				on(t, b, func() {
					r := b.request(func() future {
						return b.api.requestDevice(handle, unsafe.Pointer(desc), callbackInfo{mode: allowProcessEvents, callback: b.api.callbacks.reply, user1: b.mail.id})
					})
					other = created[device](b.api, r.value)
					release(b.api, fnBufferRelease, b.api.createBuffer(other, &bufferDescriptor{label: view(""), usage: usageMapRead | usageStorage, size: 4}))
					release(b.api, fnDeviceRelease, other)
				})
			},
			dies:  map[string]string{native: "wgpu uncaptured error"},
			never: "a device is requested in one place, with a handler",
			users: map[string][]string{"requestDevice": {"bind", "start"}, "uncapturedErrorInfo": {"start"}},
			run:   lying, want: &plan.DeviceError{Fault: plan.Failed, Call: "record dispatches"}, // it comes through the handler
		},
		{
			name: "mapped range of an unmapped buffer", about: "GetConstMappedRange on a buffer that is not mapped",
			raw: func(t *testing.T, b *bench) {
				on(t, b, func() { b.api.mapped(b.buffers[b.x].handle, make([]byte, 4)) })
			},
			dies:  map[string]string{native: "Error in wgpuBufferGetConstMappedRange"},
			never: "only Wait looks at mapped memory, after the map callback told of success and the device was seen to be there; a ticket is waited for once",
			users: map[string][]string{"fnBufferGetConstMappedRange": {"mapped"}, "mapped": {"collect"}},
			run: func(t *testing.T, b *bench) error {
				n, err := b.Submit(b.work(64, 1, 1))
				if err != nil {
					return err
				}
				if _, err := b.Wait(context.Background(), n); err != nil {
					return err
				}
				_, err = b.Wait(context.Background(), n)
				return err
			},
			want: &plan.PlanError{Subject: "wait for ticket 1"}, text: "waited for before",
		},
		{
			name: "mapped range after loss", about: "GetConstMappedRange after the device was lost with the map done",
			run: func(t *testing.T, b *bench) error {
				n, err := b.Submit(b.work(64, 1, 1))
				if err != nil {
					return err
				}
				on(t, b, func() { b.await(b.tickets[n].index) })
				b.destroy(t)
				_, err = b.Wait(context.Background(), n)
				return err
			},
			want: &plan.DeviceError{Fault: plan.Lost, Call: "read back"}, lost: true,
		},
		{
			name: "error scope of filter 3", about: "PushErrorScope with the filter for internal errors",
			raw: func(t *testing.T, b *bench) {
				on(t, b, func() { callScope(b.api.addr[fnDevicePushErrorScope], b.device, filterInternal) })
			},
			dies:  map[string]string{native: "invalid error filter"},
			never: "filters come from the library's row of a table, which has validation and out of memory for wgpu-native",
			users: map[string][]string{"fnDevicePushErrorScope": {"capture"}, "filterInternal": {"dawnFlavour"}},
			run: func(t *testing.T, b *bench) error {
				for _, f := range b.api.flavour.scopes {
					if f == filterInternal && b.api.flavour.name == native {
						return errors.New("the third filter is in the table")
					}
				}
				return nil
			},
		},
		{
			name: "pop of no error scope", about: "PopErrorScope with no scope pushed",
			raw: func(t *testing.T, b *bench) {
				on(t, b, func() {
					b.request(func() future {
						return b.api.popErrorScope(b.device, callbackInfo{mode: allowProcessEvents, callback: b.api.callbacks.scope, user1: b.mail.id})
					})
				})
			},
			dies:  map[string]string{native: "called `Option::unwrap()` on a `None` value"},
			never: "one function pushes and pops, as often as it pushed",
			users: map[string][]string{"popErrorScope": {"bind", "capture"}, "fnDevicePushErrorScope": {"capture"}},
			run: func(t *testing.T, b *bench) error { // after calls that failed within scopes
				b.kernel(func(k *plan.Kernel) { k.Text = "?" })
				return b.kernel(func(k *plan.Kernel) { k.Name = "fine" })
			},
		},
		{
			name: "bind group entry without a buffer", about: "a bind group entry that names neither buffer, sampler nor texture",
			raw: func(t *testing.T, b *bench) {
				on(t, b, func() {
					b.scoped("test", func() {
						entries := []bindGroupEntry{{size: 256}, {binding: 1, size: 256}}
						release(b.api, fnBindGroupRelease, b.api.createBindGroup(b.device, &bindGroupDescriptor{
							label: view(""), layout: b.layouts[0].group, entryCount: 2, entries: &entries[0],
						}))
					})
				})
			},
			dies: map[string]string{native: "invalid bind group entry"},
			run: func(t *testing.T, b *bench) error {
				_, err := b.NewGroup(rw(), []plan.Range{{Buffer: b.x, Bytes: 256}, {Buffer: 99, Bytes: 256}})
				return err
			},
			want: &plan.PlanError{Subject: "bind group 1, binding 1"}, text: "there is no buffer 99",
		},
		{
			name: "null handle", about: "a handle of 0 is passed",
			raw: func(t *testing.T, b *bench) {
				on(t, b, func() { b.api.createBuffer(0, &bufferDescriptor{label: view(""), usage: usageCopyDst, size: 4}) })
			},
			dies:  map[string]string{native: "invalid device", dawn: "SIGSEGV"},
			never: "what the library did not make is an error at once and is kept nowhere; numbers of objects are looked up in lists",
			run:   nothingIsMade,
		},
		{
			name: "function that is not implemented", about: "one of the 40 functions that wgpu-native exports and does not implement",
			raw: func(t *testing.T, b *bench) {
				l, err := shared()
				if err != nil {
					t.Fatal(err)
				}
				if b.api.flavour.name != native {
					return // it has them all
				}
				h, err := dlopen(l.Path())
				if err != nil {
					t.Fatal(err)
				}
				label := view("kgen")
				on(t, b, func() {
					call(dlsym(h, "wgpuDeviceSetLabel"), uintptr(b.device), uintptr(unsafe.Pointer(label.data)), label.length)
				})
			},
			dies:  map[string]string{native: "not implemented"},
			never: "none of them is bound for wgpu-native",
			run: func(t *testing.T, b *bench) error {
				if b.api.flavour.name != native {
					return nil
				}
				for s, name := range symbolNames {
					if b.api.addr[s] != 0 && isStub(name) {
						return fmt.Errorf("%s is bound", name)
					}
				}
				l, err := shared()
				if err != nil {
					return err
				}
				h, err := dlopen(l.Path())
				for _, name := range stubs() { // the list has no misspelt name
					if err == nil && dlsym(h, name) == 0 {
						err = fmt.Errorf("the library has no %s", name)
					}
				}
				return err
			},
		},

		{
			name: "bad WGSL", about: "text that the compiler refuses",
			run: func(t *testing.T, b *bench) error {
				return b.kernel(func(k *plan.Kernel) { k.Text = strings.Replace(k.Text, "3.0 *", "3u *", 1) })
			},
			want: &plan.KernelError{Kernel: "broken"}, text: "kernel broken: |4:",
		},
		{
			name: "text that is not UTF-8", about: "a kernel's text with bytes that are no UTF-8", alone: "wgpu-native reads past the text and may end the process",
			run: func(t *testing.T, b *bench) error {
				return b.kernel(func(k *plan.Kernel) { k.Text += "// \xff\xfe" })
			},
			want: &plan.KernelError{Kernel: "broken"}, text: "its text is not UTF-8 at byte |, line 5",
		},
		{
			name: "text nested thousands deep", about: "a kernel's text with 100,000 parentheses around a number",
			raw: func(t *testing.T, b *bench) {
				b.kernel(func(k *plan.Kernel) { k.Text = strings.Replace(k.Text, "3.0", parentheses(100000), 1) })
			},
			dies: map[string]string{native: "SIGSEGV"},
			ends: "as by itself: naga's stack runs out somewhere from 1,000 to 10,000. With 100 it compiles",
			run: func(t *testing.T, b *bench) error {
				return b.kernel(func(k *plan.Kernel) { k.Text = strings.Replace(k.Text, "3.0", parentheses(100), 1) })
			},
		},
		{
			name: "text that speaks of loss", about: "refused text with the words by which the library tells of the loss of the device, or of memory",
			run: func(t *testing.T, b *bench) error {
				for _, words := range []string{"Parent device is lost", "Not enough memory left."} {
					err := b.kernel(func(k *plan.Kernel) { k.Name, k.Text = words, strings.Replace(k.Text, "3.0 *", words, 1) })
					checkError(t, err, &plan.KernelError{Kernel: words}, "4:")
				}
				return b.kernel(func(k *plan.Kernel) { k.Text = "// Parent device is lost\n?" })
			},
			want: &plan.KernelError{Kernel: "broken"}, text: "2:1",
		},
		{
			name: "use of what failed to compile", about: "a pipeline is made of a module, or used, that is an error",
			never: "a module that failed is released at once, and NewPipeline returns no number for it",
			run: func(t *testing.T, b *bench) error {
				if err := b.kernel(func(k *plan.Kernel) { k.Text = "?" }); err == nil {
					return errors.New("it compiled")
				}
				return b.submit(plan.Work{Replays: [][]uint32{{b.pipeline + 1, b.group, 1, 1, 1}}})
			},
			want: &plan.PlanError{Subject: "submit"}, text: "there is no pipeline 1",
		},
		{
			name: "bad entry point", about: "text without the entry point main",
			run: func(t *testing.T, b *bench) error {
				return b.kernel(func(k *plan.Kernel) { k.Text = strings.Replace(k.Text, "fn main", "fn other", 1) })
			},
			want: &plan.KernelError{Kernel: "broken"}, text: "main",
		},
		{
			name: "binding that the layout lacks", about: "text with a binding that is not in the pipeline's layout",
			run: func(t *testing.T, b *bench) error {
				return b.kernel(func(k *plan.Kernel) { k.Bindings = k.Bindings[:1] })
			},
			want: &plan.KernelError{Kernel: "broken"}, text: "kernel broken: ",
		},
		{
			name: "layout index out of range", about: "text with a binding in a group that the pipeline's layout does not have",
			run: func(t *testing.T, b *bench) error {
				return b.kernel(func(k *plan.Kernel) {
					k.Text = strings.Replace(k.Text, "@group(0) @binding(1)", "@group(9) @binding(1)", 1)
				})
			},
			want: &plan.KernelError{Kernel: "broken"}, text: "kernel broken: ",
		},
		{
			name: "binding of the wrong kind", about: "text that writes what the layout has read-only",
			run: func(t *testing.T, b *bench) error {
				return b.kernel(func(k *plan.Kernel) { k.Bindings[1].Access = plan.Read })
			},
			want: &plan.KernelError{Kernel: "broken"}, text: "kernel broken: ",
		},
		{
			name: "group of another layout", about: "a dispatch with a bind group that does not fit the pipeline",
			run: func(t *testing.T, b *bench) error {
				g, err := b.NewGroup([]plan.Access{plan.Read}, []plan.Range{{Buffer: b.x, Bytes: 256}})
				if err != nil {
					t.Fatal(err)
				}
				return b.submit(plan.Work{Replays: [][]uint32{{b.pipeline, uint32(g), 1, 1, 1}}})
			},
			want: &plan.PlanError{Subject: "submit, kernel axpy"}, text: "another layout",
		},
		{
			name: "missing binding", about: "a bind group with fewer entries than its layout",
			run: func(t *testing.T, b *bench) error {
				_, err := b.NewGroup(rw(), []plan.Range{{Buffer: b.x, Bytes: 256}})
				return err
			},
			want: &plan.PlanError{Subject: "bind group 1"}, text: "2 bindings and 1 ranges",
		},
		{
			name: "oversized binding", about: "a bind group entry that leaves its buffer",
			run: func(t *testing.T, b *bench) error {
				_, err := b.NewGroup(rw(), []plan.Range{{Buffer: b.x, Bytes: 256}, {Buffer: b.y, Offset: 256, Bytes: 4 * axpyItems}})
				return err
			},
			want: &plan.PlanError{Subject: "bind group 1, binding 1"}, text: "leaves the buffer",
		},
		{
			name: "buffer without the usage", about: "a buffer is bound or copied that was not made for that",
			never: "every buffer that has a number is made for storage, uniforms and copies both ways; readback buffers have no number",
			users: map[string][]string{"usageStorage": {"NewBuffer"}, "usageUniform": {"NewBuffer"}},
			run: func(t *testing.T, b *bench) error {
				for kind := plan.WeightsBuffer; kind <= plan.OutputBuffer; kind++ {
					h, err := b.NewBuffer(plan.Buffer{Name: "any", Kind: kind, Bytes: 256})
					if err != nil {
						return err
					}
					r := []plan.Range{{Buffer: int(h), Bytes: 256}}
					for _, a := range []plan.Access{plan.Uniform, plan.Read, plan.ReadWrite} {
						if _, err := b.NewGroup([]plan.Access{a}, r); err != nil {
							return err
						}
					}
					if err := errors.Join(b.Write(h, 0, make([]byte, 256)), b.submit(plan.Work{Reads: r})); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			name: "error in recording", about: "a dispatch whose bound range is smaller than the text's array; Finish reports it",
			run: lying, want: &plan.DeviceError{Fault: plan.Failed, Call: "record dispatches"},
			by: either("shader expects", "is too small"),
		},
		{
			name: "dispatch of 70,000 groups", about: "a dispatch of more workgroups than the limit",
			run:  func(t *testing.T, b *bench) error { return b.submit(b.work(70000, 1, 1)) },
			want: &plan.LimitError{Subject: "submit, kernel axpy", Limit: plan.LimitWorkgroups, Need: 70000, Have: 65535},
		},
		{
			name: "write out of range", about: "WriteBuffer past the end of the buffer",
			run: func(t *testing.T, b *bench) error {
				return b.Write(plan.Handle(b.x), 4*axpyItems-4, make([]byte, 8))
			},
			want: &plan.PlanError{Subject: "write to buffer x"}, text: "8 bytes at 16380 leave its 16384",
		},
		{
			name: "write at an odd offset", about: "WriteBuffer at an offset that is not a multiple of 4",
			run:  func(t *testing.T, b *bench) error { return b.Write(plan.Handle(b.x), 2, make([]byte, 4)) },
			want: &plan.PlanError{Subject: "write to buffer x"}, text: "4 bytes at 2: both must be multiples of 4",
		},
		{
			name: "write of an odd size", about: "WriteBuffer of a size that is not a multiple of 4",
			run:  func(t *testing.T, b *bench) error { return b.Write(plan.Handle(b.x), 0, make([]byte, 7)) },
			want: &plan.PlanError{Subject: "write to buffer x"}, text: "7 bytes at 0: both must be multiples of 4",
		},
		{
			name: "bad usage bits", about: "a buffer of usage bits that do not exist",
			raw: func(t *testing.T, b *bench) {
				on(t, b, func() {
					b.scoped("test", func() { b.api.createBuffer(b.device, &bufferDescriptor{label: view(""), usage: 1 << 30, size: 4}) })
				})
			},
			dies:  map[string]string{native: "invalid buffer usage"},
			never: "the three combinations in use are constants; Open, NewBuffer and the first read make one of each",
			users: map[string][]string{"bufferDescriptor": {"createBuffer"}, "usageCopyDst": {"NewBuffer", "readbackFor", "start"}},
			run:   func(t *testing.T, b *bench) error { return b.submit(b.work(64, 1, 1)) },
		},
		{
			name: "buffer over the limit", about: "a buffer larger than maxBufferSize",
			run: func(t *testing.T, b *bench) error {
				_, err := b.NewBuffer(plan.Buffer{Name: "weights7", Kind: plan.WeightsBuffer, Bytes: 1 << 40})
				return err
			},
			want: &plan.LimitError{Subject: "buffer weights7", Limit: plan.LimitBufferBytes, Need: 1 << 40, Have: 256 << 20},
		},
		{
			name: "out of memory", about: "buffers within the limits that the device has no memory for", bare: true,
			run:  outOfMemory,
			want: &plan.DeviceError{Fault: plan.OutOfMemory, Call: "create buffer kv3"},
		},
		{
			name: "map of a wrong buffer", about: "MapAsync of a buffer that was not made to be mapped",
			never: "only the readback buffer of a submit is mapped, and it is made for that",
			users: map[string][]string{"mapAsync": {"bind", "follow"}},
			run:   func(t *testing.T, b *bench) error { return b.submit(b.work(64, 1, 1)) },
		},
		{
			name: "unmap of an unmapped buffer", about: "Unmap of a buffer that is not mapped",
			never: "only Wait unmaps, after the map callback told of success",
			users: map[string][]string{"fnBufferUnmap": {"collect"}},
			run:   func(t *testing.T, b *bench) error { return b.submit(b.work(64, 1, 1)) },
		},
		{
			name: "Finish twice", about: "Finish of an encoder that was finished",
			never: "an encoder is made, finished once and released in one call",
			users: map[string][]string{"createCommandEncoder": {"encode", "encodeReads"}, "fnCommandEncoderFinish": {"finish"}, "finish": {"encode", "encodeReads", "finish"}},
			run:   func(t *testing.T, b *bench) error { return b.submit(b.work(64, 1, 1)) },
		},
		{
			name: "creation after loss", about: "anything is made on a device that was lost",
			run: func(t *testing.T, b *bench) error {
				b.destroy(t)
				_, buffer := b.NewBuffer(plan.Buffer{Name: "z", Kind: plan.ArenaBuffer, Bytes: 64})
				_, pipeline := b.NewPipeline(step(), false)
				_, group := b.NewGroup([]plan.Access{plan.Read}, []plan.Range{{Buffer: b.x, Bytes: 256}})
				return sameFault(buffer, pipeline, group)
			},
			want: &plan.DeviceError{Fault: plan.Lost, Call: "create buffer z"}, lost: true,
		},

		{
			name: "no adapter", about: "RequestAdapter where there is no driver", bare: true,
			env: []string{"VK_DRIVER_FILES=/nowhere", "VK_ICD_FILENAMES=/nowhere", "KGEN_ADAPTER="},
			run: func(t *testing.T, _ *bench) error {
				l, err := Find(Options{})
				if err != nil {
					return err
				}
				_, err = l.Adapters()
				if l.Close(); l.api.live.Load() != 0 {
					return errors.New("objects are left")
				}
				return err
			},
			want: &plan.DeviceError{Fault: plan.NoAdapter}, text: "make setup",
		},
		{
			name: "feature that the adapter lacks", about: "RequestDevice with a feature that the adapter does not list",
			run: func(t *testing.T, b *bench) error {
				a := *firstAdapter(t)
				a.info.F16 = false
				return opened(a.Open(t.Context(), plan.Requires{F16: true}))
			},
			want: &plan.DeviceError{Fault: plan.NoAdapter}, text: "it lacks shader-f16",
		},
		{
			name: "limit above the adapter's", about: "RequestDevice with a limit that the adapter does not have",
			run: func(t *testing.T, b *bench) error {
				return opened(firstAdapter(t).Open(t.Context(), plan.Requires{Limits: plan.Limits{WorkgroupBytes: 1 << 30}}))
			},
			want: &plan.LimitError{Limit: plan.LimitWorkgroupBytes, Need: 1 << 30}, text: "maxComputeWorkgroupStorageSize 1073741824",
		},
		{
			name: "refusal of the device by the library", about: "RequestDevice that is refused although everything was checked",
			run: func(t *testing.T, b *bench) error {
				return opened(firstAdapter(t).open(t.Context(), plan.Requires{Limits: plan.Limits{StorageBuffers: 1 << 30}}))
			},
			want: &plan.DeviceError{Fault: plan.NoAdapter}, by: either("max_storage_buffers_per_shader_stage", "maxStorageBuffersPerShaderStage"),
		},

		{
			name: "unknown feature", about: "RequestDevice with a number that is no feature", alone: "wgpu-native ignores it",
			never: "only the table's numbers of f16 and subgroups are asked for, and only if the adapter lists them",
			users: map[string][]string{"fnAdapterGetFeatures": {"adapterFeatures"}, "deviceDescriptor": {"start"}},
			run: func(t *testing.T, b *bench) error {
				a := firstAdapter(t)
				return opened(a.Open(t.Context(), plan.Requires{F16: a.info.F16, Subgroups: a.info.Subgroups}))
			},
		},
		{
			name: "buffer of no bytes", about: "a buffer of size 0", alone: "makes one",
			run: func(t *testing.T, b *bench) error {
				_, err := b.NewBuffer(plan.Buffer{Name: "kv0", Kind: plan.KVBuffer})
				return err
			},
			want: &plan.PlanError{Subject: "buffer kv0"}, text: "its size 0 is not a positive multiple of 4",
		},
		{
			name: "index out of range in a kernel", about: "a kernel stores and loads outside of its arrays",
			alone: "drops stores and clamps loads in silence",
			ends:  "as by itself: nothing outside of the bound range changes. Only a kernel that its plan says is proved, of a plan that is trusted, runs without these checks",
			run:   outOfRange,
		},

		{
			name: "first call after loss", about: "each call in turn is the first after the loss of the device", alone: "wgpu-native never calls the loss callback of itself", bare: true, lost: true,
			run: func(t *testing.T, _ *bench) error {
				var errs []error
				for _, name := range calls {
					b := newBench(t, plan.Requires{})
					n, err := b.Submit(b.work(64, 1, 1))
					if err != nil {
						return err
					}
					b.destroy(t)
					if err := b.oneCall(name, n); err != nil || name != "Wait" { // the work may have been done before
						errs = append(errs, err)
					}
					if name == "Wait" {
						n = 0
					}
					b.calledWhenLost(t, n)
				}
				return sameFault(errs...)
			},
			want: &plan.DeviceError{Fault: plan.Lost, Call: "create buffer z"},
		},
		{
			name: "Close after loss", about: "a device is closed that was lost, with work in flight and the loss not noticed",
			lost: true, alone: "wgpu-native never tells of the loss", ends: "Close releases everything and returns nil",
			run: func(t *testing.T, b *bench) error {
				for range 3 {
					if _, err := b.Submit(b.work(64, 1, 1)); err != nil {
						return err
					}
				}
				if err := b.Write(plan.Handle(b.x), 0, make([]byte, 4*axpyItems)); err != nil {
					return err
				}
				b.destroy(t)
				return b.Close()
			},
		},
		{
			name: "library closed first", about: "a library is closed while a device of it works",
			alone: "devices outlive instances", ends: "the device keeps what it needs of the library until it is closed; adapters give DeviceError, fault Closed", lost: true,
			run: func(t *testing.T, _ *bench) error {
				l, err := Find(Options{})
				if err != nil {
					return err
				}
				adapters, err := l.Adapters()
				if err != nil {
					return err
				}
				d, err := adapters[0].Open(t.Context(), plan.Requires{})
				if err != nil {
					return err
				}
				l.Close()
				l.Close()
				b := benchOn(t, d)
				err = errors.Join(b.submit(b.work(64, 1, 1)), d.Close())
				if n := l.api.live.Load(); n != 0 {
					return fmt.Errorf("%d objects are left", n)
				}
				isFault(t, "Open", opened(adapters[0].Open(t.Context(), plan.Requires{})), plan.Closed)
				_, again := l.Adapters()
				isFault(t, "Adapters", again, plan.Closed)
				return err
			},
		},
		{
			name: "refused clash", about: "one dispatch reads and writes a buffer",
			run: func(t *testing.T, b *bench) error {
				_, err := b.NewGroup(rw(), []plan.Range{{Buffer: b.y, Bytes: 256}, {Buffer: b.y, Offset: 256, Bytes: 256}})
				return err
			},
			want: &plan.PlanError{Subject: "bind group 1, bindings 0 and 1"}, text: "to be read and to be written",
		},
		{
			name: "clash that was let through", about: "the same, with kgen's own check left out",
			run: clash, want: &plan.DeviceError{Fault: plan.Failed}, by: either("conflicting usages", "writable usage and another usage"),
		},
	}
}

func parentheses(n int) string { return strings.Repeat("(", n) + "3.0" + strings.Repeat(")", n) }

func (b *bench) destroyBeforeSubmit(f *flavour) {
	submit := f.submit
	f.submit = func(a *api, q queue, list []commandBuffer) uint64 {
		call1(a.addr[fnDeviceDestroy], b.device)
		return submit(a, q, list)
	}
}

// nothingIsMade lets every function that makes something return 0 in turn: each call gives a typed error, and nothing is
// left over.
func nothingIsMade(t *testing.T, b *bench) error {
	null := purego.NewCallback(func() uintptr { return 0 })
	for _, c := range []struct {
		fn    symbol
		calls []string
	}{
		{fnDeviceCreateBuffer, []string{"NewBuffer", "Submit"}},
		{fnDeviceCreateShaderModule, []string{"NewPipeline"}},
		{fnDeviceCreateBindGroupLayout, []string{"NewGroup"}},
		{fnDeviceCreatePipelineLayout, []string{"NewGroup"}},
		{fnDeviceCreateComputePipeline, []string{"NewPipeline"}},
		{fnDeviceCreateBindGroup, []string{"NewGroup"}},
		{fnDeviceCreateCommandEncoder, []string{"Submit"}},
		{fnCommandEncoderBeginComputePass, []string{"Submit"}},
		{fnCommandEncoderFinish, []string{"Submit"}},
	} {
		for _, name := range c.calls {
			if c.fn == fnDeviceCreateBindGroup {
				b.oneCall(name, 0) // its layout stays
			}
			real, before := b.api.addr[c.fn], b.api.live.Load()
			on(t, b, func() { b.api.addr[c.fn] = null })
			err := b.oneCall(name, 0)
			on(t, b, func() { b.api.addr[c.fn] = real })
			var kernel *plan.KernelError
			var fault *plan.DeviceError
			if !errors.As(err, &kernel) && (!errors.As(err, &fault) || fault.Fault != plan.Failed) {
				return fmt.Errorf("%s without %s: %T %v", name, symbolNames[c.fn], err, err)
			}
			t.Logf("%s without %s: %v", name, symbolNames[c.fn], err)
			if n := b.api.live.Load(); n != before {
				return fmt.Errorf("%s without %s left %d objects", name, symbolNames[c.fn], n-before)
			}
		}
	}
	// A device without a queue is none.
	real := b.api.addr[fnDeviceGetQueue]
	b.api.addr[fnDeviceGetQueue] = null
	err := opened(firstAdapter(t).Open(t.Context(), plan.Requires{}))
	b.api.addr[fnDeviceGetQueue] = real
	if err == nil {
		return errors.New("a device without a queue was opened")
	}
	return b.submit(b.work(64, 1, 1))
}

func outOfMemory(t *testing.T, _ *bench) error {
	a := testAdapter(t)
	if a.Info().Kind != "software" {
		t.Skip("the memory of a GPU is not limited like that of a process")
	}
	limitMemory(t, 3<<30)
	d := testDevice(t, plan.Requires{Limits: plan.Limits{BufferBytes: 1 << 30}})
	for range 4 {
		if _, err := d.NewBuffer(plan.Buffer{Name: "kv3", Kind: plan.KVBuffer, Bytes: 1 << 30}); err != nil {
			testBuffer(t, d, "small", 64) // the device goes on
			return err
		}
	}
	return nil
}

// outOfRange runs a kernel over one range in the middle of a buffer that it tries to leave on both sides.
func outOfRange(t *testing.T, b *bench) error {
	k := &plan.Kernel{
		Name: "astray",
		Text: `@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) id: vec3<u32>) {
  y[id.x * 64u] = 7u;
  y[0u - id.x * 64u] = 7u;
  y[1] = y[id.x * 64u + 1048576u];
}
`,
		Bindings:  []plan.Binding{{Name: "y", Access: plan.ReadWrite, Bytes: 256}},
		Workgroup: [3]int{1, 1, 1},
		Proved:    true, // but not trusted
	}
	guard, h := uint32(0xabad1dea), plan.Handle(b.y)
	if err := b.Write(h, 0, words(axpyItems, func(int) uint32 { return guard })); err != nil {
		return err
	}
	r := plan.Range{Buffer: b.y, Offset: 1024, Bytes: 256}
	got := submitAndWait(t, b.Device, plan.Work{Replays: [][]uint32{{testPipeline(t, b.Device, k), testGroup(t, b.Device, k, r), 4096, 1, 1}}, Reads: []plan.Range{b.read}})
	for i := range axpyItems {
		inside := i*4 >= 1024 && i*4 < 1024+256
		if w := word(got, i); !inside && w != guard {
			return fmt.Errorf("word %d, outside of the range, is %#x", i, w)
		}
	}
	if w := word(got, 256); w != 7 {
		return fmt.Errorf("the store at index 0 gave %d", w)
	}
	return nil
}

// clash makes a group that CheckRanges would refuse, and uses it.
func clash(t *testing.T, b *bench) error {
	err := b.do("test", func() error {
		whole := plan.Range{Buffer: b.y, Bytes: 4 * axpyItems}
		g, err := b.createGroup(rw(), []plan.Range{whole, whole})
		if err == nil {
			b.groups = append(b.groups, g)
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.submit(plan.Work{Replays: [][]uint32{{b.pipeline, uint32(len(b.groups) - 1), 64, 1, 1}}})
}

// sameFault returns the first error if all have its fault.
func sameFault(errs ...error) error {
	for _, err := range errs {
		var first, e *plan.DeviceError
		if !errors.As(errs[0], &first) || !errors.As(err, &e) || e.Fault != first.Fault {
			return fmt.Errorf("not all are the same fault: %v", errs)
		}
	}
	return errs[0]
}

// firstAdapter is testAdapter without its count of objects, for a test that has begun to count.
func firstAdapter(t *testing.T) *Adapter {
	t.Helper()
	l, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return l.adapters[0]
}

// opened closes a device that should not be kept.
func opened(d *Device, err error) error {
	if err == nil {
		d.Close()
	}
	return err
}
