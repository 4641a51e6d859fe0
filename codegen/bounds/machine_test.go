package bounds_test

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// machine runs small kernels one invocation after the other, by the rules of WGSL for integers. It knows nothing of the prover: it is
// what proofs are compared with. An access out of bounds is noted, and then goes to the last element.
type machine struct {
	shared map[*wgsl.Symbol][]int64
	groups map[*wgsl.Symbol][]int64 // workgroup memory
	own    map[*wgsl.Symbol][]int64 // private and function memory of an invocation
	ids    map[string][]int64
	steps  int
	seen   func(e *wgsl.Index, index int64, length int)
}

// signals of statements.
type signal int

const (
	goOn signal = iota
	breaks
	continues
	returns
)

// An invocation ends after so many statements: loops may have no end.
const mostSteps = 300

type tooLong struct{}

// step counts a statement.
func (m *machine) step() {
	if m.steps++; m.steps > mostSteps {
		panic(tooLong{})
	}
}

// invocation runs a function without a result.
func (m *machine) invocation(fn *wgsl.Func) {
	defer func() {
		if x := recover(); x != nil && x != any(tooLong{}) {
			panic(x)
		}
	}()
	m.block(fn.Body, new([]int64))
}

// run executes an entry point over a grid.
func (m *machine) run(f *wgsl.File, grid [3]int) {
	var fn *wgsl.Func
	for _, d := range f.Decls {
		if x, ok := d.(*wgsl.Func); ok && x.Entry() {
			fn = x
		}
	}
	size := fn.Workgroup
	for g := range grid[0] * grid[1] * grid[2] {
		group := []int64{int64(g % grid[0]), int64(g / grid[0] % grid[1]), int64(g / grid[0] / grid[1])}
		m.groups = map[*wgsl.Symbol][]int64{}
		for i := range size[0] * size[1] * size[2] {
			local := []int64{int64(i % size[0]), int64(i / size[0] % size[1]), int64(i / size[0] / size[1])}
			global := make([]int64, 3)
			for k := range 3 {
				global[k] = group[k]*int64(size[k]) + local[k]
			}
			m.ids = map[string][]int64{
				"workgroup_id": group, "local_invocation_id": local, "global_invocation_id": global, "local_invocation_index": {int64(i)},
				"num_workgroups": {int64(grid[0]), int64(grid[1]), int64(grid[2])},
			}
			m.own, m.steps = map[*wgsl.Symbol][]int64{}, 0
			m.start(f)
			for _, p := range fn.Params {
				m.own[p] = m.ids[p.Builtin]
			}
			m.invocation(fn)
		}
	}
}

// start gives private variables and constants their values.
func (m *machine) start(f *wgsl.File) {
	for _, d := range f.Decls {
		switch v := d.(type) {
		case *wgsl.Var:
			if v.Init != nil {
				m.own[v.Symbol] = m.value(v.Init)
			}
		case *wgsl.Declare:
			m.own[v.Symbol] = m.value(v.Init)
		}
	}
}

func (m *machine) block(b *wgsl.Block, result *[]int64) signal {
	if b == nil {
		return goOn
	}
	for _, s := range b.List {
		if sig := m.stmt(s, result); sig != goOn {
			return sig
		}
	}
	return goOn
}

func (m *machine) stmt(s wgsl.Stmt, result *[]int64) signal {
	m.step()
	switch s := s.(type) {
	case *wgsl.Declare:
		switch _, pointer := s.Symbol.Type.(wgsl.Pointer); {
		case pointer:
			m.own[s.Symbol] = m.place(s.Init)
		case s.Init != nil:
			m.own[s.Symbol] = append([]int64(nil), m.value(s.Init)...)
		default:
			m.own[s.Symbol] = make([]int64, words(s.Symbol.Type))
		}
	case *wgsl.Assign:
		to := m.place(s.To)
		v := m.value(s.Value)
		if s.Op != "" {
			v = m.operate(s.Op, s.To.Expression().Type, to, v)
		}
		copy(to, append([]int64(nil), v...))
	case *wgsl.Ignore:
		m.value(s.Value)
	case *wgsl.CallStmt:
		m.value(s.Call)
	case *wgsl.Block:
		return m.block(s, result)
	case *wgsl.If:
		if m.value(s.Cond)[0] != 0 {
			return m.block(s.Then, result)
		}
		return m.block(s.Else, result)
	case *wgsl.Switch:
		return m.choose(s, result)
	case *wgsl.For:
		if s.Init != nil {
			m.stmt(s.Init, result)
		}
		return m.loop(func() bool { return s.Cond == nil || m.value(s.Cond)[0] != 0 }, s.Body, func() bool {
			if s.Post != nil {
				m.stmt(s.Post, result)
			}
			return false
		}, result)
	case *wgsl.While:
		return m.loop(func() bool { return m.value(s.Cond)[0] != 0 }, s.Body, func() bool { return false }, result)
	case *wgsl.Loop:
		return m.loop(func() bool { return true }, s.Body, func() bool {
			m.block(s.Continuing, result)
			return s.BreakIf != nil && m.value(s.BreakIf)[0] != 0
		}, result)
	case *wgsl.Return:
		if s.Value != nil {
			*result = m.value(s.Value)
		}
		return returns
	case *wgsl.Break:
		return breaks
	case *wgsl.Continue:
		return continues
	}
	return goOn
}

func (m *machine) loop(cond func() bool, body *wgsl.Block, end func() bool, result *[]int64) signal {
	for cond() {
		switch sig := m.block(body, result); sig {
		case breaks:
			return goOn
		case returns:
			return sig
		}
		m.step()
		if end() {
			return goOn
		}
	}
	return goOn
}

func (m *machine) choose(s *wgsl.Switch, result *[]int64) signal {
	v := m.value(s.Value)[0]
	var body *wgsl.Block
	for _, c := range s.Cases {
		for _, x := range c.Values {
			if m.value(x)[0] == v {
				body = c.Body
			}
		}
	}
	for _, c := range s.Cases {
		if c.Default && body == nil {
			body = c.Body
		}
	}
	if sig := m.block(body, result); sig != breaks {
		return sig
	}
	return goOn
}

// words counts the values that a type has.
func words(t wgsl.Type) int {
	switch t := t.(type) {
	case wgsl.Vector:
		return t.Width
	case wgsl.Array:
		return t.Len * words(t.Elem)
	}
	return 1
}

// place returns the memory that an expression names.
func (m *machine) place(e wgsl.Expr) []int64 {
	switch e := e.(type) {
	case *wgsl.Ident:
		of := m.own
		switch e.Symbol.Space {
		case wgsl.StorageSpace, wgsl.UniformSpace:
			of = m.shared
		case wgsl.WorkgroupSpace:
			of = m.groups
		}
		if of[e.Symbol] == nil {
			of[e.Symbol] = make([]int64, words(e.Symbol.Type))
		}
		return of[e.Symbol]
	case *wgsl.Unary:
		return m.place(e.X)
	case *wgsl.Member:
		at := map[byte]int{'x': 0, 'y': 1, 'z': 2, 'w': 3}[e.Name[0]]
		return m.place(e.X)[at : at+1]
	case *wgsl.Index:
		return m.element(e, m.place(e.X), m.value(e.I)[0])
	}
	panic(fmt.Sprintf("%T is no place", e))
}

func (m *machine) element(e *wgsl.Index, of []int64, i int64) []int64 {
	t := e.X.Expression().Type
	if p, ok := t.(wgsl.Pointer); ok {
		t = p.Elem
	}
	length, each := len(of), 1
	switch t := t.(type) {
	case wgsl.Vector:
		length = t.Width
	case wgsl.Array:
		each = words(t.Elem)
		length = len(of) / each
	}
	m.seen(e, i, length)
	if i < 0 || i >= int64(length) {
		i = int64(length) - 1
	}
	return of[int(i)*each:][:each]
}

func (m *machine) value(e wgsl.Expr) []int64 {
	info := e.Expression()
	if info.Value.Kind != wgsl.NoValue {
		return []int64{info.Value.Int}
	}
	switch e := e.(type) {
	case *wgsl.Ident:
		return append([]int64(nil), m.place(e)...)
	case *wgsl.Unary:
		return m.unary(e)
	case *wgsl.Binary:
		x := m.value(e.X)
		if e.Op == "&&" && x[0] == 0 || e.Op == "||" && x[0] != 0 {
			return x
		}
		return m.operate(e.Op, e.X.Expression().Type, x, m.value(e.Y))
	case *wgsl.Index:
		switch e.X.(type) {
		case *wgsl.Ident, *wgsl.Index, *wgsl.Unary:
			return append([]int64(nil), m.place(e)...)
		}
		return m.element(e, m.value(e.X), m.value(e.I)[0])
	case *wgsl.Member:
		var out []int64
		x := m.value(e.X)
		for i := range e.Name {
			out = append(out, x[map[byte]int{'x': 0, 'y': 1, 'z': 2, 'w': 3}[e.Name[i]]])
		}
		return out
	case *wgsl.Call:
		return m.call(e)
	case *wgsl.Construct:
		return m.construct(e)
	case *wgsl.Bitcast:
		return each(m.value(e.X), func(x int64) int64 { return wrap(x, e.Type) })
	}
	panic(fmt.Sprintf("%T has no value", e))
}

func (m *machine) construct(e *wgsl.Construct) []int64 {
	var out []int64
	for _, a := range e.Args {
		out = append(out, each(m.value(a), func(x int64) int64 {
			if e.Type == wgsl.Type(wgsl.Bool) && x != 0 {
				return 1
			}
			return wrap(x, e.Type)
		})...)
	}
	for n := words(e.Type); len(out) < n; {
		if len(e.Args) == 0 {
			return make([]int64, n)
		}
		out = append(out, out[0])
	}
	return out
}

func each(x []int64, f func(int64) int64) []int64 {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

// wrap takes a number to the 32 bits of a type.
func wrap(n int64, t wgsl.Type) int64 {
	if v, ok := t.(wgsl.Vector); ok {
		t = v.Elem
	}
	switch t {
	case wgsl.U32:
		return int64(uint32(n))
	case wgsl.I32:
		return int64(int32(n))
	}
	return n
}

func (m *machine) unary(e *wgsl.Unary) []int64 {
	switch e.Op {
	case "*":
		return append([]int64(nil), m.place(e)...)
	case "&":
		return m.place(e)
	}
	return each(m.value(e.X), func(x int64) int64 {
		switch e.Op {
		case "-":
			x = -x
		case "~":
			x = ^x
		case "!":
			x = 1 - x
		}
		return wrap(x, e.Type)
	})
}

func (m *machine) operate(op string, t wgsl.Type, x, y []int64) []int64 {
	n := max(len(x), len(y))
	out := make([]int64, n)
	for i := range out {
		out[i] = wrap(scalarOperation(op, x[i%len(x)], y[i%len(y)], t), t)
	}
	return out
}

func scalarOperation(op string, x, y int64, t wgsl.Type) int64 {
	truth := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return int64(uint64(x) * uint64(y)) // the low 32 bits are right
	case "/":
		if y == 0 {
			return x
		}
		return x / y
	case "%":
		if y == 0 {
			return 0
		}
		return x % y
	case "&", "&&":
		return x & y
	case "|", "||":
		return x | y
	case "^":
		return x ^ y
	case "<<":
		return x << (y & 31)
	case ">>":
		return x >> (y & 31)
	case "<":
		return truth(x < y)
	case "<=":
		return truth(x <= y)
	case ">":
		return truth(x > y)
	case ">=":
		return truth(x >= y)
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	}
	panic(op)
}

func (m *machine) call(e *wgsl.Call) []int64 {
	if e.Func != nil {
		args := make([][]int64, len(e.Args))
		for i, a := range e.Args {
			args[i] = m.value(a)
		}
		for i, p := range e.Func.Params {
			m.own[p] = args[i]
		}
		var result []int64
		m.block(e.Func.Body, &result)
		return result
	}
	switch e.Name {
	case "arrayLength":
		return []int64{int64(len(m.place(e.Args[0])))}
	case "workgroupBarrier":
		return nil
	}
	var a [][]int64
	for _, x := range e.Args {
		a = append(a, m.value(x))
	}
	out := make([]int64, len(a[0]))
	for i := range out {
		at := func(k int) int64 { return a[k][i%len(a[k])] }
		switch e.Name {
		case "min":
			out[i] = min(at(0), at(1))
		case "max":
			out[i] = max(at(0), at(1))
		case "clamp":
			out[i] = min(max(at(0), at(1)), at(2))
		case "select":
			if out[i] = at(0); at(2) != 0 {
				out[i] = at(1)
			}
		default:
			panic(e.Name)
		}
	}
	return out
}
