//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// bench is what the error cases work on: a device with two buffers, a pipeline and a group.
type bench struct {
	*Device
	x, y            int
	pipeline, group uint32
	read            plan.Range
}

func newBench(t testing.TB, requires plan.Requires) *bench {
	t.Helper()
	return benchOn(t, testDevice(t, requires))
}

func benchOn(t testing.TB, d *Device) *bench {
	t.Helper()
	b := &bench{Device: d}
	b.x, b.y = testBuffer(t, b.Device, "x", axpyItems), testBuffer(t, b.Device, "y", axpyItems)
	b.read = plan.Range{Buffer: b.y, Bytes: 4 * axpyItems}
	b.pipeline = testPipeline(t, b.Device, axpy())
	b.group = testGroup(t, b.Device, axpy(), plan.Range{Buffer: b.x, Bytes: 4 * axpyItems}, b.read)
	return b
}

// work runs axpy over a grid and reads y.
func (b *bench) work(x, y, z uint32) plan.Work {
	return plan.Work{Replays: [][]uint32{{b.pipeline, b.group, x, y, z}}, Reads: []plan.Range{b.read}}
}

// kernel compiles a variant of axpy.
func (b *bench) kernel(change func(k *plan.Kernel)) error {
	k := axpy()
	k.Name = "broken"
	change(k)
	_, err := b.NewPipeline(k, false)
	return err
}

func (b *bench) submit(w plan.Work) error {
	n, err := b.Submit(w)
	if err == nil {
		_, err = b.Wait(context.Background(), n)
	}
	return err
}

// TestErrors makes more mistakes, in this process: TestAborts has those that are dangerous on some library.
func TestErrors(t *testing.T) {
	rw := []plan.Access{plan.Read, plan.ReadWrite}
	for _, c := range []struct {
		name string
		run  func(b *bench) error
		want error  // its type and fields but for Detail
		text string // parts of the message, separated by |
	}{
		{"type error in text", func(b *bench) error {
			return b.kernel(func(k *plan.Kernel) { k.Text = strings.Replace(k.Text, "3.0 *", "3u *", 1) })
		}, &plan.KernelError{Kernel: "broken"}, "kernel broken: |:4:"},
		{"lines count as in the text with its subgroups line", func(b *bench) error {
			return b.kernel(func(k *plan.Kernel) {
				k.Text = plan.EnableSubgroups + strings.Replace(k.Text, "3.0 *", "3u *", 1)
			})
		}, &plan.KernelError{Kernel: "broken"}, ":5:"},
		{"syntax error in text", func(b *bench) error {
			return b.kernel(func(k *plan.Kernel) { k.Text += "}" })
		}, &plan.KernelError{Kernel: "broken"}, "kernel broken: |:5:1"},
		{"too many storage buffers", func(b *bench) error {
			return b.kernel(func(k *plan.Kernel) {
				for len(k.Bindings) < 9 {
					k.Bindings = append(k.Bindings, k.Bindings[0])
				}
			})
		}, &plan.LimitError{Subject: "kernel broken", Limit: plan.LimitStorageBuffers, Need: 9, Have: 8}, "kernel broken: needs maxStorageBuffersPerShaderStage 9, the limit is 8"},
		{"too many invocations", func(b *bench) error {
			return b.kernel(func(k *plan.Kernel) { k.Workgroup = [3]int{32, 16, 1} })
		}, &plan.LimitError{Subject: "kernel broken", Limit: plan.LimitInvocations, Need: 512, Have: 256}, "512"},
		{"too much workgroup memory", func(b *bench) error {
			return b.kernel(func(k *plan.Kernel) { k.WorkgroupBytes = 20000 })
		}, &plan.LimitError{Subject: "kernel broken", Limit: plan.LimitWorkgroupBytes, Need: 20000, Have: 16384}, "20000"},
		{"binding too large", func(b *bench) error {
			return b.kernel(func(k *plan.Kernel) { k.Bindings[0].Bytes = 128<<20 + 4 })
		}, &plan.LimitError{Subject: "kernel broken, binding x", Limit: plan.LimitBindingBytes, Need: 128<<20 + 4, Have: 128 << 20}, "binding x"},
		{"write at the end of the address space", func(b *bench) error { return b.Write(plan.Handle(b.x), 1<<64-4, make([]byte, 8)) },
			&plan.PlanError{Subject: "write to buffer x"}, "leave"},
		{"write to no buffer", func(b *bench) error { return b.Write(99, 0, make([]byte, 4)) },
			&plan.PlanError{Subject: "write"}, "there is no buffer 99"},
		{"range at an offset of 64", func(b *bench) error {
			_, err := b.NewGroup(rw, []plan.Range{{Buffer: b.x, Bytes: 4 * axpyItems}, {Buffer: b.y, Offset: 64, Bytes: 256}})
			return err
		}, &plan.PlanError{Subject: "bind group 1, binding 1"}, "not a multiple of 256"},
		{"range of no buffer", func(b *bench) error {
			_, err := b.NewGroup(rw, []plan.Range{{Buffer: b.x, Bytes: 256}, {Buffer: -1, Bytes: 256}})
			return err
		}, &plan.PlanError{Subject: "bind group 1, binding 1"}, "there is no buffer -1"},
		{"uniform range too large", func(b *bench) error {
			big := testBuffer(t, b.Device, "big", 32768)
			_, err := b.NewGroup([]plan.Access{plan.Uniform}, []plan.Range{{Buffer: big, Bytes: 4 * 32768}})
			return err
		}, &plan.LimitError{Subject: "bind group 1, binding 0", Limit: plan.LimitUniformBytes, Need: 131072, Have: 65536}, "maxUniformBufferBindingSize"},
		{"empty grid", func(b *bench) error { return b.submit(b.work(1, 1, 0)) },
			&plan.PlanError{Subject: "submit, kernel axpy"}, "1x1x0"},
		{"no such pipeline", func(b *bench) error { return b.submit(plan.Work{Replays: [][]uint32{{9, 0, 1, 1, 1}}}) },
			&plan.PlanError{Subject: "submit"}, "no pipeline 9"},
		{"no such group", func(b *bench) error { return b.submit(plan.Work{Replays: [][]uint32{{b.pipeline, 9, 1, 1, 1}}}) },
			&plan.PlanError{Subject: "submit, kernel axpy"}, "no bind group 9"},
		{"half a record", func(b *bench) error { return b.submit(plan.Work{Replays: [][]uint32{{b.pipeline, 0, 1}}}) },
			&plan.PlanError{Subject: "submit"}, "3 words"},
		{"read past the end", func(b *bench) error {
			return b.submit(plan.Work{Reads: []plan.Range{{Buffer: b.y, Offset: 4, Bytes: 4 * axpyItems}}})
		}, &plan.PlanError{Subject: "read of buffer y"}, "16384 bytes at 4"},
		{"wait for nothing", func(b *bench) error { _, err := b.Wait(t.Context(), 77); return err },
			&plan.PlanError{Subject: "wait for ticket 77"}, "there is none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, plan.Requires{Subgroups: true})
			err := c.run(b)
			checkError(t, err, c.want, c.text)
			if err := b.submit(b.work(64, 1, 1)); err != nil {
				t.Errorf("the device is of no use afterwards: %v", err)
			}
		})
	}
}

// checkError compares an error's type and fields, but for Detail and for what want leaves at zero, and looks for parts of its text.
func checkError(t *testing.T, got, want error, text string) {
	t.Helper()
	if got == nil || reflect.TypeOf(got) != reflect.TypeOf(want) {
		t.Fatalf("got %T %v, want %T", got, got, want)
	}
	g, w := reflect.ValueOf(got).Elem(), reflect.ValueOf(want).Elem()
	for i := range w.NumField() {
		if name := w.Type().Field(i).Name; name != "Detail" && !w.Field(i).IsZero() && !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf("%s is %v, want %v", name, g.Field(i), w.Field(i))
		}
	}
	for _, part := range strings.Split(text, "|") {
		if !strings.Contains(got.Error(), part) {
			t.Errorf("the text lacks %q:\n%s", part, got)
		}
	}
	t.Log(got)
}

func TestRequiresMoreThanAdapter(t *testing.T) {
	a := testAdapter(t)
	var limit *plan.LimitError
	_, err := a.Open(t.Context(), plan.Requires{Limits: plan.Limits{WorkgroupBytes: 1 << 30}})
	if !errors.As(err, &limit) || limit.Limit != plan.LimitWorkgroupBytes || limit.Need != 1<<30 || limit.Subject != a.Info().Name {
		t.Errorf("got %v, want a limit error", err)
	}
	var fault *plan.DeviceError
	_, err = a.Open(t.Context(), plan.Requires{Subgroups: true, SubgroupSize: 3})
	if !errors.As(err, &fault) || fault.Fault != plan.NoAdapter || !strings.Contains(fault.Detail, "measured") {
		t.Errorf("got %v, want no adapter", err)
	}
	_, err = a.open(t.Context(), plan.Requires{Limits: plan.Limits{StorageBuffers: 1 << 30}})
	if !errors.As(err, &fault) || fault.Fault != plan.NoAdapter || !strings.Contains(strings.ReplaceAll(strings.ToLower(fault.Detail), "_", ""), "maxstoragebufferspershaderstage") {
		t.Errorf("got %v, want the library's refusal", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = a.Open(ctx, plan.Requires{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
}

func TestUseAfterClose(t *testing.T) {
	b := newBench(t, plan.Requires{})
	n, err := b.Submit(b.work(64, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, call := range calls {
		isFault(t, call, b.oneCall(call, n), plan.Closed)
	}
	b.Device.Device()
	b.Stats()
	zero := &bench{Device: new(Device)} // no Open made it
	for _, call := range calls {
		isFault(t, call, zero.oneCall(call, 1), plan.Closed)
	}
	if err := zero.Close(); err != nil {
		t.Error(err)
	}
}
