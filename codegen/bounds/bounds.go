package bounds

import (
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// Use is how a kernel runs: what the proof may take for given. The proof covers every grid that isn't larger in any dimension, and
// all contents of buffers that keep to what is stated.
type Use struct {
	Grid    [3]int         // workgroups of the largest grid
	Stated  []Range        // what words of storage arrays hold
	Lengths map[string]int // the least lengths of runtime-sized arrays, by name; one that is not here may be empty
}

// Range states that words of a storage array of u32 are Low to High, before the kernel runs and after: a kernel that stores another
// value breaks it.
type Range struct {
	Array        string
	First, Count int // words
	Low, High    uint32
	// Counts lets one invocation of a kernel add 1 to each of the words, once; who starts the kernel answers for the sum.
	Counts bool
}

// Proof says whether all accesses of an entry point are in bounds.
type Proof struct {
	Entry    string
	Accesses int       // index expressions that can be reached
	Failures []Failure // those that were not proved, and what else kept the proof from being made
	Breaks   []Failure // stores that may break what is stated of an array; they are no accesses out of bounds
}

// Proved reports whether every access was proved in bounds.
func (p *Proof) Proved() bool { return len(p.Failures) == 0 }

// Failure is an index that was not proved in bounds, or a store that may break a stated range.
type Failure struct {
	Pos    wgsl.Pos
	Expr   string // the access
	Low    int64  // what the index, or the value, may be
	High   int64
	Length int // of what is indexed; 0 where it isn't known
	Why    string
}

func (f Failure) String() string { return f.Pos.String() + ": " + f.Expr + ": " + f.Why }

// Prove decides for every index expression that an entry point reaches whether it is in bounds in all invocations of all grids
// that the use allows. It takes no side effect of an access out of bounds for granted: what it proves holds without any check.
func Prove(f *wgsl.File, entry string, use Use) *Proof {
	proof := &Proof{Entry: entry}
	fn := function(f, entry)
	if fn == nil {
		proof.Failures = []Failure{{Expr: entry, Why: "the file has no entry point of this name"}}
		return proof
	}
	if why := sizesUnknown(fn, use); why != "" {
		proof.Failures = []Failure{{Pos: fn.Pos, Expr: entry, Why: why}}
		return proof
	}
	memory := newMemory(f)
	for {
		p := newProver(use, fn, memory)
		p.run(fn)
		if p.left >= 0 && memory.grew(p.stored) {
			continue
		}
		proof.Accesses = len(p.order)
		for _, e := range p.order {
			if a := p.found[e]; !a.proved {
				proof.Failures = append(proof.Failures, a.failure(e))
			}
		}
		if p.left < 0 {
			proof.Failures = append(proof.Failures, Failure{Pos: fn.Pos, Expr: entry, Why: "the kernel is too large to be judged"})
		}
		proof.Breaks = p.breaks
		return proof
	}
}

func function(f *wgsl.File, entry string) *wgsl.Func {
	for _, d := range f.Decls {
		if fn, ok := d.(*wgsl.Func); ok && fn.Name == entry && fn.Entry() {
			return fn
		}
	}
	return nil
}

// sizesUnknown says why it isn't known how many invocations there are.
func sizesUnknown(fn *wgsl.Func, use Use) string {
	const most = 1 << 32
	for _, e := range fn.Sizes {
		if e != nil && e.Expression().Value.Kind != wgsl.IntValue {
			return "the workgroup size depends on an override"
		}
	}
	for i, n := range use.Grid {
		if n < 1 || n >= most/fn.Workgroup[i] {
			return fmt.Sprintf("a grid of %d workgroups of %d invocations has none, or more than a u32 counts", n, fn.Workgroup[i])
		}
	}
	return ""
}

// budget bounds the work of one pass over a kernel. The longest kernels of kgen take 20,000.
const budget = 2_000_000

// prover is the state of one pass over an entry point.
type prover struct {
	use     Use
	memory  *memory
	nodes   map[nodeKey]*node
	numbers map[numberKey]*node
	left    int // of the budget
	inputs  map[string]*node
	lengths map[*wgsl.Symbol]*node

	quiet  int // above 0 while loops are tried: nothing that is found counts
	loops  int // loops around
	jumps  []*jump
	calls  []*call
	places map[*wgsl.Symbol]place // what pointers point to

	order   []wgsl.Expr // accesses as they were met
	found   map[wgsl.Expr]*access
	stored  map[*wgsl.Symbol]span
	breaks  []Failure
	counted map[string]wgsl.Pos // words that were counted up, and where
}

func newProver(use Use, fn *wgsl.Func, m *memory) *prover {
	p := &prover{
		use: use, memory: m, nodes: map[nodeKey]*node{}, left: budget, lengths: map[*wgsl.Symbol]*node{},
		places: map[*wgsl.Symbol]place{}, found: map[wgsl.Expr]*access{}, stored: map[*wgsl.Symbol]span{}, counted: map[string]wgsl.Pos{},
		numbers: map[numberKey]*node{},
	}
	p.inputs = p.builtins(fn)
	return p
}

func (p *prover) spend(n int) { p.left -= n }

// run follows the entry point.
func (p *prover) run(fn *wgsl.Func) {
	s := &state{env: map[*wgsl.Symbol]*node{}, facts: newFacts()}
	for _, param := range fn.Params {
		s.env[param] = p.input(param.Type, param.Builtin)
	}
	for _, v := range p.memory.starts {
		p.keep(s, v.Symbol, p.value(s, v.Init))
	}
	p.calls = append(p.calls, &call{})
	p.block(s, fn.Body)
}

// access is what was found of an index expression, all the ways there are to it.
type access struct {
	index  span
	of     extent
	proved bool
}

// note records an access and whether it is in bounds.
func (p *prover) note(s *state, e wgsl.Expr, index span, of extent, proved bool) {
	if p.quiet > 0 || s.dead {
		return
	}
	a := p.found[e]
	if a == nil {
		a = &access{nothing, of, true}
		p.order, p.found[e] = append(p.order, e), a
	}
	a.index, a.proved = a.index.join(index), a.proved && proved
}

func (a *access) failure(e wgsl.Expr) Failure {
	f := Failure{Pos: e.Expression().Pos, Expr: wgsl.FormatExpr(e), Low: a.index.lo, High: a.index.hi}
	f.Why = fmt.Sprintf("the index may be %d to %d, ", f.Low, f.High)
	switch {
	case a.of.known:
		f.Length = a.of.least
		f.Why += fmt.Sprintf("and there are %d elements", a.of.least)
	case a.of.node != nil:
		f.Why += fmt.Sprintf("and there are no more than %d elements for certain", a.of.least)
	default:
		f.Why += "and how many elements there are depends on an override"
	}
	return f
}

// breach records a store that may break what is stated.
func (p *prover) breach(s *state, e wgsl.Expr, v span, why string) {
	f := Failure{Pos: e.Expression().Pos, Expr: wgsl.FormatExpr(e), Low: v.lo, High: v.hi, Why: why}
	if p.quiet == 0 && !s.dead && !slices.Contains(p.breaks, f) {
		p.breaks = append(p.breaks, f)
	}
}
