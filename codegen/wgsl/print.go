package wgsl

import (
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// printer writes WGSL: two blanks to a level, parentheses only where the grammar needs them.
type printer struct {
	b      strings.Builder
	indent int
}

// Print returns the text of a file in the dialect of Tint; plan.Naga makes naga's of it.
func Print(f *File) string {
	p := &printer{}
	if f.F16 {
		p.b.WriteString("enable f16;\n")
	}
	if f.Subgroups {
		p.b.WriteString(plan.EnableSubgroups)
	}
	for i, d := range f.Decls {
		if i > 0 && apart(f.Decls[i-1], d) {
			p.b.WriteByte('\n')
		}
		p.decl(d)
	}
	return p.b.String()
}

// apart reports whether a blank line goes between two declarations: around functions, and where the sort changes. A comment
// stands with what follows it.
func apart(a, b Decl) bool {
	sort := func(d Decl) int {
		switch d.(type) {
		case *Func:
			return 0
		case *Declare:
			return 1
		case *Var:
			return 2
		}
		return 3 // comment
	}
	x, y := sort(a), sort(b)
	return x != 3 && (x == 0 || x != y)
}

func (p *printer) decl(d Decl) {
	switch d := d.(type) {
	case *Var:
		p.variable(d)
	case *Func:
		p.function(d)
	case *Declare:
		p.stmt(d)
	case *Comment:
		p.stmt(d)
	}
}

func (p *printer) variable(v *Var) {
	s := v.Symbol
	switch s.Space {
	case WorkgroupSpace:
		p.line("var<workgroup> " + s.Name + ": " + s.Type.String() + ";")
		return
	case UniformSpace:
		p.line(bound(v) + "var<uniform> " + s.Name + ": " + s.Type.String() + ";")
		return
	}
	access := "read"
	if s.Writable {
		access = "read_write"
	}
	p.line(bound(v) + "var<storage, " + access + "> " + s.Name + ": " + s.Type.String() + ";")
}

func bound(v *Var) string { return "@group(0) @binding(" + strconv.Itoa(v.Binding) + ") " }

func (p *printer) function(f *Func) {
	if f.Entry() {
		size := strconv.Itoa(f.Workgroup[0])
		for i := 1; i < 3 && (f.Workgroup[1] > 1 || f.Workgroup[2] > 1); i++ {
			size += ", " + strconv.Itoa(f.Workgroup[i])
		}
		p.line("@compute @workgroup_size(" + size + ")")
	}
	params := make([]string, len(f.Params))
	for i, s := range f.Params {
		params[i] = s.Name + ": " + s.Type.String()
		if s.Builtin != "" {
			params[i] = "@builtin(" + s.Builtin + ") " + params[i]
		}
	}
	head := "fn " + f.Name + "(" + strings.Join(params, ", ") + ") "
	if f.Result != nil {
		head += "-> " + f.Result.String() + " "
	}
	p.line(head + "{")
	p.block(f.Body)
	p.line("}")
}

func (p *printer) line(s string) {
	for range p.indent {
		p.b.WriteString("  ")
	}
	p.b.WriteString(s)
	p.b.WriteByte('\n')
}

func (p *printer) block(b *Block) {
	p.indent++
	for _, s := range b.List {
		p.stmt(s)
	}
	p.indent--
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Comment:
		p.line(strings.TrimRight("// "+s.Text, " "))
	case *If:
		p.ifStmt(s)
	case *For:
		p.line("for (" + simple(s.Init) + "; " + FormatExpr(s.Cond) + "; " + simple(s.Post) + ") {")
		p.block(s.Body)
		p.line("}")
	case *While:
		p.line("while (" + FormatExpr(s.Cond) + ") {")
		p.block(s.Body)
		p.line("}")
	case *Block:
		p.line("{")
		p.block(s)
		p.line("}")
	case *Declare:
		why := ""
		if s.Why != "" {
			why = " // " + s.Why
		}
		p.line(simple(s) + ";" + why)
	default:
		p.line(simple(s) + ";")
	}
}

func (p *printer) ifStmt(s *If) {
	p.line("if (" + FormatExpr(s.Cond) + ") {")
	for p.block(s.Then); s.Else != nil; p.block(s.Then) {
		next, ok := elseIf(s.Else)
		if !ok {
			p.line("} else {")
			p.block(s.Else)
			break
		}
		p.line("} else if (" + FormatExpr(next.Cond) + ") {")
		s = next
	}
	p.line("}")
}

func elseIf(b *Block) (*If, bool) {
	if len(b.List) != 1 {
		return nil, false
	}
	next, ok := b.List[0].(*If)
	return next, ok
}

// simple prints a statement that has no block, without the semicolon.
func simple(s Stmt) string {
	switch s := s.(type) {
	case *Declare:
		return declaration(s)
	case *Assign:
		return FormatExpr(s.To) + " " + s.Op + "= " + FormatExpr(s.Value)
	case *Return:
		if s.Value == nil {
			return "return"
		}
		return "return " + FormatExpr(s.Value)
	case *Break:
		return "break"
	case *Continue:
		return "continue"
	case *CallStmt:
		return FormatExpr(s.Call)
	}
	return ""
}

func declaration(s *Declare) string {
	text := s.Symbol.Kind.String() + " " + s.Symbol.Name
	if s.Typed {
		text += ": " + s.Symbol.Type.String()
	}
	if s.Init != nil {
		text += " = " + FormatExpr(s.Init)
	}
	return text
}
