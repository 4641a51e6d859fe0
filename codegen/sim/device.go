package sim

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Device is a plan.Backend that runs kernels in the simulator and keeps what it finds. Work that is submitted runs one after another,
// beside the caller.
type Device struct {
	info    plan.Device
	options Options

	mutex     sync.Mutex
	ctx       context.Context // of what is submitted now
	cancel    context.CancelFunc
	buffers   []*Buffer
	kinds     []plan.BufferKind
	pipelines []pipeline
	groups    []bindGroup
	tickets   map[plan.Ticket]*ticket
	last      *ticket
	count     plan.Ticket
	found     findings
	stats     plan.Stats
	described []described
	tensors   []string
	closed    bool
}

type pipeline struct {
	kernel  plan.Kernel
	program *Program
}

type bindGroup struct {
	layout []plan.Access
	ranges []plan.Range
}

type ticket struct {
	ctx     context.Context
	done    chan struct{}
	data    []byte
	err     error
	aborted bool // err is that ctx ended
	took    bool
}

// Use is an operand of a dispatch: a tensor and where it lies.
type Use = plan.Use

// Open returns a device that grants what requires asks for, and WebGPU's defaults where that asks for nothing. o.Limits is not
// used: the device's are.
func Open(requires plan.Requires, o Options) (*Device, error) {
	if o.SubgroupSize == 0 {
		o.SubgroupSize = defaultSubgroup
	}
	o.Limits = requires.WithDefaults()
	if err := checkOptions([3]int{}, o, o.SubgroupSize); err != nil {
		return nil, err
	}
	info := plan.Device{
		Kind: "sim", Name: "simulator", Library: "kgen", Limits: o.Limits, Subgroups: true, SubgroupSize: o.SubgroupSize, F16: true,
	}
	if err := requires.Check(info); err != nil {
		return nil, err
	}
	d := &Device{info: info, options: o, tickets: map[plan.Ticket]*ticket{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.last = &ticket{done: make(chan struct{})}
	close(d.last.done)
	return d, nil
}

// Device describes the simulator.
func (d *Device) Device() plan.Device { return d.info }

// Findings returns what was found since the device was opened, by kernel and place. It waits for what was submitted.
func (d *Device) Findings() []Finding {
	d.idle()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.found.sorted()
}

// idle waits for what was submitted.
func (d *Device) idle() {
	d.mutex.Lock()
	last := d.last
	d.mutex.Unlock()
	<-last.done
}

// do runs f unless the device is closed.
func (d *Device) do(call string, f func() error) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.closed {
		return &plan.DeviceError{Fault: plan.Closed, Call: call, Detail: "the device was closed"}
	}
	return f()
}

// NewBuffer allocates a zeroed buffer. Reads of what nobody wrote are findings.
func (d *Device) NewBuffer(b plan.Buffer) (h plan.Handle, err error) {
	err = d.do("create buffer "+b.Name, func() error {
		switch {
		case b.Bytes == 0 || b.Bytes%4 != 0:
			return &plan.PlanError{Subject: "buffer " + b.Name, Detail: "its size " + decimal(int64(b.Bytes)) + " is not a positive multiple of 4"}
		case b.Bytes > d.info.Limits.BufferBytes:
			return &plan.LimitError{Subject: "buffer " + b.Name, Limit: plan.LimitBufferBytes, Need: b.Bytes, Have: d.info.Limits.BufferBytes}
		}
		h = plan.Handle(len(d.buffers))
		d.buffers = append(d.buffers, NewBuffer(b.Name, b.Bytes, false))
		d.kinds = append(d.kinds, b.Kind)
		return nil
	})
	return h, err
}

// Write copies data into a buffer before any later submit, and after the work that was submitted.
func (d *Device) Write(h plan.Handle, offset uint64, data []byte) error {
	return d.do("write", func() error {
		if int(h) >= len(d.buffers) {
			return &plan.PlanError{Subject: "write", Detail: "there is no buffer " + decimal(int64(h))}
		}
		b, n := d.buffers[h], uint64(len(data))
		switch {
		case offset%4 != 0 || n%4 != 0:
			return &plan.PlanError{Subject: "write to buffer " + b.Name, Detail: decimal(int64(n)) + " bytes at " + decimal(int64(offset)) + ": both must be multiples of 4"}
		case n > b.Size() || offset > b.Size()-n:
			return &plan.PlanError{Subject: "write to buffer " + b.Name, Detail: decimal(int64(n)) + " bytes at " + decimal(int64(offset)) + " leave its " + decimal(int64(b.Size()))}
		}
		d.stats.WrittenBytes += int64(n)
		select {
		case <-d.last.done:
			b.Write(offset, data)
		default:
			data := slices.Clone(data)
			d.enqueue(func(context.Context) ([]byte, error) { b.Write(offset, data); return nil, nil })
		}
		return nil
	})
}

// NewPipeline compiles a kernel, which is named in findings as it is in the plan, and its text NAME.wgsl. The simulator always checks bounds.
func (d *Device) NewPipeline(k *plan.Kernel, trusted bool) (h plan.Handle, err error) {
	if k == nil {
		return 0, &plan.PlanError{Subject: "kernel", Detail: "there is none"}
	}
	err = d.do("compile kernel "+k.Name, func() error {
		p, err := compileKernel(k, d.info.Limits)
		if err != nil {
			return err
		}
		h = plan.Handle(len(d.pipelines))
		d.pipelines = append(d.pipelines, pipeline{*k, p})
		return nil
	})
	return h, err
}

// compileKernel compiles a kernel's text and compares it with what the plan says of it.
func compileKernel(k *plan.Kernel, l plan.Limits) (*Program, error) {
	if err := k.Check(l); err != nil {
		return nil, err
	}
	file, _, err := wgsl.ParseLenient(k.Name+".wgsl", k.Text)
	if err != nil {
		return nil, &plan.KernelError{Kernel: k.Name, Detail: err.Error()}
	}
	p, err := Compile(file, "main")
	if err != nil {
		return nil, &plan.KernelError{Kernel: k.Name, Detail: err.Error()}
	}
	if p.Workgroup() != k.Workgroup {
		return nil, &plan.KernelError{Kernel: k.Name, Detail: "the text's workgroup is another than the kernel's"}
	}
	for _, b := range p.bindings {
		if b.Group != 0 || b.Binding >= len(k.Bindings) || k.Bindings[b.Binding].Access != b.Access {
			return nil, &plan.KernelError{Kernel: k.Name, Detail: "binding " + b.Name + " of the text is none of the kernel's"}
		}
	}
	return p, nil
}

// NewGroup makes a bind group for kernels whose accesses are layout.
func (d *Device) NewGroup(layout []plan.Access, ranges []plan.Range) (h plan.Handle, err error) {
	err = d.do("create a bind group", func() error {
		bindings := make([]plan.Binding, len(layout))
		for i, a := range layout {
			bindings[i].Access = a
		}
		sizes := make([]uint64, len(d.buffers))
		for i, b := range d.buffers {
			sizes[i] = b.Size()
		}
		if err := plan.CheckRanges("bind group "+decimal(int64(len(d.groups))), bindings, ranges, sizes, d.info.Limits); err != nil {
			return err
		}
		h = plan.Handle(len(d.groups))
		d.groups = append(d.groups, bindGroup{slices.Clone(layout), slices.Clone(ranges)})
		return nil
	})
	return h, err
}

// Submit starts the work, after all that was submitted before.
func (d *Device) Submit(w plan.Work) (t plan.Ticket, err error) {
	err = d.do("submit", func() error {
		if err := d.checkWork(w); err != nil {
			return err
		}
		work := plan.Work{Reads: slices.Clone(w.Reads)}
		for _, r := range w.Replays {
			work.Replays = append(work.Replays, slices.Clone(r))
			d.stats.Dispatches += int64(len(r) / plan.RecordWords)
		}
		d.count++
		t = d.count
		d.tickets[t] = d.enqueue(func(ctx context.Context) ([]byte, error) { return d.replay(ctx, work) })
		d.stats.Submits++
		return nil
	})
	return t, err
}

// enqueue runs work after all that was enqueued before, unless that failed otherwise than by its context.
func (d *Device) enqueue(work func(context.Context) ([]byte, error)) *ticket {
	before, now := d.last, &ticket{ctx: d.ctx, done: make(chan struct{})}
	d.last = now
	go func() {
		defer close(now.done)
		<-before.done
		if before.err != nil && !before.aborted {
			now.err = before.err
			return
		}
		now.data, now.err = work(now.ctx)
		now.aborted = now.err != nil && now.ctx.Err() != nil
	}()
	return now
}

func (d *Device) checkWork(w plan.Work) error {
	for _, records := range w.Replays {
		if len(records)%plan.RecordWords != 0 {
			return &plan.PlanError{Subject: "submit", Detail: decimal(int64(len(records))) + " words are no list of records"}
		}
		for at := 0; at < len(records); at += plan.RecordWords {
			if err := d.checkRecord(records[at : at+plan.RecordWords]); err != nil {
				return err
			}
		}
	}
	for i, r := range w.Reads {
		if r.Buffer < 0 || r.Buffer >= len(d.buffers) {
			return &plan.PlanError{Subject: "read " + decimal(int64(i)), Detail: "there is no buffer " + decimal(int64(r.Buffer))}
		}
		if size := d.buffers[r.Buffer].Size(); r.Bytes == 0 || r.Bytes%4 != 0 || r.Offset%4 != 0 || r.Bytes > size || r.Offset > size-r.Bytes {
			return &plan.PlanError{Subject: "read of buffer " + d.buffers[r.Buffer].Name, Detail: decimal(int64(r.Bytes)) + " bytes at " + decimal(int64(r.Offset)) + " of its " + decimal(int64(size)) + ": not a part of multiples of 4"}
		}
	}
	return nil
}

func (d *Device) checkRecord(r []uint32) error {
	if int(r[0]) >= len(d.pipelines) {
		return &plan.PlanError{Subject: "submit", Detail: "there is no pipeline " + decimal(int64(r[0]))}
	}
	k := &d.pipelines[r[0]].kernel
	if int(r[1]) >= len(d.groups) {
		return &plan.PlanError{Subject: "submit, kernel " + k.Name, Detail: "there is no bind group " + decimal(int64(r[1]))}
	}
	if !slices.Equal(k.Accesses(), d.groups[r[1]].layout) {
		return &plan.PlanError{Subject: "submit, kernel " + k.Name, Detail: "bind group " + decimal(int64(r[1])) + " has another layout"}
	}
	return plan.CheckGrid("submit, kernel "+k.Name, int(r[2]), int(r[3]), int(r[4]), d.info.Limits)
}

// replay runs lists of records and reads what is asked for.
func (d *Device) replay(ctx context.Context, w plan.Work) ([]byte, error) {
	for _, records := range w.Replays {
		told := d.knows(records)
		for at := 0; at < len(records); at += plan.RecordWords {
			if err := d.dispatch(ctx, records[at:at+plan.RecordWords], told, at/plan.RecordWords); err != nil {
				return nil, err
			}
		}
	}
	var data []byte
	for _, r := range w.Reads {
		d.mutex.Lock()
		b := d.buffers[r.Buffer]
		d.stats.ReadBytes += int64(r.Bytes)
		d.mutex.Unlock()
		data = append(data, b.Read(r.Offset, r.Bytes)...)
	}
	return data, nil
}

// dispatch runs one record.
func (d *Device) dispatch(ctx context.Context, r []uint32, told *described, n int) error {
	d.mutex.Lock()
	p, g := d.pipelines[r[0]], d.groups[r[1]]
	bindings := make([]Binding, len(g.ranges))
	for i, r := range g.ranges {
		bindings[i] = Binding{Binding: i, Buffer: d.buffers[r.Buffer], Offset: r.Offset, Bytes: r.Bytes}
	}
	d.mutex.Unlock()
	run, err := p.program.prepare([3]int{int(r[2]), int(r[3]), int(r[4])}, bindings, d.options)
	if err != nil {
		return err
	}
	run.kernel = p.kernel.Name
	d.tell(run, told, n)
	result, err := run.run(ctx)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	switch {
	case err != nil && d.closed:
		return &plan.DeviceError{Fault: plan.Closed, Call: "run kernel " + p.kernel.Name, Detail: "the device was closed"}
	case err != nil:
		return &plan.DeviceError{Fault: plan.Failed, Call: "run kernel " + p.kernel.Name, Detail: "who waited for it gave up"}
	}
	for _, f := range result.Findings {
		d.found.add(f)
	}
	return nil
}

// Wait blocks until the work of t is done and returns the bytes of its reads, one after another. A context that ends while it waits
// ends all work that was submitted: a second Wait says so, and what is submitted later runs.
func (d *Device) Wait(ctx context.Context, t plan.Ticket) ([]byte, error) {
	d.mutex.Lock()
	w := d.tickets[t]
	if d.closed || w == nil || w.took {
		defer d.mutex.Unlock()
		if d.closed {
			return nil, &plan.DeviceError{Fault: plan.Closed, Call: "wait", Detail: "the device was closed"}
		}
		return nil, &plan.PlanError{Subject: "wait", Detail: "there is no ticket " + decimal(int64(t)) + ", or it was waited for"}
	}
	d.mutex.Unlock()
	start := time.Now()
	select {
	case <-w.done:
	case <-ctx.Done():
		d.mutex.Lock()
		defer d.mutex.Unlock()
		d.cancel()
		if !d.closed {
			d.ctx, d.cancel = context.WithCancel(context.Background())
		}
		return nil, ctx.Err()
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	w.took = true
	delete(d.tickets, t)
	d.stats.Syncs++
	d.stats.SyncNanos += time.Since(start).Nanoseconds()
	return w.data, w.err
}

// Stats returns what was counted since the device was opened.
func (d *Device) Stats() plan.Stats {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.stats
}

// Close ends what runs and frees everything. It may be called twice.
func (d *Device) Close() error {
	d.mutex.Lock()
	d.closed = true
	last, cancel := d.last, d.cancel
	d.mutex.Unlock()
	cancel()
	<-last.done
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.buffers, d.pipelines, d.groups = nil, nil, nil
	return nil
}
