//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// children are the cases in which a library may end the process. TestChild runs each in a process of its own: this test
// binary again, with KGEN_TEST_CHILD set to the name of the case.
var children = map[string]func(t *testing.T){
	"every call on a destroyed device": func(t *testing.T) {
		b := newBench(t, plan.Requires{})
		n, err := b.Submit(b.work(64, 1, 1))
		if err != nil {
			t.Fatal(err)
		}
		b.destroy(t)
		b.calledWhenLost(t, n)
	},
	"submit on a destroyed device": func(t *testing.T) {
		b := newBench(t, plan.Requires{})
		b.destroy(t)
		_, err := b.Submit(plan.Work{})
		isFault(t, "Submit", err, plan.Lost)
		b.calledWhenLost(t, 0)
	},
	"record on a destroyed device": func(t *testing.T) {
		b := newBench(t, plan.Requires{})
		b.destroy(t)
		_, err := b.Submit(b.work(64, 1, 1))
		isFault(t, "Submit", err, plan.Lost)
	},
	"write to a destroyed device": func(t *testing.T) {
		b := newBench(t, plan.Requires{})
		b.destroy(t)
		isFault(t, "Write", b.Write(0, 0, make([]byte, 64)), plan.Lost)
	},
	"compile on a destroyed device": func(t *testing.T) {
		b := newBench(t, plan.Requires{})
		b.destroy(t)
		_, err := b.NewPipeline(step(), false)
		isFault(t, "NewPipeline", err, plan.Lost)
	},
	"wait on a destroyed device": func(t *testing.T) {
		b := newBench(t, plan.Requires{})
		n, err := b.Submit(b.work(64, 1, 1))
		if err != nil {
			t.Fatal(err)
		}
		b.destroy(t)
		if _, err := b.Wait(t.Context(), n); err != nil { // the work may have been done before
			isFault(t, "Wait", err, plan.Lost)
		}
	},
	"out of memory": func(t *testing.T) {
		limitMemory(t, 3<<30)
		d := testDevice(t, plan.Requires{Limits: plan.Limits{BufferBytes: 1 << 30}})
		if d.Device().Kind != "software" {
			t.Skip("the memory of a GPU is not limited like that of a process")
		}
		var err error
		for range 4 {
			if _, err = d.NewBuffer(plan.Buffer{Name: "kv3", Kind: plan.KVBuffer, Bytes: 1 << 30}); err != nil {
				break
			}
		}
		isFault(t, "NewBuffer", err, plan.OutOfMemory)
		if err != nil && !strings.Contains(err.Error(), "kv3") {
			t.Errorf("%v does not name the buffer", err)
		}
		testBuffer(t, d, "small", 64) // the device goes on
	},
	"close with work in flight": func(t *testing.T) {
		b := newBench(t, plan.Requires{})
		for range 3 {
			if _, err := b.Submit(b.work(64, 1, 1)); err != nil {
				t.Fatal(err)
			}
		}
		b.Close()
	},
	"refused command buffer": func(t *testing.T) { TestLibraryRefusesClash(t) },
}

func TestChild(t *testing.T) {
	if name := os.Getenv("KGEN_TEST_CHILD"); name != "" {
		children[name](t)
		return
	}
	testAdapter(t)
	for name := range children {
		t.Run(name, func(t *testing.T) {
			c := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v", "-test.timeout=120s")
			c.Env = append(os.Environ(), "KGEN_TEST_CHILD="+name)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
			if strings.Contains(string(out), "--- SKIP") {
				t.Skip("the child process skipped it")
			}
		})
	}
}

// destroy makes the device lost.
func (b *bench) destroy(t *testing.T) {
	t.Helper()
	if err := b.do("destroy", func() error { call1(b.api.addr[fnDeviceDestroy], b.device); return nil }); err != nil {
		t.Fatal(err)
	}
}

// calledWhenLost makes each call: none ends the process and all say that the device is lost.
func (b *bench) calledWhenLost(t *testing.T, n plan.Ticket) {
	t.Helper()
	b.Submit(b.work(64, 1, 1)) // any first call notes the loss
	for call, err := range b.everyCall(n) {
		if call == "Wait" && (err == nil || n == 0) {
			continue // the work was done before, or there was none
		}
		isFault(t, call, err, plan.Lost)
	}
}

func isFault(t *testing.T, call string, err error, fault plan.DeviceFault) {
	t.Helper()
	var e *plan.DeviceError
	if !errors.As(err, &e) || e.Fault != fault {
		t.Errorf("%s: got %T %v, want fault %d", call, err, err, fault)
		return
	}
	t.Logf("%s: %v", call, err)
}
