package mutate

import "github.com/kgen-wgsl/kgen/codegen/wgsl"

// reduction breaks a sum: a part is left out, a step of a tree reaches half as far, a subgroup's operation is another or none.
func reduction(p place) []wgsl.Expr {
	switch e := p.expr().(type) {
	case *wgsl.Binary:
		if e.Op == "+" && float(e) {
			return []wgsl.Expr{e.X, e.Y}
		}
	case *wgsl.Call:
		if e.Name == "fma" {
			return []wgsl.Expr{&wgsl.Binary{Info: infoOf(e), Op: "*", X: e.Args[0], Y: e.Args[1]}}
		}
		if other, ok := map[string]string{"subgroupAdd": "subgroupMax", "subgroupMax": "subgroupAdd", "subgroupMin": "subgroupMax"}[e.Name]; ok {
			return []wgsl.Expr{e.Args[0], call(e, other, e.Args...)}
		}
	case *wgsl.Literal:
		if l, ok := integerLiteral(e); ok && treeStep(p) && l.Value.Int >= 2 && l.Value.Int&(l.Value.Int-1) == 0 {
			return []wgsl.Expr{withInt(l, l.Value.Int/2)}
		}
	}
	return nil
}

// treeStep reports whether a number is the distance between two elements of workgroup memory, or bounds the invocations of an if.
func treeStep(p place) bool {
	if comparison(p.parent()) {
		_, ok := p.stmt.(*wgsl.If)
		return ok
	}
	if len(p.around) < 2 || !inIndex(p) {
		return false
	}
	index, ok := p.around[len(p.around)-2].(*wgsl.Index)
	if !ok {
		return false
	}
	id, ok := index.X.(*wgsl.Ident)
	return ok && id.Symbol != nil && id.Symbol.Space == wgsl.WorkgroupSpace
}

// replacedSum sets what was to be added to or multiplied.
func replacedSum(s spot) (wgsl.Stmt, bool) {
	a, ok := s.stmt().(*wgsl.Assign)
	if !ok || a.Op == "" {
		return nil, false
	}
	return &wgsl.Assign{At: a.At, To: a.To, Value: a.Value}, true
}

// zero starts a variable at another value: at one instead of zero, and at zero instead of another.
func zero(p place) []wgsl.Expr {
	if p.parent() != nil || !p.expr().Expression().Const || p.post {
		return nil
	}
	switch s := p.stmt.(type) {
	case *wgsl.Declare:
		if s.Symbol.Kind != wgsl.VarSymbol {
			return nil
		}
	case *wgsl.Assign:
		if s.Op != "" || p.slot != &s.Value {
			return nil
		}
	default:
		return nil
	}
	return start(p.expr())
}

// start returns another value than that of a constant expression.
func start(e wgsl.Expr) []wgsl.Expr {
	if !float(e) && !integer(e) {
		return nil
	}
	info := infoOf(e)
	text, kind := "0", wgsl.Value{Kind: wgsl.IntValue}
	if isZero(e) {
		text, kind = "1", wgsl.Value{Kind: wgsl.IntValue, Int: 1}
	}
	number := &wgsl.Literal{Info: info, Text: text, Suffix: suffix(scalarOf(e))}
	if number.Value = kind; float(e) {
		number.Value = wgsl.Value{Kind: wgsl.FloatValue, Float: float64(kind.Int)}
		number.Text += ".0"
	}
	if widthOf(e) == 1 {
		return []wgsl.Expr{number}
	}
	number.Type = scalarOf(e)
	return []wgsl.Expr{&wgsl.Construct{Info: info, Written: info.Type.String(), To: info.Type, Args: []wgsl.Expr{number}}}
}

// isZero reports whether a constant expression is zero, as far as its value is known or written.
func isZero(e wgsl.Expr) bool {
	if v := e.Expression().Value; v.Kind != wgsl.NoValue {
		return v.Int == 0 && v.Float == 0
	}
	c, ok := e.(*wgsl.Construct)
	if !ok {
		return false
	}
	for _, a := range c.Args {
		if !isZero(a) {
			return false
		}
	}
	return true
}
