package plan

import "testing"

// Kernels share a bind group when they bind the same ranges in the same way. The same ranges bound another way are another
// group: its layout is another.
func TestGroupsFollowAccess(t *testing.T) {
	b := NewBuilder("groups", "tiny", requires())
	buffer := b.Buffer(Buffer{"values", ArenaBuffer, 512})
	kernel := func(name string, access Access) int {
		return b.Kernel(Kernel{Name: name, Text: name, Workgroup: [3]int{1, 1, 1}, Bindings: []Binding{{"x", access, 256}}})
	}
	l := b.List(Decode, 1)
	for _, k := range []int{kernel("reads", Read), kernel("reads too", Read), kernel("writes", ReadWrite), kernel("takes", Uniform)} {
		l.Dispatch(k, 1, 1, 1, Range{buffer, 0, 256})
	}
	l.Dispatch(0, 1, 1, 1, Range{buffer, 0, 512})
	l.Dispatch(0, 1, 1, 1, Range{buffer, 256, 256})
	p, err := b.Plan()
	if err != nil {
		t.Fatal(err)
	}
	records := p.Lists[0].Records
	for i, want := range []uint32{0, 0, 1, 2, 3, 4} {
		if got := records[i*RecordWords+1]; got != want {
			t.Errorf("dispatch %d binds group %d, want %d", i, got, want)
		}
	}
	for i, want := range []Access{Read, ReadWrite, Uniform, Read, Read} {
		if got := p.Groups[i].Layout[0]; got != want {
			t.Errorf("group %d has access %d, want %d", i, got, want)
		}
	}
}
