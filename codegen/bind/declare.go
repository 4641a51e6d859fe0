package bind

import (
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Declare declares the bindings in a module, in order, and makes every operand a name that kernel text can index, wherever
// it was bound.
func Declare(m *wgsl.Module, b *Bindings) {
	for _, e := range b.List {
		switch e.Access {
		case plan.Uniform:
			m.Uniform(e.Name, e.Elem, e.Count)
		case plan.Read:
			m.Read(e.Name, e.Elem, e.Count)
		default:
			m.ReadWrite(e.Name, e.Elem, e.Count)
		}
	}
	for _, e := range b.List {
		for _, o := range e.Members {
			if o.Operand != e.Name {
				m.Operand(o.Operand, e.Name, o.Elem, o.Offset, o.Count)
			}
		}
	}
}
