package sim

import (
	"context"
	"errors"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Program is an entry point made ready to run.
type Program struct {
	file     *wgsl.File
	entry    *wgsl.Func
	bindings []Declared
}

// Declared is a binding that an entry point uses.
type Declared struct {
	Group, Binding int
	Name           string
	Access         plan.Access
	Type           wgsl.Type
	Bytes          uint64 // of a sized type; of a type that ends in a runtime-sized array, with one element of it
	Runtime        bool   // the type ends in a runtime-sized array
}

// Binding says which memory a binding of the entry point gets.
type Binding struct {
	Group, Binding int
	Buffer         *Buffer
	Offset, Bytes  uint64 // the range; multiples of 4
}

// Result is what a run showed. The outputs are in the buffers.
type Result struct {
	Findings []Finding
	Groups   int   // workgroups that ran
	Steps    int64 // operations of whole workgroups
}

// Compile makes an entry point ready to run. An empty name stands for the only one. Errors are *wgsl.Error for what the simulator
// doesn't do, and *plan.KernelError where the entry point can't be told.
func Compile(file *wgsl.File, entry string) (*Program, error) {
	return nil, errors.New("not built yet")
}

// Entry returns the name of the entry point.
func (p *Program) Entry() string { return p.entry.Name }

// Workgroup returns the size of a workgroup.
func (p *Program) Workgroup() [3]int { return p.entry.Workgroup }

// Bindings returns the bindings that the entry point uses, by group and number.
func (p *Program) Bindings() []Declared { return p.bindings }

// Run dispatches a grid of workgroups. What WebGPU refuses is a finding if the program can run all the same, and an error otherwise:
// a *plan.PlanError for bindings that are missing, unknown, not of the buffer or too small. A context that ends gives its error.
func (p *Program) Run(ctx context.Context, grid [3]int, bindings []Binding, o Options) (*Result, error) {
	return nil, errors.New("not built yet")
}
