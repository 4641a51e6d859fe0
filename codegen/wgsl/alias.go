package wgsl

// alias says where an operand lives: element i of its n is element i+offset of the binding.
type alias struct {
	binding   *Symbol
	elem      Type
	offset, n int
}

// operand resolves x[i] of an operand to binding[i + offset], in a bitcast where the types differ.
func (c *checker) operand(e *Index, id *Ident, s *Symbol) Expr {
	a := s.alias
	if c.scope.find(a.binding.Name) != a.binding {
		return c.failAt(e, id, "operand %s lives in binding %s, which a local name hides", id.Name, a.binding.Name)
	}
	i := c.indexValue(e.I)
	if bad(i) {
		set(e, Bad)
		return e
	}
	array := a.binding.Type.(Array)
	if a.offset > 0 {
		l, unsuffixed := i.(*Literal)
		unsuffixed = unsuffixed && l.Suffix == ""
		offset := literal(int64(a.offset), typeOf(i).(Scalar), id.Pos)
		if unsuffixed {
			offset.Suffix = ""
		}
		sum := &Binary{Info: Info{Pos: id.Pos, Type: typeOf(i), Const: constant(i)}, Op: "+", X: i, Y: offset}
		i = simplify(c.fold(sum, typeOf(i).(Scalar)))
		if l, ok := i.(*Literal); ok && unsuffixed {
			l.Suffix = ""
		}
	}
	if v := valueOf(i); v.Kind == IntValue && (v.Int < int64(a.offset) || v.Int >= int64(a.offset+a.n)) {
		return c.failAt(e, e.I, "index %d is outside of operand %s of %d elements", v.Int-int64(a.offset), id.Name, a.n)
	}
	x := &Ident{Info: Info{Pos: id.Pos, Type: array}, Name: a.binding.Name, Symbol: a.binding}
	element := &Index{Info: Info{Pos: e.Pos, Type: array.Elem}, X: x, I: i}
	if a.elem == array.Elem {
		return element
	}
	return &Bitcast{Info: Info{Pos: e.Pos, Type: a.elem}, To: a.elem, X: element}
}

// assign makes an assignment to a checked target, and where that is an operand of another type than its binding, the one through a
// bitcast.
func (c *checker) assign(op string, to, value Expr) *Assign {
	value = c.value(value)
	if bad(to) || bad(value) {
		return &Assign{Op: op, To: to, Value: value}
	}
	c.checkSum(op, to, value)
	if op != "" {
		typed := c.compound(op, to, value)
		if _, cast := uncast(to); !cast || bad(typed) {
			b, ok := typed.(*Binary)
			if !ok { // simplified away: keep what was written
				return &Assign{Op: op, To: to, Value: value}
			}
			return &Assign{Op: op, To: to, Value: b.Y}
		}
		if !harmless(to) { // it is evaluated twice
			c.fail(to, "%s= through a bitcast can't have an effect in the index", op)
		}
		value = typed
	}
	value = c.convert(value, typeOf(to), "the value stored")
	place, cast := uncast(to)
	if cast && !bad(value) {
		value = &Bitcast{Info: Info{Pos: value.Expression().Pos, Type: typeOf(place)}, To: typeOf(place), X: value}
	}
	return &Assign{To: place, Value: value}
}

const sumInF16 = "this adds up in f16, which overflows above 65504: keep the sum in f32"

// checkSum refuses sums in f16, which overflow above 65504: what is added to a place of f16 is what makes its next value.
func (c *checker) checkSum(op string, to, value Expr) {
	if c.plain || scalarOf(to) != F16 || op != "" && op != "+" && op != "-" {
		return
	}
	place, _ := uncast(to)
	sum := op != ""
	Walk(value, func(e Expr) {
		id, ok := e.(*Ident)
		sum = sum || ok && id.Symbol != nil && id.Symbol == root(place)
	})
	if sum {
		c.fail(to, sumInF16)
	}
}

// compound checks to op value as the operation that a compound assignment does.
func (c *checker) compound(op string, to, value Expr) Expr {
	b := &Binary{Info: Info{Pos: value.Expression().Pos}, Op: op, X: to, Y: value}
	t := typeOf(to)
	var typed Expr
	if level(op) == shiftLevel {
		typed = c.shift(b)
	} else {
		tv := typeOf(value)
		s, ok := c.unify(&b.X, &b.Y)
		wide := width(t) == width(tv) || level(op) >= additiveLevel && width(tv) == 1
		if c.err == nil && (!ok || !wide || typeOf(b.X) != t || !c.operates(op, s, width(t))) {
			return c.fail(b, "%s= doesn't apply to %s and %s", op, t, tv)
		}
		b.Type = t
		typed = c.fold(b, s)
	}
	if c.err != nil {
		set(typed, Bad)
	}
	return typed
}

// uncast returns the place in the binding that a target stands for, and whether a bitcast lies between.
func uncast(to Expr) (Expr, bool) {
	switch e := to.(type) {
	case *Bitcast:
		return e.X, true
	case *Member:
		if b, ok := e.X.(*Bitcast); ok {
			return &Member{Info: Info{Pos: e.Pos, Type: component(typeOf(b.X))}, X: b.X, Name: e.Name}, true
		}
	case *Index:
		if b, ok := e.X.(*Bitcast); ok {
			return &Index{Info: Info{Pos: e.Pos, Type: component(typeOf(b.X))}, X: b.X, I: e.I}, true
		}
	}
	return to, false
}
