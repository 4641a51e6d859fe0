package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// compiler turns an entry point into operations. Functions are compiled where they are called, each time anew, so that pointers
// are known places and every expression has registers of its own.
type compiler struct {
	*Program
	ops    []op
	env    map[*wgsl.Symbol]any // held, fixed, ref, *wgsl.Override without a value yet, or *wgsl.Declare of a const
	next   int                  // first free register
	pinned map[int]bool         // registers of constants
	inline int                  // operations of calls, to bound programs that call and call
	depth  int
	frame  frame
	leave  int // mask that break adds to, of the innermost loop or switch; -1 outside
	again  int // mask that continue adds to
}

// frame is the function being compiled.
type frame struct {
	function
	result []int // registers of what it returns
}

// ended keeps the function with the most bytes of variables.
func (c *compiler) ended(f function) {
	if f.bytes > c.function.bytes {
		c.function = f
	}
}

// held is what a name stands for that has registers: a let or a parameter.
type held []int

// fixed is the value of an override.
type fixed uint32

const (
	maxRegisters  = 1 << 26 // words of all registers of a workgroup: one for each invocation, and
	registerWords = 6
	maxOps        = 1 << 20
	maxMaskBytes  = 1 << 28 // of all sets of invocations: a byte for each, and
	maskBytes     = 48
)

// failure carries an error out of the compiler.
type failure struct{ err error }

func (c *compiler) fail(pos wgsl.Pos, format string, args ...any) {
	panic(failure{&wgsl.Error{Pos: pos, Message: fmt.Sprintf(format, args...)}})
}

// Compile makes an entry point ready to run. An empty name stands for the only one. Errors are *wgsl.Error for what the simulator
// doesn't do, and *plan.KernelError where the entry point can't be told. Overrides have the values of the text.
func Compile(file *wgsl.File, entry string) (p *Program, err error) {
	return CompileWith(file, entry, nil)
}

// CompileWith is Compile with values for overrides, by their names or as a number by @id, as pipelines give them. A bool is 1 or 0. A
// name that no override has is a *plan.KernelError, and so is a value that its type doesn't have.
func CompileWith(file *wgsl.File, entry string, constants map[string]float64) (p *Program, err error) {
	fn, err := entryPoint(file, entry)
	if err != nil {
		return nil, err
	}
	defer func() {
		r := recover() // once: it ends the panic, whatever that was
		if f, ok := r.(failure); ok {
			p, err = nil, f.err
		} else if r != nil {
			panic(r)
		}
	}()
	c := newCompiler(file, fn)
	p = c.Program
	if err := c.overrides(constants); err != nil {
		return nil, err
	}
	c.workgroup()
	c.variables()
	c.parameters()
	start := c.list(func() { c.privates() })
	c.frame.of = fn
	body := c.list(func() { c.block(fn.Body) })
	c.ended(c.frame.function)
	p.body = slices.Concat(start, body)
	return p, nil
}

func newCompiler(file *wgsl.File, entry *wgsl.Func) *compiler {
	p := &Program{file: file, entry: entry, constants: map[uint32]int{}, sharedAt: map[string]int{}, masks: 1, sites: []site{{}}}
	return &compiler{Program: p, env: map[*wgsl.Symbol]any{}, pinned: map[int]bool{}, leave: -1, again: -1}
}

func entryPoint(file *wgsl.File, name string) (*wgsl.Func, error) {
	var found []*wgsl.Func
	var names []string
	for _, d := range file.Decls {
		if fn, ok := d.(*wgsl.Func); ok && fn.Entry() {
			names = append(names, fn.Name)
			if name == "" || fn.Name == name {
				found = append(found, fn)
			}
		}
	}
	switch {
	case len(names) == 0:
		return nil, &plan.KernelError{Kernel: name, Detail: "the text has no entry point"}
	case len(found) == 0:
		return nil, &plan.KernelError{Kernel: name, Detail: "no entry point has this name; there are: " + strings.Join(names, ", ")}
	case len(found) > 1:
		return nil, &plan.KernelError{Kernel: "text", Detail: "there are several entry points, say which: " + strings.Join(names, ", ")}
	}
	return found[0], nil
}

// evaluate computes an expression of constants and overrides, which is the same for all invocations: as a program of its own, with one.
func (c *compiler) evaluate(e wgsl.Expr) uint32 {
	own := newCompiler(c.file, c.entry)
	own.env, own.invocations = c.env, 1
	slots := own.expr(e, nil)
	m := own.newMachine()
	m.dispatch = &dispatch{program: own.Program}
	a := lanes{dense: true, on: make([]bool, 1)}
	a.all(1)
	m.run(own.ops, &a)
	return m.regs[slots[0]][0]
}

// count evaluates a length or a size.
func (c *compiler) count(e wgsl.Expr) int {
	bits := c.evaluate(e)
	if component(e.Expression().Type) == wgsl.U32 {
		return int(bits)
	}
	return int(int32(bits))
}

func (c *compiler) workgroup() {
	c.size = c.entry.Workgroup
	for i, e := range c.entry.Sizes {
		if e != nil {
			c.size[i] = c.count(e)
		}
	}
	n := 1
	for i, s := range c.size {
		if s < 1 {
			c.fail(c.entry.Pos, "a workgroup of %d by %d by %d invocations has none", c.size[0], c.size[1], c.size[2])
		}
		if s > 1<<16 || n*s > 1<<16 {
			c.fail(c.entry.Pos, "a workgroup of %d by %d by %d invocations is too large", c.size[0], c.size[1], c.size[2])
		}
		n *= c.size[i]
	}
	c.invocations = n
}

// variables finds places for the variables of the module. Bindings are those that the entry point uses.
func (c *compiler) variables() {
	used := c.uses(c.entry, map[*wgsl.Func]bool{}, map[*wgsl.Symbol]bool{})
	for _, d := range c.file.Decls {
		switch d := d.(type) {
		case *wgsl.Declare:
			c.env[d.Symbol] = d
		case *wgsl.Var:
			if used[d.Symbol] {
				c.variable(d)
			}
		}
	}
	slices.SortStableFunc(c.bindings, func(a, b Declared) int { return a.Group<<16 + a.Binding - b.Group<<16 - b.Binding })
	for s, r := range c.env {
		if r, ok := r.(ref); ok && (r.space == wgsl.StorageSpace || r.space == wgsl.UniformSpace) {
			r.root = slices.IndexFunc(c.bindings, func(b Declared) bool { return b.symbol == s })
			c.env[s] = r
		}
	}
}

func (c *compiler) variable(d *wgsl.Var) {
	t := d.Symbol.Type
	r := ref{name: d.Symbol.Name, space: d.Symbol.Space, typ: t, whole: t, dynamic: -1}
	switch d.Symbol.Space {
	case wgsl.StorageSpace, wgsl.UniformSpace:
		c.bindings = append(c.bindings, declared(d))
	case wgsl.WorkgroupSpace:
		if a, ok := t.(wgsl.Array); ok && a.Size != nil {
			n := c.count(a.Size)
			if n < 1 {
				c.fail(d.Pos, "%s has a length of %d", d.Symbol.Name, n)
			}
			a.Len, a.Size = n, nil
			r.typ, r.whole = a, a
		}
		size := wgsl.SizeOf(r.typ)
		c.sharedWords = roundUp(c.sharedWords*4, max(wgsl.AlignOf(r.typ), 4)) / 4
		r.static = c.sharedWords * 4
		if size > 1<<28 || c.sharedWords*4+size > 1<<28 {
			c.fail(d.Pos, "%s takes %d bytes of workgroup memory", d.Symbol.Name, size)
		}
		c.sharedWords += (size + 3) / 4
		c.sharedBytes += roundUp(size, 16)
		c.shared = append(c.shared, r)
		c.sharedAt[r.name] = r.static
	default:
		r.static = c.reserve(d.Pos, t)
		c.private += wgsl.SizeOf(t)
	}
	c.env[d.Symbol] = r
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// privates gives the private variables their first values.
func (c *compiler) privates() {
	for _, d := range c.file.Decls {
		if v, ok := d.(*wgsl.Var); ok && v.Symbol.Space == wgsl.PrivateSpace && c.env[v.Symbol] != nil {
			c.initialise(c.env[v.Symbol].(ref), v.Init)
		}
	}
}

// declared describes a binding.
func declared(d *wgsl.Var) Declared {
	b := Declared{Group: d.Group, Binding: d.Binding, Name: d.Symbol.Name, Type: d.Symbol.Type, symbol: d.Symbol}
	switch {
	case d.Symbol.Space == wgsl.UniformSpace:
		b.Access = plan.Uniform
	case d.Symbol.Writable:
		b.Access = plan.ReadWrite
	default:
		b.Access = plan.Read
	}
	b.Bytes, b.Runtime = sizeOf(d.Symbol.Type)
	return b
}

// sizeOf returns the bytes of a type, with one element of a runtime-sized array, and whether it has one.
func sizeOf(t wgsl.Type) (uint64, bool) {
	switch t := t.(type) {
	case wgsl.Array:
		if t.Len == 0 {
			return uint64(wgsl.Stride(t.Elem)), true
		}
	case *wgsl.Struct:
		if n := len(t.Members); n > 0 {
			last := t.Members[n-1]
			if bytes, runtime := sizeOf(last.Type); runtime {
				return uint64(roundUp(last.Offset+int(bytes), t.Align)), true
			}
		}
	}
	return uint64(wgsl.SizeOf(t)), false
}

// uses collects the variables of the module that a function touches, itself or by what it calls.
func (c *compiler) uses(fn *wgsl.Func, seen map[*wgsl.Func]bool, used map[*wgsl.Symbol]bool) map[*wgsl.Symbol]bool {
	if seen[fn] {
		return used
	}
	seen[fn] = true
	wgsl.InspectBlock(fn.Body, func(e wgsl.Expr) {
		switch e := e.(type) {
		case *wgsl.Ident:
			used[e.Symbol] = true
		case *wgsl.Call:
			if e.Func != nil {
				c.uses(e.Func, seen, used)
			}
		}
	})
	return used
}

// parameters gives the entry point's parameters registers.
func (c *compiler) parameters() {
	for _, s := range c.entry.Params {
		if t, ok := s.Type.(*wgsl.Struct); ok {
			var slots held
			for _, m := range t.Members {
				slots = append(slots, c.input(m.Builtin, m.Type)...)
			}
			c.env[s] = slots
			continue
		}
		c.env[s] = held(c.input(s.Builtin, s.Type))
	}
}

func (c *compiler) input(name string, t wgsl.Type) []int {
	var slots []int
	for i := range parts(t) {
		slot := c.slot()
		c.inputs = append(c.inputs, input{name, i, slot})
		slots = append(slots, slot)
	}
	return slots
}

// slot takes a register.
func (c *compiler) slot() int { return c.run(1) }

// run takes n registers that follow each other, and returns the first.
func (c *compiler) run(n int) int {
	for i := c.next; i < c.next+n; i++ {
		if c.pinned[i] {
			c.next = i + 1
		}
	}
	c.next += n
	c.grow(c.next)
	return c.next - n
}

func (c *compiler) grow(slots int) {
	if c.slots = max(c.slots, slots); c.slots*(max(c.invocations, 1)+registerWords) > maxRegisters {
		panic(failure{errors.New("the kernel needs too many registers to be simulated")})
	}
}

// take takes n registers, unless the caller has some to write into.
func (c *compiler) take(n int, into []int) []int {
	if len(into) == n {
		return into
	}
	out := make([]int, n)
	for i := range out {
		out[i] = c.slot()
	}
	return out
}

// constant returns the register of a constant: one for each, which stays when scopes end.
func (c *compiler) constant(bits uint32) int {
	slot, ok := c.constants[bits]
	if !ok {
		slot = c.slots
		c.grow(slot + 1)
		c.constants[bits], c.pinned[slot] = slot, true
	}
	return slot
}

// mask takes a set of invocations.
func (c *compiler) mask() int {
	c.masks++
	if c.masks*(max(c.invocations, 1)+maskBytes) > maxMaskBytes {
		panic(failure{errors.New("the kernel has too many branches to be simulated")})
	}
	return c.masks - 1
}

func (c *compiler) emit(o op) {
	if c.inline++; c.inline > maxOps {
		panic(failure{errors.New("the kernel is too large to be simulated: its functions call each other too often")})
	}
	c.ops = append(c.ops, o)
}

// list returns the operations that f emits.
func (c *compiler) list(f func()) []op {
	saved := c.ops
	c.ops = nil
	f()
	out := c.ops
	c.ops = saved
	return out
}

// site notes a place for findings.
func (c *compiler) site(pos wgsl.Pos, what string) site {
	s := site{number: int32(len(c.sites)), pos: pos, what: what}
	c.sites = append(c.sites, s)
	return s
}

// scope releases the registers that f took.
func (c *compiler) scope(f func()) {
	mark := c.next
	f()
	c.next = mark
}
