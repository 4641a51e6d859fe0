package sim

import (
	"sync"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Program is an entry point made ready to run. It may run several times at once.
type Program struct {
	file     *wgsl.File
	entry    *wgsl.Func
	bindings []Declared
	size     [3]int // of a workgroup

	body        []op
	invocations int
	slots       int            // registers
	constants   map[uint32]int // registers that hold constants
	masks       int            // sets of invocations; the first is the one of the whole
	inputs      []input
	sites       []site
	shared      []ref          // workgroup variables
	sharedAt    map[string]int // their first bytes
	sharedWords int
	sharedBytes int      // of workgroup variables as devices count them
	private     int      // bytes of private variables
	function    function // the one with the most bytes of variables

	mutex sync.Mutex
	idle  []*machine
}

// function is a function of the program and the bytes of its variables.
type function struct {
	of    *wgsl.Func
	bytes int
}

// input is a register that holds part of a built-in value.
type input struct {
	name string
	part int
	slot int
}

// Declared is a binding that an entry point uses.
type Declared struct {
	Group, Binding int
	Name           string
	Access         plan.Access
	Type           wgsl.Type
	Bytes          uint64 // of a sized type; of a type that ends in a runtime-sized array, with one element of it
	Runtime        bool   // the type ends in a runtime-sized array

	symbol *wgsl.Symbol
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

// Entry returns the name of the entry point.
func (p *Program) Entry() string { return p.entry.Name }

// Workgroup returns the size of a workgroup.
func (p *Program) Workgroup() [3]int { return p.size }

// WorkgroupBytes returns the workgroup memory that the entry point uses, each variable rounded up to 16 bytes, as WebGPU counts it.
func (p *Program) WorkgroupBytes() int { return p.sharedBytes }

// Bindings returns the bindings that the entry point uses, by group and number.
func (p *Program) Bindings() []Declared { return p.bindings }

// machine returns a machine that is idle, or a new one.
func (p *Program) machine() *machine {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if n := len(p.idle); n > 0 {
		m := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return m
	}
	return p.newMachine()
}

func (p *Program) release(m *machine) {
	m.dispatch = nil
	p.mutex.Lock()
	p.idle = append(p.idle, m)
	p.mutex.Unlock()
}
