package golang

import (
	"go/ast"
	"go/token"
	"slices"
)

// surprises reports code that the reader of dispatches would misunderstand, as kgen doesn't write such: variables that stand for
// something else later, ranges that may be parts of the params block, dispatches by other names.
func (d *dispatchReader) surprises(file *ast.File) error {
	s := &surprises{dispatchReader: d, expected: map[ast.Node]bool{}, defined: map[string]int{}}
	var err error
	ast.Inspect(file, func(n ast.Node) bool {
		if err == nil && n != nil {
			err = s.node(n)
		}
		return err == nil
	})
	return err
}

type surprises struct {
	*dispatchReader
	expected map[ast.Node]bool // what the nodes around allow
	defined  map[string]int    // how often a name gets a meaning
}

func (s *surprises) node(n ast.Node) error {
	switch n := n.(type) {
	case *ast.CallExpr:
		s.expect(n)
	case *ast.SelectorExpr:
		s.expected[n.Sel] = true
		if n.Sel.Name == "Dispatch" && !s.expected[n] {
			return s.errorf(n, "a dispatch that is no call")
		}
	case *ast.KeyValueExpr:
		s.expected[n.Key] = true
	case *ast.CompositeLit:
		return s.literal(n)
	case *ast.ValueSpec:
		return s.meanings(n.Names)
	case *ast.Field:
		return s.meanings(n.Names)
	case *ast.RangeStmt:
		return s.meanings(identifiers([]ast.Expr{n.Key, n.Value}))
	case *ast.AssignStmt:
		return s.assignment(n)
	case *ast.Ident:
		if n.Name == s.params && !s.expected[n] {
			return s.errorf(n, "%s is the params block, and kgen uses it in dispatches alone", n.Name)
		}
	}
	return nil
}

// expect allows what the arguments of calls may be.
func (s *surprises) expect(c *ast.CallExpr) {
	s.expected[c.Fun] = true
	if isNamed(c.Fun, "Dispatch") { // what a part of the block means is known there
		for _, a := range c.Args {
			ast.Inspect(a, func(n ast.Node) bool {
				s.expected[n] = true
				return true
			})
		}
	}
}

// literal judges ranges that are written out, and allows the one in b.Params.
func (s *surprises) literal(c *ast.CompositeLit) error {
	for _, e := range c.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			if isNamed(c.Type, "Range") {
				return s.errorf(c, "a range without the names of its fields")
			}
			continue
		}
		key, _ := pair.Key.(*ast.Ident)
		switch {
		case key == nil:
		case isNamed(c.Type, "Params") && key.Name == "Range":
			s.expected[pair.Value] = true
		case isNamed(c.Type, "Range") && key.Name == "Buffer":
			if name, ok := pair.Value.(*ast.Ident); !ok || !slices.Contains(s.buffers, name.Name) {
				return s.errorf(pair.Value, "a range of a buffer that is no variable")
			}
		}
	}
	return nil
}

// assignment judges what gets another value.
func (s *surprises) assignment(a *ast.AssignStmt) error {
	for _, to := range a.Lhs {
		if field, ok := to.(*ast.SelectorExpr); ok && field.Sel.IsExported() && field.Sel.Name != "Layers" {
			return s.errorf(field, "kgen gives %s no other value", field.Sel.Name)
		}
	}
	if a.Tok == token.DEFINE || a.Tok == token.ASSIGN {
		return s.meanings(identifiers(a.Lhs))
	}
	return nil
}

// meanings refuses that a name which counts gets a second meaning.
func (s *surprises) meanings(names []*ast.Ident) error {
	for _, name := range names {
		s.expected[name] = true
		_, kernel := s.kernels[name.Name]
		if !kernel && s.lists[name.Name] == nil && name.Name != s.params && !slices.Contains(s.buffers, name.Name) {
			continue
		}
		if s.defined[name.Name]++; s.defined[name.Name] > 1 {
			return s.errorf(name, "%s stands for two things", name.Name)
		}
	}
	return nil
}
