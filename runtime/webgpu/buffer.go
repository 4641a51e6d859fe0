//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"strconv"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

type bufferObject struct {
	handle buffer
	name   string
}

// NewBuffer allocates a zeroed buffer.
func (d *Device) NewBuffer(b plan.Buffer) (h plan.Handle, err error) {
	call := "create buffer " + b.Name
	err = d.do(call, func() error {
		switch {
		case b.Bytes == 0 || b.Bytes%4 != 0:
			return &plan.PlanError{Subject: "buffer " + b.Name, Detail: "its size " + utoa(b.Bytes) + " is not a positive multiple of 4"}
		case b.Bytes > d.info.Limits.BufferBytes:
			return &plan.LimitError{Subject: "buffer " + b.Name, Limit: plan.LimitBufferBytes, Need: b.Bytes, Have: d.info.Limits.BufferBytes}
		}
		handle, err := d.createBuffer(b.Name, b.Bytes, usageStorage|usageUniform|usageCopySrc|usageCopyDst)
		if err != nil {
			return err
		}
		h = plan.Handle(len(d.buffers))
		d.buffers = append(d.buffers, bufferObject{handle, b.Name})
		d.sizes = append(d.sizes, b.Bytes)
		return nil
	})
	return h, err
}

func (d *Device) createBuffer(name string, bytes, usage uint64) (buffer, error) {
	var h buffer
	call := "create buffer " + name
	err := d.scoped(call, func() {
		h = d.api.createBuffer(d.device, &bufferDescriptor{label: label(name), usage: usage, size: bytes})
	})
	if err != nil || h == 0 {
		release(d.api, fnBufferRelease, h) // an invalid buffer still has a handle
		if err == nil {
			err = &plan.DeviceError{Fault: plan.Failed, Call: call, Detail: "the library made none"}
		}
		return 0, err
	}
	return h, nil
}

// freeBuffer gives a buffer's memory back. Nothing that was submitted or is being recorded may use it.
func (d *Device) freeBuffer(h buffer) {
	if h != 0 {
		call(d.api.addr[fnBufferDestroy], uintptr(h))
		release(d.api, fnBufferRelease, h)
	}
}

// flushBytes bounds what writes hold in host memory: the library keeps a copy of each until the submit after it is done.
const flushBytes = 32 << 20

type flushState struct {
	pending uint64 // bytes written since the last submit
	index   uint64 // to wait for: of the last submit that was made to flush
}

// Write copies data into a buffer before any later submit.
func (d *Device) Write(h plan.Handle, offset uint64, data []byte) error {
	return d.do("write buffer "+utoa(uint64(h)), func() error {
		if int(h) >= len(d.buffers) {
			return &plan.PlanError{Subject: "write", Detail: "there is no buffer " + utoa(uint64(h))}
		}
		b, n := &d.buffers[h], uint64(len(data))
		switch {
		case offset%4 != 0 || n%4 != 0:
			return &plan.PlanError{Subject: "write to buffer " + b.name, Detail: utoa(n) + " bytes at " + utoa(offset) + ": both must be multiples of 4"}
		case n > d.sizes[h] || offset > d.sizes[h]-n:
			return &plan.PlanError{Subject: "write to buffer " + b.name, Detail: utoa(n) + " bytes at " + utoa(offset) + " leave its " + utoa(d.sizes[h])}
		case n == 0:
			return nil
		}
		return d.write(b, offset, data)
	})
}

// write sends data in pieces, and submits what is pending when it becomes much.
func (d *Device) write(b *bufferObject, offset uint64, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), flushBytes)
		d.api.writeBuffer(d.queue, b.handle, offset, data[:n])
		if err := d.check("write buffer " + b.name); err != nil {
			return err
		}
		d.count(func(s *plan.Stats) { s.WrittenBytes += int64(n) })
		d.flush.pending += uint64(n)
		if d.flush.pending >= flushBytes {
			last := d.flush.index
			d.flush = flushState{index: d.submitNothing()}
			if last != 0 { // two flushes overlap: the device copies one while the next is written
				d.await(last)
			}
		}
		offset, data = offset+uint64(n), data[n:]
	}
	return nil
}

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }
