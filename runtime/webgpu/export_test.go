//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import "testing"

// What follows lets tests outside of the package, which may import what is built on it, lose a device and look into it.

// Destroy makes the device lost without telling it.
func Destroy(d *Device) {
	d.do("destroy", func() error { call1(d.api.addr[fnDeviceDestroy], d.device); return nil })
}

// Held is what a device and its library keep.
type Held struct {
	Objects                                                       int64 // of the library
	Buffers, Readbacks, Layouts, Pipelines, Groups, Tickets, Ends int
	Bytes                                                         uint64
}

// Holds counts what is kept.
func Holds(d *Device) Held {
	h := Held{Objects: d.api.live.Load()}
	d.do("count", func() error {
		h.Buffers, h.Readbacks, h.Layouts = len(d.buffers), len(d.readbacks), len(d.layouts)
		h.Pipelines, h.Groups, h.Tickets, h.Ends = len(d.pipelines), len(d.groups), len(d.tickets), len(d.mail.finished)
		for _, size := range d.sizes {
			h.Bytes += size
		}
		for _, r := range d.readbacks {
			h.Bytes += r.bytes
		}
		return nil
	})
	return h
}

// Objects counts the library's objects that are not released.
func Objects(l *Library) int64 { return l.api.live.Load() }

// FirstAdapter is the tests' one adapter.
func FirstAdapter(t *testing.T) *Adapter { return testAdapter(t) }

// ChildCase is the environment variable that names the case of a child process.
const ChildCase = childCase

// InChildren runs cases of a test in processes of their own, on each library.
func InChildren(t *testing.T, test string, names ...string) {
	t.Helper()
	onEveryStack(t, func(t *testing.T, s stack) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				out, err := child(test, name, s.env...)
				mustLive(t, out, err)
			})
		}
	})
}
