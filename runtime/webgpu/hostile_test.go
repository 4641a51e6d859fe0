//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
	"pgregory.net/rapid"
)

// TestHostile makes calls with arguments that no plan has, drawn at random, from one goroutine and from several, with
// losses, cancelled waits and Close among them. Each ends well or with a typed error, and nothing is left afterwards.
func TestHostile(t *testing.T) {
	if name := os.Getenv(childCase); name != "" {
		map[string]func(t *testing.T){"alone": hostileAlone, "together": hostileTogether, "open": hostileOpen}[name](t)
		return
	}
	checks := cmp.Or(os.Getenv("RAPID_CHECKS"), "60")
	onEveryStack(t, func(t *testing.T, s stack) {
		for _, name := range []string{"alone", "together", "open"} {
			t.Run(name, func(t *testing.T) {
				// The draws of a sequence that ends the process are the last lines that it printed.
				out, err := child("TestHostile", name, append(s.env, "RAPID_LOG=1", "RAPID_NOFAILFILE=1", "RAPID_CHECKS="+checks)...)
				if i := strings.LastIndex(out, "[rapid] trying"); i > 0 && err == nil {
					out = out[i:]
				}
				mustLive(t, out[max(0, len(out)-4000):], err)
			})
		}
	})
}

// hostile calls a device at random. It is for one goroutine; several may share a device.
type hostile struct {
	*bench
	draw    func(what string, below int) int
	tickets []plan.Ticket
}

// pick draws one of some values.
func pick[T any](h *hostile, what string, values ...T) T { return values[h.draw(what, len(values))] }

func (h *hostile) size() uint64 {
	return pick[uint64](h, "size", 0, 3, 4, 256, 4*axpyItems, 1<<20, 1<<40, math.MaxUint64-3, math.MaxUint64)
}

func (h *hostile) offset() uint64 {
	return pick[uint64](h, "offset", 0, 0, 2, 4, 256, 4*axpyItems-4, 1<<40, math.MaxUint64-255, math.MaxUint64-3)
}

func (h *hostile) handle() uint32 {
	return pick[uint32](h, "handle", 0, 0, 1, 1, 2, 3, 7, 1<<31, math.MaxUint32)
}

func (h *hostile) ranges() []plan.Range {
	list := make([]plan.Range, pick(h, "ranges", 0, 1, 1, 2, 2, 3, 40))
	for i := range list {
		list[i] = plan.Range{Buffer: pick(h, "buffer", 0, 0, 1, 1, 2, 5, -1, math.MinInt, math.MaxInt), Offset: h.offset(), Bytes: h.size()}
	}
	return list
}

func (h *hostile) accesses() []plan.Access {
	list := make([]plan.Access, pick(h, "accesses", 0, 1, 1, 2, 2, 3, 40))
	for i := range list {
		list[i] = pick(h, "access", plan.Uniform, plan.Read, plan.ReadWrite, plan.ReadWrite, 0, 77)
	}
	return list
}

// kernel returns a kernel, most with something wrong.
func (h *hostile) someKernel() *plan.Kernel {
	k := axpy()
	switch h.draw("kernel", 14) {
	case 0:
		return nil
	case 1:
		return &plan.Kernel{}
	case 2:
		k.Text = strings.Replace(k.Text, "3.0", "3u", 1)
	case 3:
		k.Text = "\xff"
	case 4:
		k.Text, k.Name = "\x00", "\x00\xff'"
	case 5:
		k.Bindings[0].Access = 77
	case 6:
		k.Bindings[1].Bytes = math.MaxUint64
	case 7:
		k.Bindings = k.Bindings[:h.draw("bindings", 2)]
	case 8:
		k.Workgroup = [3]int{math.MinInt, math.MaxInt, 1}
	case 9:
		k.Workgroup = [3]int{1 << 31, 1 << 31, 4}
	case 10:
		k.WorkgroupBytes = pick(h, "bytes", -1, math.MinInt, math.MaxInt)
	case 11:
		k.Text = strings.Replace(k.Text, "size(64)", "size(4096)", 1)
	case 12:
		k = step()
	}
	return k
}

// work returns records and reads. A grid that the limits allow is small, because a large one takes long.
func (h *hostile) someWork() plan.Work {
	var w plan.Work
	for range h.draw("replays", 3) {
		var records []uint32
		for range h.draw("records", 4) {
			var grid [3]uint32
			product := 1
			for i := range grid {
				grid[i] = pick[uint32](h, "groups", 1, 1, 2, 64, 0, 65535, 65536, 1<<31, math.MaxUint32)
				product *= min(int(grid[i]), 65536)
			}
			if product > 65535 {
				grid[1], grid[2] = min(grid[1], 1), 1
			}
			records = append(records, h.handle(), h.handle(), grid[0], grid[1], grid[2])
		}
		w.Replays = append(w.Replays, records[:len(records)-min(len(records), pick(h, "cut", 0, 0, 0, 0, 1, 4))])
	}
	if h.draw("read", 2) == 1 {
		w.Reads = h.ranges()
	}
	return w
}

// call makes one call and returns its error.
func (h *hostile) call() error {
	var err error
	switch h.draw("call", 12) {
	case 0:
		_, err = h.NewBuffer(plan.Buffer{Name: pick(h, "name", "b", "", "\xff", "'\x00"), Kind: plan.BufferKind(h.draw("kind", 9)), Bytes: h.size()})
	case 1, 2:
		err = h.Write(plan.Handle(h.handle()), h.offset(), make([]byte, pick(h, "bytes", 0, 3, 4, 256, 4*axpyItems)))
	case 3:
		_, err = h.NewPipeline(h.someKernel(), h.draw("trusted", 2) == 1)
	case 4:
		_, err = h.NewGroup(h.accesses(), h.ranges())
	case 5, 6, 7:
		var n plan.Ticket
		if n, err = h.Submit(h.someWork()); err == nil {
			h.tickets = append(h.tickets, n)
		}
	case 8, 9:
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if h.draw("cancelled", 4) == 0 {
			cancel()
		}
		_, err = h.Wait(ctx, pick(h, "ticket", append(h.tickets, 0, 1, math.MaxUint64)...))
	case 10:
		err = h.JudgeKernel(h.someKernel(), false)
	case 11:
		h.Stats()
		h.Device.Device()
		err = h.JudgeText("text", pick(h, "text", "", "?", "\xff", "fn f() {}", "\x00"))
	}
	return err
}

// typed says what is wrong with an error, given what was done to the device.
func typed(err error, lost, closed bool) error {
	var limit *plan.LimitError
	var kernel *plan.KernelError
	var mistake *plan.PlanError
	var fault *plan.DeviceError
	switch {
	case err == nil, errors.As(err, &limit), errors.As(err, &kernel), errors.As(err, &mistake), errors.Is(err, context.Canceled):
		return nil
	case !errors.As(err, &fault):
		return fmt.Errorf("%T %w has no type of its own", err, err)
	case fault.Fault == plan.Failed, fault.Fault == plan.Lost && lost, fault.Fault == plan.Closed && closed:
		return nil
	}
	return fmt.Errorf("fault %d without a reason: %w", fault.Fault, err)
}

// hostileBenches opens devices, and returns a function that closes them and looks at what is left.
func hostileBenches(test *testing.T, t *rapid.T, a *Adapter, n int) ([]*bench, func()) {
	before := a.library.api.live.Load()
	benches := make([]*bench, n)
	for i := range benches {
		d, err := a.Open(context.Background(), plan.Requires{})
		if err != nil {
			t.Fatal(err)
		}
		benches[i] = benchOn(test, d)
	}
	return benches, func() {
		for _, b := range benches {
			b.Close()
		}
		if n := a.library.api.live.Load() - before; n != 0 {
			t.Errorf("%d objects are left", n)
		}
		mailboxes.Lock()
		defer mailboxes.Unlock()
		if n := len(mailboxes.byID); n != 0 {
			t.Errorf("%d mailboxes are left", n)
		}
	}
}

func hostileAlone(test *testing.T) {
	a := testAdapter(test)
	var well, failed, gone int
	rapid.Check(test, func(t *rapid.T) {
		benches, end := hostileBenches(test, t, a, 1)
		defer end()
		b := benches[0]
		h := &hostile{bench: b, draw: func(what string, below int) int { return rapid.IntRange(0, below-1).Draw(t, what) }}
		lost, closed := -1, -1 // before which call
		switch rapid.IntRange(0, 3).Draw(t, "end") {
		case 0:
			lost = rapid.IntRange(0, 20).Draw(t, "lost")
		case 1:
			closed = rapid.IntRange(0, 20).Draw(t, "closed")
		}
		noticed := false
		for i := range 25 {
			switch i {
			case lost:
				b.do("destroy", func() error { call1(b.api.addr[fnDeviceDestroy], b.device); return nil })
			case closed:
				b.Close()
			}
			err := h.call()
			if wrong := typed(err, lost >= 0 && i >= lost, closed >= 0 && i >= closed); wrong != nil {
				t.Fatal(wrong)
			}
			var fault *plan.DeviceError
			isGone := errors.As(err, &fault) && (fault.Fault == plan.Lost || fault.Fault == plan.Closed)
			if noticed && err == nil {
				t.Fatal("a call ended well after the loss was noticed")
			}
			noticed = noticed || isGone
			switch {
			case isGone:
				gone++
			case err != nil:
				failed++
			default:
				well++
			}
		}
		if lost < 0 && closed < 0 {
			if err := b.submit(b.work(64, 1, 1)); err != nil {
				t.Fatalf("the device is of no use afterwards: %v", err)
			}
		}
	})
	test.Logf("%d calls ended well, %d with an error, %d after a loss or Close", well, failed, gone)
	if min(well, failed, gone) == 0 {
		test.Error("one way to end did not come up")
	}
}

// hostileTogether calls one or two devices from four goroutines. What becomes of the first does not reach the second.
func hostileTogether(test *testing.T) {
	a := testAdapter(test)
	rapid.Check(test, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		how := rapid.SampledFrom([]string{"none", "lost", "closed", "closed twice"}).Draw(t, "end")
		benches, end := hostileBenches(test, t, a, rapid.IntRange(1, 2).Draw(t, "devices"))
		defer end()
		wrong := make(chan error, 100)
		var all sync.WaitGroup
		for g := range 4 {
			b, first := benches[g%len(benches)], g%len(benches) == 0
			all.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(g)))
				h := &hostile{bench: b, draw: func(_ string, below int) int { return random.IntN(below) }}
				for i := range 15 {
					if i == 7 {
						switch {
						case how == "lost" && g == 0:
							b.do("destroy", func() error { call1(b.api.addr[fnDeviceDestroy], b.device); return nil })
						case how == "closed" && g == 0, how == "closed twice" && first:
							b.Close()
						}
					}
					if err := typed(h.call(), how == "lost" && first, strings.HasPrefix(how, "closed") && first); err != nil {
						wrong <- err
					}
				}
			})
		}
		all.Wait()
		close(wrong)
		for err := range wrong {
			t.Error(err)
		}
	})
}

// hostileOpen asks for devices that no plan asks for, one odd limit at a time.
func hostileOpen(t *testing.T) {
	a := testAdapter(t)
	opens, refused := 0, 0
	try := func(what string, requires plan.Requires) {
		d, err := a.Open(t.Context(), requires)
		if err == nil {
			opens++
			if err := (&bench{Device: d}).submit(plan.Work{}); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			d.Close()
			return
		}
		refused++
		var limit *plan.LimitError
		var fault *plan.DeviceError
		// A device whose buffers hold less than a word is of no use to its own probe: that is fault Failed.
		if !errors.As(err, &limit) && (!errors.As(err, &fault) || fault.Fault != plan.NoAdapter && fault.Fault != plan.Failed) {
			t.Errorf("%s: %T %v", what, err, err)
		}
	}
	fields := reflect.TypeFor[plan.Limits]()
	for i := range fields.NumField() {
		for _, value := range []uint64{1, math.MaxUint64, math.MaxInt64, 1 << 63, 1 << 32} {
			var l plan.Limits
			if f := reflect.ValueOf(&l).Elem().Field(i); f.CanInt() {
				f.SetInt(int64(value))
			} else {
				f.SetUint(value)
			}
			try(fields.Field(i).Name+" "+strconv.FormatUint(value, 10), plan.Requires{Limits: l})
		}
	}
	for _, size := range []int{-1, math.MinInt, math.MaxInt, 3} {
		try("subgroups of "+strconv.Itoa(size), plan.Requires{SubgroupSize: size})
	}
	if opens == 0 || refused == 0 {
		t.Errorf("%d were opened, %d refused", opens, refused)
	}
	for _, selector := range []string{"-1", "99999999999999999999", "\xff", "\x00", "0x0"} {
		if _, err := selectAdapters([]*Adapter{a}, selector); !errors.As(err, new(*plan.DeviceError)) {
			t.Errorf("adapter %q: %v", selector, err)
		}
	}
	for _, path := range []string{t.TempDir(), os.DevNull, "\x00", strings.Repeat("x", 1<<20), os.Args[0]} {
		l, err := Find(Options{Library: path})
		var fault *plan.DeviceError
		if l != nil || !errors.As(err, &fault) || fault.Fault != plan.NoLibrary {
			t.Errorf("library %.20q: %v", path, err)
		}
	}
}
