package wgsl

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// maxErrors is how many mistakes a Module collects before it stops looking.
const maxErrors = 10

// Module builds a kernel. Its methods take pieces of WGSL text; the texts of one call are formatted together, as by
// fmt.Sprintf, when there are arguments, and are taken as they are when there are none. Mistakes are collected with the Go line
// that made the call; Text returns them.
type Module struct {
	file     *File
	scope    *scope
	fn       *Func  // the function being built
	block    *Block // the block being built
	loops    int    // loops around the statement being built
	bindings []Binding
	errs     []error
	seen     map[string]bool // messages, so that unrolled code reports a mistake once
}

// Binding describes one entry of bind group 0.
type Binding struct {
	plan.Binding
	Elem  Type
	Count int
}

// New returns an empty module.
func New() *Module {
	return &Module{file: &File{}, scope: newScope(nil), seen: map[string]bool{}}
}

// Read declares a read-only storage binding: an array of n elements of type elem.
func (m *Module) Read(name, elem string, n int) { m.bind(plan.Read, name, elem, n) }

// ReadWrite declares a read-write storage binding: an array of n elements of type elem.
func (m *Module) ReadWrite(name, elem string, n int) { m.bind(plan.ReadWrite, name, elem, n) }

// Uniform declares a uniform binding: an array of n elements of 16 bytes, such as vec4<f32>.
func (m *Module) Uniform(name, elem string, n int) { m.bind(plan.Uniform, name, elem, n) }

// Bindings returns the bindings in order.
func (m *Module) Bindings() []Binding { return m.bindings }

func (m *Module) bind(access plan.Access, name, elem string, n int) {
	t := m.arrayType(name, elem, n)
	if t == nil {
		return
	}
	s := &Symbol{Name: name, Kind: VarSymbol, Type: *t, Space: StorageSpace, Writable: access == plan.ReadWrite, Pos: caller()}
	if access == plan.Uniform {
		s.Space = UniformSpace
		if Stride(t.Elem)%16 != 0 {
			m.errorf("the elements of uniform %s must be a multiple of 16 bytes, not %s", name, t.Elem)
		}
	}
	if !hostShareable(t.Elem, access) {
		m.errorf("%s can't be the element of binding %s", t.Elem, name)
	}
	m.top(&Var{At: At{s.Pos}, Symbol: s, Binding: len(m.bindings)})
	m.declare(s)
	b := plan.Binding{Name: name, Access: access, Bytes: uint64(SizeOf(*t))}
	m.bindings = append(m.bindings, Binding{b, t.Elem, n})
}

// hostShareable reports whether a type can be the element of a binding.
func hostShareable(t Type, access plan.Access) bool {
	if _, ok := t.(Atomic); ok {
		return access == plan.ReadWrite
	}
	s := component(t)
	return s == U32 || s == I32 || s == F32 || s == F16
}

// arrayType checks the type of a module-scope array; nil after a mistake.
func (m *Module) arrayType(name, elem string, n int) *Array {
	if m.fn != nil {
		m.errorf("%s must be declared before the function", name)
		return nil
	}
	t, err := ParseType(elem, caller())
	if err != nil {
		m.report(err)
		return nil
	}
	m.useF16(t)
	if n < 1 || n > 1<<31-1 || SizeOf(t) == 0 {
		m.errorf("%s: %d elements of type %s", name, n, t)
		return nil
	}
	return &Array{Elem: t, Len: n}
}

func (m *Module) useF16(t Type) {
	if component(t) == F16 {
		m.file.F16 = true
	}
}

// Alias is Operand for all of a binding from an offset on.
func (m *Module) Alias(operand, binding, elem string, offset int) {
	m.Operand(operand, binding, elem, offset, 0)
}

// Operand makes operand a name for n elements of a binding, or all that follow when n is 0: operand[i] is binding[i + offset], as a
// value of type elem. elem is a number or vector of the size and width of the binding's elements.
func (m *Module) Operand(operand, binding, elem string, offset, n int) {
	t, err := ParseType(elem, caller())
	if err != nil {
		m.report(err)
		return
	}
	s := m.scope.find(binding)
	if s == nil || s.Kind != VarSymbol || s.Space != StorageSpace && s.Space != UniformSpace {
		m.errorf("operand %s: %s is not a binding", operand, binding)
		return
	}
	array := s.Type.(Array)
	if n == 0 {
		n = array.Len - offset
	}
	switch {
	case offset < 0 || n < 1 || n > array.Len-offset:
		m.errorf("operand %s, %d elements from %d on, is outside of binding %s, %s", operand, n, offset, binding, array)
	case t != array.Elem && (!castable(array.Elem, t) || width(t) != width(array.Elem)):
		m.errorf("operand %s can't be %s in binding %s, %s", operand, t, binding, array)
	default:
		m.declare(&Symbol{Name: operand, Kind: AliasSymbol, Pos: caller(), alias: &alias{s, t, offset, n}})
	}
}

// Workgroup declares an array of n elements in workgroup memory; a single variable of type elem when n is 0.
func (m *Module) Workgroup(name, elem string, n int) {
	scalar := n == 0
	if scalar {
		n = 1
	}
	a := m.arrayType(name, elem, n)
	if a == nil {
		return
	}
	t := Type(*a)
	if scalar {
		t = a.Elem
	}
	s := &Symbol{Name: name, Kind: VarSymbol, Type: t, Space: WorkgroupSpace, Writable: true, Pos: caller()}
	m.top(&Var{At: At{s.Pos}, Symbol: s})
	m.declare(s)
}

// WorkgroupBytes returns the workgroup memory of the module as WebGPU counts it: each variable rounded up to 16 bytes.
func (m *Module) WorkgroupBytes() int { return WorkgroupBytes(m.file) }

// WorkgroupBytes returns the workgroup memory of a file as WebGPU counts it: each variable rounded up to 16 bytes.
func WorkgroupBytes(f *File) int {
	n := 0
	for _, d := range f.Decls {
		if v, ok := d.(*Var); ok && v.Symbol.Space == WorkgroupSpace {
			n += roundUp(SizeOf(v.Symbol.Type), 16)
		}
	}
	return n
}

// File returns the AST built so far.
func (m *Module) File() *File { return m.file }

// Text returns the module in the dialect of Tint, and the first ten mistakes made, joined. Uniformity is judged when there are no
// others.
func (m *Module) Text() (string, error) {
	if len(m.errs) == 0 {
		for _, e := range CheckUniformity(m.file) {
			m.report(e)
		}
	}
	return Print(m.file), errors.Join(m.errs...)
}

func (m *Module) top(d Decl) { m.file.Decls = append(m.file.Decls, d) }

// declare adds a name to the current scope.
func (m *Module) declare(s *Symbol) {
	if why := unusable(s.Name); why != "" {
		m.errorf("%s", why)
	}
	if old := m.scope.names[s.Name]; old != nil {
		m.errorf("%s is already declared in this scope, at %s", s.Name, old.Pos)
	}
	m.scope.names[s.Name] = s
}

// badFormat is what fmt.Sprintf writes where arguments are missing or left over. No WGSL expression has it.
const badFormat = "%!"

// format puts the arguments of a call into its texts.
func (m *Module) format(args []any, texts ...string) []string {
	if len(args) == 0 {
		return texts
	}
	const separator = "\x00"
	text := fmt.Sprintf(strings.Join(texts, separator), args...)
	if i := strings.Index(text, badFormat); i >= 0 {
		m.errorf("the arguments don't fit the text %q", strings.Join(texts, " "))
	}
	return strings.Split(text, separator)
}

func (m *Module) checker(text string) *checker {
	return &checker{scope: m.scope, file: m.file, text: text}
}

// parse parses a piece; an Ident without a name stands for one that doesn't parse.
func (m *Module) parse(text string) Expr {
	e, err := ParseExpr(text, caller())
	if err != nil {
		if !strings.Contains(text, badFormat) { // that was reported
			m.report(err)
		}
		return &Ident{Info: Info{Type: Bad}}
	}
	return e
}

// check parses and checks a piece with what, and reports the mistake found.
func (m *Module) check(text string, what func(c *checker, e Expr) Expr) Expr {
	e := m.parse(text)
	if bad(e) {
		return e
	}
	c := m.checker(text)
	e = what(c, e)
	if c.err != nil {
		m.report(c.err)
	}
	return e
}

func (m *Module) errorf(format string, args ...any) { m.report(errorAt(caller(), "", format, args...)) }

func (m *Module) report(err error) {
	if len(m.errs) < maxErrors && !m.seen[err.Error()] {
		m.seen[err.Error()] = true
		m.errs = append(m.errs, err)
	}
}

const packagePrefix = "github.com/kgen-wgsl/kgen/codegen/wgsl."

// caller returns the Go line outside of this package that called into it. The file is given by its last two elements, which
// are the same on every machine.
func caller() Pos {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, packagePrefix) {
			return Pos{File: path.Join(path.Base(path.Dir(f.File)), path.Base(f.File)), Line: f.Line}
		}
		if !more {
			return Pos{}
		}
	}
}
