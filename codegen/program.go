package codegen

import (
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Program is a plan as the calls of plan.Builder that make it, with the names and layers that the calls belong to. Compile
// builds its plan from it, and generated Go makes the same calls in the same order, so both get the same plan.
type Program struct {
	Name     string
	Profile  string
	Requires plan.Requires
	Vocab    int
	Context  int

	Stacks     []Stack
	Tables     []plan.Table // To is left to the builder
	Params     plan.Params  // Range is left to the builder
	KV         plan.KV      // Layers are left to the builder
	Caches     []Cache
	Outputs    []Output
	Arenas     []uint64 // bytes of each
	Kernels    []plan.Kernel
	Dispatches []Dispatch
}

// NoLayer is the layer of what stands before the layers or after them.
const NoLayer = -1

// Stack is weights that one kernel reads as one matrix. Format is their recipe but for rows and places.
type Stack struct {
	Layer   int
	Format  plan.Recipe
	Tensors []plan.Rows
}

// Cache is the K and V of one cache layer.
type Cache struct {
	Layer   int
	Half    string // keys or values
	Subject string // for errors
	Bytes   uint64
}

// Output is a value that stays readable.
type Output struct {
	Name  string
	Bytes uint64
}

// Dispatch is one run of a kernel, part of the lists of its phases.
type Dispatch struct {
	Node   string // the graph's node that it computes
	Layer  int
	Kernel int // in Kernels
	Grid   [3]int
	Phases []plan.Phase
	Args   []Arg // for each binding
}

// Arg is what a binding gets: Bytes from Offset on of something that the builder placed.
type Arg struct {
	Of     Placed
	Index  int      // in Stacks, Tables, Caches, Outputs or Arenas
	Plane  int      // of a stack
	Values []string // for arenas and outputs: the values that lie there, in order
	Offset uint64
	Bytes  uint64
}

// Placed says what an Arg is part of.
type Placed uint8

// What the builder places.
const (
	InStack Placed = iota + 1
	InTable
	InParams
	InCache
	InOutput
	InArena
)

// Build makes the calls.
func (p *Program) Build() (*plan.Plan, error) {
	b := plan.NewBuilder(p.Name, p.Profile, p.Requires)
	placed := p.place(b)
	b.Model(p.Vocab, p.Context)
	numbers := make([]int, len(p.Kernels))
	for i, k := range p.Kernels {
		numbers[i] = b.Kernel(k)
	}
	lists := map[plan.Phase]*plan.ListBuilder{}
	for _, phase := range plan.Phases() {
		lists[phase] = b.List(phase, 1)
	}
	for _, d := range p.Dispatches {
		ranges := make([]plan.Range, len(d.Args))
		for i, a := range d.Args {
			ranges[i] = placed.at(a)
		}
		for _, phase := range d.Phases {
			lists[phase].Dispatch(numbers[d.Kernel], d.Grid[0], d.Grid[1], d.Grid[2], ranges...)
		}
	}
	return b.Plan()
}

// placed is where a builder put things.
type placed struct {
	stacks                  [][]plan.Range
	tables, caches, outputs []plan.Range
	params                  plan.Range
	arenas                  []int
}

// place lets a builder place everything, in the order in which generated code does.
func (p *Program) place(b *plan.Builder) *placed {
	at := &placed{}
	for _, s := range p.Stacks {
		at.stacks = append(at.stacks, b.Stack(s.Format, s.Tensors...))
	}
	for _, t := range p.Tables {
		t.To = b.Place(plan.TableBuffer, "position table", uint64(t.Positions)*uint64(t.Dims)*4)
		b.Table(t)
		at.tables = append(at.tables, t.To)
	}
	params := p.Params
	params.Range = b.Place(plan.ParamsBuffer, "params", uint64(params.Words())*4)
	b.Params(params)
	at.params = params.Range
	kv := p.KV
	for _, c := range p.Caches {
		kv.Layers = append(kv.Layers, b.Place(plan.KVBuffer, c.Subject, c.Bytes))
	}
	b.KV(kv)
	at.caches = kv.Layers
	for _, o := range p.Outputs {
		to := b.Place(plan.OutputBuffer, "output "+o.Name, o.Bytes)
		b.Output(o.Name, to)
		at.outputs = append(at.outputs, to)
	}
	for i, bytes := range p.Arenas {
		at.arenas = append(at.arenas, b.Buffer(plan.Buffer{Name: "arena" + strconv.Itoa(i), Kind: plan.ArenaBuffer, Bytes: bytes}))
	}
	return at
}

// at returns the range of an argument.
func (at *placed) at(a Arg) plan.Range {
	var r plan.Range
	switch a.Of {
	case InStack:
		r = at.stacks[a.Index][a.Plane]
	case InTable:
		r = at.tables[a.Index]
	case InParams:
		r = at.params
	case InCache:
		r = at.caches[a.Index]
	case InOutput:
		r = at.outputs[a.Index]
	case InArena:
		r = plan.Range{Buffer: at.arenas[a.Index]}
	}
	return plan.Range{Buffer: r.Buffer, Offset: r.Offset + a.Offset, Bytes: a.Bytes}
}

// layerOf returns the layer that a name of a value or weight belongs to: N of layer.N.attn_q and of blk.N.attn_q.weight. What
// layer N reads, layer.N.in, is what the layer before it made, or the embedding.
func layerOf(name string) int {
	for _, prefix := range []string{"layer.", "blk."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			number, part, _ := strings.Cut(rest, ".")
			n, err := strconv.Atoi(number)
			if err == nil && part == "in" {
				return n - 1
			}
			if err == nil {
				return n
			}
		}
	}
	return NoLayer
}
