//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// readback is a buffer that the device copies to and the host maps. Submits in flight have one each; they are kept and
// reused, because making one is slow, and grow by doubling.
type readback struct {
	buffer buffer
	bytes  uint64
	busy   bool
}

// ticket is a submit that was not waited for.
type ticket struct {
	index uint64    // what to wait for: the library's number of the submit, or of the future that follow got
	read  *readback // nil without reads
	bytes uint64    // of the reads together
	done  bool
	data  []byte
	err   error
}

// readbackFor returns a free readback buffer of at least so many bytes.
func (d *Device) readbackFor(bytes uint64) (*readback, error) {
	if bytes > d.info.Limits.BufferBytes {
		return nil, &plan.LimitError{Subject: "reads of one submit", Limit: plan.LimitBufferBytes, Need: bytes, Have: d.info.Limits.BufferBytes}
	}
	var free *readback
	for _, r := range d.readbacks {
		if !r.busy && (free == nil || r.bytes > free.bytes) {
			free = r
		}
	}
	if free != nil && free.bytes >= bytes {
		return free, nil
	}
	size := min(max(4096, uint64(1)<<bits.Len64(bytes-1)), d.info.Limits.BufferBytes&^3)
	h, err := d.createBuffer("readback", size, usageMapRead|usageCopyDst)
	if err != nil {
		return nil, err
	}
	if free == nil {
		free = &readback{}
		d.readbacks = append(d.readbacks, free)
	}
	d.freeBuffer(free.buffer)
	free.buffer, free.bytes = h, size
	return free, nil
}

// encodeReads records the copies of the reads, one after another, into a readback buffer.
func (d *Device) encodeReads(reads []plan.Range, t *ticket) (commandBuffer, error) {
	for _, r := range reads {
		t.bytes += r.Bytes
	}
	read, err := d.readbackFor(t.bytes)
	if err != nil {
		return 0, err
	}
	e := d.api.createCommandEncoder(d.device)
	if e == 0 {
		return 0, d.none("create a command encoder")
	}
	defer release(d.api, fnCommandEncoderRelease, e)
	at := uint64(0)
	for _, r := range reads {
		d.api.copyBuffer(e, d.buffers[r.Buffer].handle, r.Offset, read.buffer, at, r.Bytes)
		at += r.Bytes
	}
	c, err := d.finish(e, "record reads")
	if err == nil {
		t.read, read.busy = read, true
	}
	return c, err
}

// abandon frees what a ticket holds that was never submitted.
func (d *Device) abandon(t *ticket) {
	if t.read != nil {
		t.read.busy = false
	}
}

// follow asks the library to tell when a submit is done: when its readback buffer is mapped or, without reads, when the
// queue has come so far.
func (d *Device) follow(n plan.Ticket, t *ticket) error {
	info := callbackInfo{mode: allowProcessEvents, callback: d.api.callbacks.finished, user1: d.mail.id, user2: uintptr(n)}
	var end future
	if t.read != nil {
		end = d.api.mapAsync(t.read.buffer, mapModeRead, 0, uintptr(t.bytes), info)
	} else {
		end = d.api.onSubmittedWork(d.queue, info)
	}
	if d.api.flavour.futures {
		t.index = end.id
	}
	return d.check("submit")
}

// Wait blocks until the work of t is done and returns the bytes of its reads. When ctx ends first, it returns the
// context's error at once; the ticket stays, and a later Wait gets the bytes. Later submits are not waited for, but calls
// that are made meanwhile stand in line.
func (d *Device) Wait(ctx context.Context, t plan.Ticket) ([]byte, error) {
	start := time.Now()
	defer func() { d.count(func(s *plan.Stats) { s.SyncNanos += time.Since(start).Nanoseconds() }) }()
	type result struct {
		data []byte
		err  error
	}
	got := make(chan result, 1)
	var taken atomic.Bool // by who comes first: the result, or the end of ctx
	work := func() {
		data, err := d.complete(t)
		if taken.CompareAndSwap(false, true) {
			delete(d.tickets, t)
			got <- result{data, err}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if d.calls == nil {
		return nil, closedError("wait")
	}
	select {
	case d.calls <- work:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-d.stopped:
		return nil, closedError("wait")
	}
	select {
	case r := <-got:
		return r.data, r.err
	case <-ctx.Done():
		if taken.CompareAndSwap(false, true) {
			return nil, ctx.Err()
		}
		r := <-got
		return r.data, r.err
	}
}

// complete waits for the work of a ticket and takes the bytes out of its readback buffer.
func (d *Device) complete(n plan.Ticket) ([]byte, error) {
	t := d.tickets[n]
	switch {
	case t == nil:
		return nil, &plan.PlanError{Subject: "wait for ticket " + utoa(uint64(n)), Detail: "there is none, or it was waited for before"}
	case t.done:
		return t.data, t.err
	case d.lost != nil:
		return nil, d.lost
	}
	t.data, t.err = d.collect(n, t)
	t.done = true
	d.count(func(s *plan.Stats) { s.Syncs++; s.ReadBytes += int64(len(t.data)) })
	return t.data, t.err
}

// polls bounds how often a library may return from a wait without the work being done. wgpu-native 29 returned once, after
// 73 seconds of work; one whose device is gone may return at once.
const polls = 100

func (d *Device) collect(n plan.Ticket, t *ticket) ([]byte, error) {
	end := d.mail.ended(uint64(n))
	for i := 0; end.kind == 0 && i < polls; i++ {
		d.await(t.index)
		if err := d.check("wait"); err != nil {
			return nil, err
		}
		end = d.mail.ended(uint64(n))
	}
	if end.kind != statusSuccess {
		return nil, d.failure("wait", message{errorValidation, "the work did not end: status " + utoa(uint64(end.kind)) + " " + end.text})
	}
	if t.read == nil {
		return nil, nil
	}
	if err := d.preflight("read back"); err != nil {
		return nil, err
	}
	data := make([]byte, t.bytes)
	ok := d.api.mapped(t.read.buffer, data)
	call1(d.api.addr[fnBufferUnmap], t.read.buffer)
	t.read.busy = false
	if err := d.check("read back"); err != nil {
		return nil, err
	}
	if !ok {
		return nil, &plan.DeviceError{Fault: plan.Failed, Call: "read back", Detail: "the library mapped nothing"}
	}
	return data, nil
}

// await sleeps in the library until the numbered submit or future is done.
func (d *Device) await(index uint64) { d.api.flavour.wait(d.api, d.instance, d.device, index) }

// request makes a call whose reply comes at once: inside it, or when its future is waited for.
func (d *Device) request(f func() future) reply {
	return d.mail.request(func() {
		if answer := f(); d.api.flavour.futures {
			d.await(answer.id)
		}
	})
}

// submitNothing makes the library send what was written, and returns what to wait for until that is done.
func (d *Device) submitNothing() uint64 {
	index := d.api.flavour.submit(d.api, d.queue, nil)
	if d.api.flavour.futures {
		// Mailbox 0 is nobody's: the future is waited for, its callback has nothing to tell.
		index = d.api.onSubmittedWork(d.queue, callbackInfo{mode: allowProcessEvents, callback: d.api.callbacks.finished}).id
	}
	return index
}

// settle waits for everything that was submitted.
func (d *Device) settle() {
	for n := range d.tickets {
		d.complete(n)
	}
	if d.flush.index != 0 && d.lost == nil {
		d.await(d.flush.index)
	}
}
