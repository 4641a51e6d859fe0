package bind

import (
	"fmt"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Bindings says how the operands of a kernel are bound.
type Bindings struct {
	Kernel string
	List   []Binding // by binding number
	Steps  []string  // what was done and why, one line each

	limits plan.Limits
}

// Binding is one entry of a bind group: an array of Count elements in Range, which is zero on paper.
type Binding struct {
	Name    string
	Elem    string
	Access  plan.Access
	Count   int
	Range   plan.Range
	Members []Member
}

// Member is an operand's part of a binding. Offset counts elements of the binding.
type Member struct {
	Operand string
	Elem    string
	Offset  int
	Count   int
}

func (b Binding) bytes() uint64 { return uint64(b.Count) * elemBytes[b.Elem] }

// Storage returns how many storage bindings there are.
func (b *Bindings) Storage() int { return len(b.List) - b.Uniforms() }

// Uniforms returns how many uniform bindings there are.
func (b *Bindings) Uniforms() int {
	n := 0
	for _, e := range b.List {
		if e.Access == plan.Uniform {
			n++
		}
	}
	return n
}

// Layout returns the accesses of the bindings, in order.
func (b *Bindings) Layout() []plan.Access {
	out := make([]plan.Access, len(b.List))
	for i, e := range b.List {
		out[i] = e.Access
	}
	return out
}

// Ranges returns what to bind, in order.
func (b *Bindings) Ranges() []plan.Range {
	out := make([]plan.Range, len(b.List))
	for i, e := range b.List {
		out[i] = e.Range
	}
	return out
}

// Declared returns the bindings as a plan's kernel lists them.
func (b *Bindings) Declared() []plan.Binding {
	out := make([]plan.Binding, len(b.List))
	for i, e := range b.List {
		out[i] = plan.Binding{Name: e.Name, Access: e.Access, Bytes: e.bytes()}
	}
	return out
}

// String prints the account: what was done, then every binding with its members.
func (b *Bindings) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %d of %d storage bindings, %d uniform\n", b.Kernel, b.Storage(), b.limits.StorageBuffers, b.Uniforms())
	for _, step := range b.Steps {
		fmt.Fprintf(&s, "  %s\n", step)
	}
	for i, e := range b.List {
		fmt.Fprintf(&s, "  %d %-10s %s: array<%s, %d>", i, e.Access, e.Name, e.Elem, e.Count)
		if e.Range != (plan.Range{}) {
			fmt.Fprintf(&s, " in buffer %d at %d", e.Range.Buffer, e.Range.Offset)
		}
		if len(e.Members) > 1 {
			s.WriteString(" =")
			for _, m := range e.Members {
				fmt.Fprintf(&s, " %s %s[%d] at %d,", m.Operand, m.Elem, m.Count, m.Offset)
			}
			text := strings.TrimSuffix(s.String(), ",")
			s.Reset()
			s.WriteString(text)
		}
		s.WriteByte('\n')
	}
	return s.String()
}
