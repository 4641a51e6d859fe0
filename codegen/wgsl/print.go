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
	for _, d := range f.Directives {
		p.line(directive(d) + ";")
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
		case *Func, *StructDecl:
			return 0
		case *Declare, *Override, *TypeAlias, *Assert:
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
	case *Assert:
		p.stmt(d)
	case *Override:
		p.line(override(d))
	case *TypeAlias:
		p.line("alias " + d.Name + " = " + d.Type.String() + ";")
	case *StructDecl:
		p.structure(d.Type)
	}
}

func (p *printer) variable(v *Var) {
	s := v.Symbol
	switch s.Space {
	case PrivateSpace:
		text := "var<private> " + s.Name + ": " + s.Type.String()
		if v.Init != nil {
			text += " = " + FormatExpr(v.Init)
		}
		p.line(text + ";")
		return
	case WorkgroupSpace:
		p.line("var<workgroup> " + s.Name + ": " + s.Type.String() + ";")
		return
	case UniformSpace:
		p.line(bindingText(v) + "var<uniform> " + s.Name + ": " + s.Type.String() + ";")
		return
	}
	access := "read"
	if s.Writable {
		access = "read_write"
	}
	p.line(bindingText(v) + "var<storage, " + access + "> " + s.Name + ": " + s.Type.String() + ";")
}

func bindingText(v *Var) string {
	return "@group(" + strconv.Itoa(v.Group) + ") @binding(" + strconv.Itoa(v.Binding) + ") "
}

func (p *printer) function(f *Func) {
	for _, d := range f.Diagnostics {
		p.line("@" + directive(d))
	}
	if f.MustUse {
		p.line("@must_use")
	}
	if f.Entry() {
		p.line("@compute @workgroup_size(" + workgroupSize(f) + ")")
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

func workgroupSize(f *Func) string {
	size := ""
	for i := range 3 {
		if i > 0 && f.Workgroup[1] == 1 && f.Workgroup[2] == 1 && f.Sizes[1] == nil && f.Sizes[2] == nil {
			break
		}
		if i > 0 {
			size += ", "
		}
		if f.Sizes[i] != nil {
			size += FormatExpr(f.Sizes[i])
		} else {
			size += strconv.Itoa(f.Workgroup[i])
		}
	}
	return size
}

func directive(d Directive) string {
	args := strings.Join(d.Args, ", ")
	if d.Name == "diagnostic" {
		return "diagnostic(" + args + ")"
	}
	return d.Name + " " + args
}

func override(o *Override) string {
	text := "override " + o.Symbol.Name
	if o.ID >= 0 {
		text = "@id(" + strconv.Itoa(o.ID) + ") " + text
	}
	if o.Typed {
		text += ": " + o.Symbol.Type.String()
	}
	if o.Init != nil {
		text += " = " + FormatExpr(o.Init)
	}
	text += ";"
	if o.Why != "" {
		text += " // " + o.Why
	}
	return text
}

func (p *printer) structure(s *Struct) {
	p.line("struct " + s.Name + " {")
	p.indent++
	for _, m := range s.Members {
		text := m.Name + ": " + m.Type.String() + ","
		if m.Builtin != "" {
			text = "@builtin(" + m.Builtin + ") " + text
		}
		if m.Size != 0 {
			text = "@size(" + strconv.Itoa(m.Size) + ") " + text
		}
		if m.Align != 0 {
			text = "@align(" + strconv.Itoa(m.Align) + ") " + text
		}
		p.line(text)
	}
	p.indent--
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
		head := simple(s.Init) + ";"
		if s.Cond != nil {
			head += " " + FormatExpr(s.Cond)
		}
		if head += ";"; s.Post != nil {
			head += " " + simple(s.Post)
		}
		p.line("for (" + head + ") {")
		p.block(s.Body)
		p.line("}")
	case *While:
		p.line("while (" + FormatExpr(s.Cond) + ") {")
		p.block(s.Body)
		p.line("}")
	case *Loop:
		p.loop(s)
	case *Switch:
		p.line("switch (" + FormatExpr(s.Value) + ") {")
		p.indent++
		for _, c := range s.Cases {
			p.line(caseHead(c) + " {")
			p.block(c.Body)
			p.line("}")
		}
		p.indent--
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

func (p *printer) loop(s *Loop) {
	p.line("loop {")
	p.block(s.Body)
	if s.Continuing != nil {
		p.indent++
		p.line("continuing {")
		p.block(s.Continuing)
		if s.BreakIf != nil {
			p.indent++
			p.line("break if " + FormatExpr(s.BreakIf) + ";")
			p.indent--
		}
		p.line("}")
		p.indent--
	}
	p.line("}")
}

func caseHead(c *Case) string {
	if len(c.Values) == 0 {
		return "default:"
	}
	values := make([]string, len(c.Values))
	for i, v := range c.Values {
		values[i] = FormatExpr(v)
	}
	if c.Default {
		values = append(values, "default")
	}
	return "case " + strings.Join(values, ", ") + ":"
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
	case *Ignore:
		return "_ = " + FormatExpr(s.Value)
	case *Assert:
		return "const_assert " + FormatExpr(s.Cond)
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
