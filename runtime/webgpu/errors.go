//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// check returns the error that a call without a scope left in the mailbox. Every call that can fail is followed by a check
// or made in a scope.
func (d *Device) check(call string) error {
	if e := d.mail.take(); e.kind != 0 {
		return d.failure(call, e)
	}
	return nil
}

// scoped runs f, which creates something, between error scopes of every filter that the library takes, and returns the
// first error. Pushes and pops are paired here and nowhere else.
func (d *Device) scoped(call string, f func()) error {
	e := d.capture(f)
	if e.kind == 0 {
		return nil
	}
	return d.failure(call, e)
}

func (d *Device) capture(f func()) message {
	filters := d.api.flavour.scopes
	for _, filter := range filters {
		callScope(d.api.addr[fnDevicePushErrorScope], d.device, filter)
	}
	f()
	var first message
	for range filters {
		r := d.request(func() future {
			return d.api.popErrorScope(d.device, callbackInfo{mode: allowProcessEvents, callback: d.api.callbacks.scope, user1: d.mail.id})
		})
		if first.kind != 0 || r.done && r.status == statusSuccess && r.value == errorNone {
			continue
		}
		first = message{uint32(r.value), r.text}
		if !r.done || r.status != statusSuccess {
			first = message{errorValidation, "no answer from the error scope: " + r.text}
		}
	}
	if other := d.mail.take(); first.kind == 0 || other.kind == errorLost {
		first = other
	}
	return first
}

func callScope(fn uintptr, h device, filter uintptr) { call(fn, uintptr(h), filter) }

// failure types an error that the library reported, and notes the loss of the device. What a text means is told by its end:
// before that it may hold names and kernel text, which say anything.
func (d *Device) failure(call string, e message) *plan.DeviceError {
	err := &plan.DeviceError{Fault: plan.Failed, Call: call, Detail: oneLine(e.text)}
	ends := func(with string) bool {
		return with != "" && strings.HasSuffix(strings.TrimRight(err.Detail, "."), with)
	}
	switch {
	case e.kind == errorLost || ends(d.api.flavour.lost):
		err.Fault = plan.Lost
		d.lost = &plan.DeviceError{Fault: plan.Lost, Call: "use the device", Detail: "it was lost: " + err.Detail}
	case e.kind == errorOutOfMemory || ends(d.api.flavour.outOfMemory):
		err.Fault = plan.OutOfMemory
	}
	return err
}

// oneLine folds the library's indented lines into one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
