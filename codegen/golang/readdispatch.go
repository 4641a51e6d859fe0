package golang

import (
	"go/ast"
	"go/token"
	"reflect"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// dispatchReader reads from a variant's calls of plan.Builder how its kernels run. What is not as kgen writes it counts as the
// worst: a list that isn't known as all lists.
type dispatchReader struct {
	*reader
	functions []string            // that return the kernels
	kernels   map[string]int      // numbers of the kernels that variables name
	lists     map[string][]string // the lists that variables stand for
	loops     []ast.Node
	params    string   // the variable that is the params block
	buffers   []string // variables that are buffers
	calls     []dispatchCall
	block     bounds.Block
}

// dispatchCall is a call of Dispatch.
type dispatchCall struct {
	at     token.Pos
	kernel int
	grid   [3]int
	lists  []string // nil for all
	params int      // the number of the argument that is the params block; -1 for none
	strays bool     // an argument is a part of it
}

// dispatches fills in how the kernels of a variant run.
func (r *reader) dispatches(v *ReadVariant, functions []string, file *ast.File) error {
	d := &dispatchReader{reader: r, functions: functions, kernels: map[string]int{}, lists: map[string][]string{}}
	var err error
	ast.Inspect(file, func(n ast.Node) bool {
		if err != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			d.loops = append(d.loops, n)
		case *ast.ValueSpec:
			err = d.define(n.Names, n.Values)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				err = d.define(identifiers(n.Lhs), n.Rhs)
			}
		case *ast.CompositeLit:
			if isNamed(n.Type, "KV") {
				err = d.fillSome(&d.block.Pages, n, "Pages")
			}
		case *ast.CallExpr:
			err = d.call(n)
		}
		return err == nil
	})
	if err == nil {
		err = d.surprises(file)
	}
	if err != nil {
		return err
	}
	v.Block = d.block
	for i, k := range v.Kernels {
		v.Dispatched = append(v.Dispatched, d.dispatched(i, k))
	}
	return nil
}

func identifiers(list []ast.Expr) []*ast.Ident {
	var names []*ast.Ident
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			names = append(names, id)
		}
	}
	return names
}

// isNamed reports whether a type or function is plan.NAME, or a method of that name.
func isNamed(e ast.Expr, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == name
}

// define notes what variables stand for.
func (d *dispatchReader) define(names []*ast.Ident, values []ast.Expr) error {
	if len(names) != len(values) {
		return nil
	}
	for i, name := range names {
		switch v := values[i].(type) {
		case *ast.CompositeLit:
			if isNamed(v.Type, "Lists") {
				d.defineLists(name, v)
			}
		case *ast.CallExpr:
			switch {
			case isNamed(v.Fun, "List"):
				d.lists[name.Name] = []string{name.Name}
			case isNamed(v.Fun, "Buffer"):
				d.buffers = append(d.buffers, name.Name)
			case isNamed(v.Fun, "Place") && len(v.Args) > 0 && isNamed(v.Args[0], "ParamsBuffer"):
				d.params = name.Name
			case isNamed(v.Fun, "Kernel"):
				if err := d.defineKernel(name, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// defineLists notes lists that stand for others; what isn't known to be a list leaves the variable unknown.
func (d *dispatchReader) defineLists(name *ast.Ident, of *ast.CompositeLit) {
	var lists []string
	for _, list := range identifiers(of.Elts) {
		if slices.Equal(d.lists[list.Name], []string{list.Name}) {
			lists = append(lists, list.Name)
		}
	}
	if len(lists) == len(of.Elts) {
		d.lists[name.Name] = lists
	}
}

func (d *dispatchReader) defineKernel(name *ast.Ident, c *ast.CallExpr) error {
	if len(c.Args) == 1 {
		if made, ok := c.Args[0].(*ast.CallExpr); ok {
			if f, ok := made.Fun.(*ast.Ident); ok && slices.Contains(d.functions, f.Name) {
				d.kernels[name.Name] = slices.Index(d.functions, f.Name)
				return nil
			}
		}
	}
	return d.errorf(c, "%s is no kernel that kgen writes", name.Name)
}

// call reads b.Params, b.Model and Dispatch.
func (d *dispatchReader) call(c *ast.CallExpr) error {
	switch {
	case isNamed(c.Fun, "Params") && len(c.Args) == 1:
		lit, ok := c.Args[0].(*ast.CompositeLit)
		if !ok {
			return d.errorf(c, "the params block is not written out")
		}
		for _, field := range []string{"Sequences", "PagesAt", "Pages", "RingAt", "Ring"} {
			to := reflect.ValueOf(&d.block.Params).Elem().FieldByName(field).Addr().Interface().(*int)
			if err := d.fillSome(to, lit, field); err != nil {
				return err
			}
		}
	case isNamed(c.Fun, "Model") && len(c.Args) == 2:
		for i, to := range []*int{&d.block.Vocab, &d.block.Context} {
			if err := d.fill(reflect.ValueOf(to).Elem(), c.Args[i]); err != nil {
				return err
			}
		}
	case isNamed(c.Fun, "Dispatch") && len(c.Args) >= 4:
		return d.dispatch(c)
	}
	return nil
}

// fillSome sets a number to a field of a literal, if it has that.
func (d *dispatchReader) fillSome(to *int, lit *ast.CompositeLit, field string) error {
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Key.(*ast.Ident); ok && name.Name == field {
				return d.fill(reflect.ValueOf(to).Elem(), pair.Value)
			}
		}
	}
	return nil
}

func (d *dispatchReader) dispatch(c *ast.CallExpr) error {
	call := dispatchCall{at: c.Pos(), params: -1}
	name, ok := c.Args[0].(*ast.Ident)
	if !ok {
		return d.errorf(c.Args[0], "the kernel of a dispatch is no variable")
	}
	if call.kernel, ok = d.kernels[name.Name]; !ok {
		return d.errorf(name, "%s is no kernel", name.Name)
	}
	for i := range call.grid {
		if err := d.fill(reflect.ValueOf(&call.grid[i]).Elem(), c.Args[1+i]); err != nil {
			return err
		}
	}
	if list, ok := c.Fun.(*ast.SelectorExpr).X.(*ast.Ident); ok {
		call.lists = d.lists[list.Name]
	}
	for i, a := range c.Args[4:] {
		id, whole := a.(*ast.Ident)
		switch {
		case whole && id.Name == d.params && call.params < 0:
			call.params = i
		case mentions(a, d.params):
			call.strays = true
		}
	}
	d.calls = append(d.calls, call)
	return nil
}

func mentions(e ast.Expr, name string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// dispatched is how kernel number i runs, by all its dispatches.
func (d *dispatchReader) dispatched(i int, k plan.Kernel) bounds.Dispatched {
	out := bounds.Dispatched{Kernel: k, Params: -1, Last: true}
	met := false
	for n, c := range d.calls {
		if c.kernel != i {
			continue
		}
		for j := range out.Grid {
			out.Grid[j] = max(out.Grid[j], c.grid[j])
		}
		out.Strays = out.Strays || c.strays
		switch {
		case !met:
			out.Params = c.params
		case out.Params != c.params:
			out.Params, out.Strays = -1, true
		}
		met = true
		out.Last = out.Last && d.isLast(n)
	}
	return out
}

// isLast reports whether no dispatch follows in a list of a dispatch.
func (d *dispatchReader) isLast(n int) bool {
	c := d.calls[n]
	if slices.ContainsFunc(d.loops, func(l ast.Node) bool { return l.Pos() <= c.at && c.at < l.End() }) {
		return false
	}
	for _, later := range d.calls[n+1:] {
		shares := c.lists == nil || later.lists == nil
		for _, list := range c.lists {
			shares = shares || slices.Contains(later.lists, list)
		}
		if shares {
			return false
		}
	}
	return true
}
