//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"time"

	"github.com/ebitengine/purego"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Submit encodes the work and hands it to the device without waiting. See the package comment for the one case in which
// wgpu-native ends the process.
func (d *Device) Submit(w plan.Work) (t plan.Ticket, err error) {
	start, blocked := time.Now(), time.Duration(0)
	err = d.do("submit", func() error {
		if err := d.checkWork(w); err != nil {
			return err
		}
		t, blocked, err = d.submit(w)
		return err
	})
	// A software driver may finish earlier work in the call that hands over more: that is no encoding.
	d.count(func(s *plan.Stats) {
		s.EncodeNanos += (time.Since(start) - blocked).Nanoseconds()
		s.SyncNanos += blocked.Nanoseconds()
	})
	return t, err
}

// checkWork looks at every number of the work, so that nothing in it can fail later.
func (d *Device) checkWork(w plan.Work) error {
	for _, records := range w.Replays {
		if len(records)%plan.RecordWords != 0 {
			return &plan.PlanError{Subject: "submit", Detail: utoa(uint64(len(records))) + " words are no list of records"}
		}
		for at := 0; at < len(records); at += plan.RecordWords {
			if err := d.checkRecord(records[at : at+plan.RecordWords]); err != nil {
				return err
			}
		}
	}
	for i, r := range w.Reads {
		if r.Buffer < 0 || r.Buffer >= len(d.buffers) {
			return &plan.PlanError{Subject: "read " + utoa(uint64(i)), Detail: "there is no buffer " + utoa(uint64(r.Buffer))}
		}
		if size := d.sizes[r.Buffer]; r.Bytes == 0 || r.Bytes%4 != 0 || r.Offset%4 != 0 || r.Bytes > size || r.Offset > size-r.Bytes {
			return &plan.PlanError{Subject: "read of buffer " + d.buffers[r.Buffer].name, Detail: utoa(r.Bytes) + " bytes at " + utoa(r.Offset) + " of its " + utoa(size) + ": not a part of multiples of 4"}
		}
	}
	return nil
}

func (d *Device) checkRecord(r []uint32) error {
	most := uint32(d.info.Limits.Workgroups)
	if int(r[0]) < len(d.pipelines) && int(r[1]) < len(d.groups) && d.pipelines[r[0]].layout == d.groups[r[1]].layout &&
		r[2]-1 < most && r[3]-1 < most && r[4]-1 < most {
		return nil
	}
	switch {
	case int(r[0]) >= len(d.pipelines):
		return &plan.PlanError{Subject: "submit", Detail: "there is no pipeline " + utoa(uint64(r[0]))}
	case int(r[1]) >= len(d.groups):
		return &plan.PlanError{Subject: "submit, kernel " + d.pipelines[r[0]].name, Detail: "there is no bind group " + utoa(uint64(r[1]))}
	case d.pipelines[r[0]].layout != d.groups[r[1]].layout:
		return &plan.PlanError{Subject: "submit, kernel " + d.pipelines[r[0]].name, Detail: "bind group " + utoa(uint64(r[1])) + " has another layout"}
	}
	return plan.CheckGrid("submit, kernel "+d.pipelines[r[0]].name, int(r[2]), int(r[3]), int(r[4]), d.info.Limits)
}

// submit records the work and submits it once. It also returns how long the library took to accept it. Command buffers that could not be finished never reach the queue.
func (d *Device) submit(w plan.Work) (plan.Ticket, time.Duration, error) {
	var list []commandBuffer
	defer func() {
		for _, c := range list {
			release(d.api, fnCommandBufferRelease, c)
		}
	}()
	dispatches := 0
	step := d.info.Limits.DispatchesInPass * plan.RecordWords
	for _, records := range w.Replays {
		dispatches += len(records) / plan.RecordWords
		for len(records) > 0 {
			n := min(step, len(records))
			c, err := d.encode(records[:n])
			if err != nil {
				return 0, 0, err
			}
			list, records = append(list, c), records[n:]
		}
	}
	t := &ticket{}
	if len(w.Reads) > 0 {
		c, err := d.encodeReads(w.Reads, t)
		if err != nil {
			return 0, 0, err
		}
		list = append(list, c)
	}
	if err := d.preflight("submit"); err != nil {
		d.abandon(t)
		return 0, 0, err
	}
	start := time.Now()
	t.index = d.api.flavour.submit(d.api, d.queue, list)
	blocked := time.Since(start)
	d.flush.pending = 0
	d.last++
	d.tickets[d.last] = t
	d.count(func(s *plan.Stats) { s.Submits++; s.Dispatches += int64(dispatches) })
	return d.last, blocked, d.follow(d.last, t)
}

// preflight writes 4 bytes. On a device that is gone this fails as an error; a submit, or a look at mapped memory, would
// end the process.
func (d *Device) preflight(call string) error {
	d.api.writeBuffer(d.queue, d.probe, 0, []byte{0, 0, 0, 0})
	return d.check(call)
}

// encode records dispatches into a command buffer of one compute pass.
func (d *Device) encode(records []uint32) (commandBuffer, error) {
	e := d.api.createCommandEncoder(d.device)
	if e == 0 {
		return 0, d.none("create a command encoder")
	}
	defer release(d.api, fnCommandEncoderRelease, e)
	p := d.api.beginComputePass(e)
	if p == 0 {
		return 0, d.none("begin a compute pass")
	}
	d.record(p, records)
	call1(d.api.addr[fnComputePassEnd], p)
	release(d.api, fnComputePassRelease, p)
	return d.finish(e, "record dispatches")
}

// record makes the calls of each dispatch. This is the hot path: arguments sit in one array that the device owns, so that
// calls allocate nothing, and what is set already is not set again.
func (d *Device) record(p computePass, records []uint32) {
	setPipeline, setGroup, dispatch := d.api.addr[fnComputePassSetPipeline], d.api.addr[fnComputePassSetBindGroup], d.api.addr[fnComputePassDispatch]
	a := &d.args
	a[0] = uintptr(p)
	pipeline, group := -1, -1
	for ; len(records) >= plan.RecordWords; records = records[plan.RecordWords:] {
		if n := int(records[0]); n != pipeline {
			pipeline = n
			a[1] = uintptr(d.pipelines[n].handle)
			purego.SyscallN(setPipeline, a[:2]...)
		}
		if n := int(records[1]); n != group {
			group = n
			a[1], a[2], a[3], a[4] = 0, uintptr(d.groups[n].handle), 0, 0
			purego.SyscallN(setGroup, a[:5]...)
		}
		a[1], a[2], a[3] = uintptr(records[2]), uintptr(records[3]), uintptr(records[4])
		purego.SyscallN(dispatch, a[:4]...)
	}
}

// finish ends recording. The check before forgets nothing: calls are checked as they are made.
func (d *Device) finish(e commandEncoder, call string) (commandBuffer, error) {
	if err := d.check(call); err != nil {
		return 0, err
	}
	c := d.api.finish(e)
	if err := d.check(call); err != nil {
		release(d.api, fnCommandBufferRelease, c)
		return 0, err
	}
	if c == 0 {
		return 0, d.none(call)
	}
	return c, nil
}

// none is the error of a call that returned nothing.
func (d *Device) none(call string) error {
	if err := d.check(call); err != nil {
		return err
	}
	return &plan.DeviceError{Fault: plan.Failed, Call: call, Detail: "the library made none"}
}
