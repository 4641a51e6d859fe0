package ir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Type is an element type and a shape.
type Type struct {
	Elem  Elem
	Shape []Dim
}

// Type returns the tensor's element type and shape.
func (t *Tensor) Type() Type { return Type{t.Elem, t.Shape} }

// String prints the type as the text form has it: f32[T, 576].
func (t Type) String() string {
	dims := make([]string, len(t.Shape))
	for i, d := range t.Shape {
		dims[i] = d.String()
	}
	return t.Elem.String() + "[" + strings.Join(dims, ", ") + "]"
}

// Equal reports whether both are the same type.
func (t Type) Equal(u Type) bool { return t.Elem == u.Elem && slices.Equal(t.Shape, u.Shape) }

// rule checks one node against its op's row: it binds the names of dimensions while it goes through the operands and
// reads the results' types from them.
type rule struct {
	node *Node
	spec Spec
	dims map[string][]Dim // by name; m of repetition i is "m.i"; ... is a list
}

// infer returns the types of the node's results. declared gives the types that the node asks for, nil for none: an open
// result takes its type from there. The error is a message without position.
func (n *Node) infer(declared []Type) ([]Type, error) {
	spec, ok := n.Op.Spec()
	if !ok {
		return nil, fmt.Errorf("%s is not an op", n.Op)
	}
	for _, t := range n.In {
		for _, d := range t.Shape {
			if d == 0 || d < B {
				return nil, fmt.Errorf("operand %s is %s, which has a size of %d", t.Name, t.Type(), int(d))
			}
		}
	}
	r := rule{node: n, spec: spec, dims: map[string][]Dim{"T": {T}, "S": {S}, "B": {B}}}
	if err := r.attrs(); err != nil {
		return nil, err
	}
	repeats, err := r.operands()
	if err != nil {
		return nil, err
	}
	return r.results(repeats, declared)
}

func (r *rule) attrs() error {
	for _, d := range attrTable {
		optional, used := r.spec.reads(d.name)
		switch {
		case !used && !d.isZero(&r.node.Attrs):
			return fmt.Errorf("%s has no attribute %s", r.spec.Name, d.name)
		case used && !(optional && d.isZero(&r.node.Attrs)):
			if msg := d.check(&r.node.Attrs, !optional); msg != "" {
				return fmt.Errorf("%s", msg)
			}
		}
	}
	return nil
}

// operands checks all operands and returns how often those that repeat do, 1 when none does.
func (r *rule) operands() (repeats int, err error) {
	counts, ok := r.counts()
	if !ok {
		return 0, fmt.Errorf("%s takes %s; got %d operands", r.spec.Name, r.spec.signature(), len(r.node.In))
	}
	at, repeats := 0, 1
	for i, o := range r.spec.Operands {
		if o.Repeat && !o.Optional {
			repeats = counts[i]
		}
		for k := range counts[i] {
			if err := r.operand(o, r.node.In[at], k); err != nil {
				return 0, err
			}
			at++
		}
	}
	return repeats, nil
}

// counts returns how many operands each row of the table gets; ok is false when the node has too few or too many.
func (r *rule) counts() (counts []int, ok bool) {
	left := len(r.node.In)
	for _, o := range r.spec.Operands {
		n := 1
		switch {
		case o.Repeat && o.Optional:
			n = left // the biases: as many as there are weights, or none
		case o.Repeat && r.node.Attrs.Bias:
			if left%2 != 0 {
				return nil, false
			}
			n = left / 2
		case o.Repeat:
			n = left
		case o.Optional:
			n = min(1, left)
		}
		if n > left || n == 0 && !o.Optional {
			return nil, false
		}
		counts = append(counts, n)
		left -= n
	}
	return counts, left == 0
}

func (r *rule) operand(o Operand, t *Tensor, repetition int) error {
	if msg := o.Elem.refuses(t); msg != "" {
		return fmt.Errorf("operand %s of %s: %s is %s, not %s", o.Name, r.spec.Name, t.Name, t.Type(), msg)
	}
	with := r.bound(o.Dims, repetition)
	if !r.bind(strings.Fields(o.Dims), t.Shape, repetition) {
		return fmt.Errorf("operand %s of %s: %s is %s, not [%s]%s", o.Name, r.spec.Name, t.Name, t.Type(),
			strings.Join(strings.Fields(o.Dims), ", "), with)
	}
	return nil
}

// refuses returns what the rule wants when the tensor is something else.
func (e ElemRule) refuses(t *Tensor) string {
	switch {
	case e == Float && (t.Elem != F32 || t.Kind == Weight):
		return "an f32 value"
	case e == Vector && t.Elem != F32 && t.Kind != Weight:
		return "f32 or a weight"
	case e == Stored && t.Kind != Weight:
		return "a weight"
	case e == Index && t.Elem != U32:
		return "u32"
	case e == Cached && t.Elem != F32 && t.Elem != F16:
		return "f32 or f16"
	case e == Code && (t.Elem != I8 || t.Kind == Weight):
		return "an i8 value"
	case e != Index && t.Elem == U32:
		return "a number"
	}
	return ""
}

// bind matches a shape with the names of its dimensions.
func (r *rule) bind(names []string, shape []Dim, repetition int) bool {
	if len(names) > 0 && names[0] == "..." {
		lead := len(shape) - len(names) + 1
		if lead < 0 || !r.bindOne("...", shape[:lead]) {
			return false
		}
		names, shape = names[1:], shape[lead:]
	}
	if len(names) != len(shape) {
		return false
	}
	for i, name := range names {
		if !r.bindOne(key(name, repetition), shape[i:i+1]) {
			return false
		}
	}
	return true
}

func key(name string, repetition int) string {
	if name == "m" {
		return "m." + strconv.Itoa(repetition)
	}
	return name
}

func (r *rule) bindOne(name string, dims []Dim) bool {
	if n, err := strconv.Atoi(name); err == nil {
		return dims[0] == Dim(n)
	}
	if had, ok := r.size(name); ok {
		return slices.Equal(had, dims)
	}
	r.dims[name] = dims
	return true
}

// divides returns an error when a dimension such as n/32 is none, because 32 does not divide n.
func (r *rule) divides(dims string) error {
	for _, name := range strings.Fields(dims) {
		of, by, divided := strings.Cut(name, "/")
		if dims, known := r.size(name); divided && known && dims == nil {
			return fmt.Errorf("%s needs %s to be a multiple of %s, not %s", r.spec.Name, of, by, r.dims[of][0])
		}
	}
	return nil
}

// size returns what a name stands for, once that is known: n/32 when n is.
func (r *rule) size(name string) (dims []Dim, ok bool) {
	of, part, divided := strings.Cut(name, "/")
	dims, ok = r.dims[of]
	if !divided || !ok {
		return dims, ok
	}
	by, _ := strconv.Atoi(part) // the table of ops has numbers there
	if len(dims) != 1 || dims[0] < 0 || int(dims[0])%by != 0 {
		return nil, true // what no dimension is equal to
	}
	return []Dim{dims[0] / Dim(by)}, true
}

// bound explains the names that earlier operands gave a size: " with n = 576".
func (r *rule) bound(dims string, repetition int) string {
	var parts []string
	for _, name := range strings.Fields(dims) {
		of, _, _ := strings.Cut(name, "/")
		if d, ok := r.dims[key(of, repetition)]; ok && of != "T" && of != "S" {
			parts = append(parts, of+" = "+strings.Trim(Type{F32, d}.String()[3:], "[]"))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

func (r *rule) results(repeats int, declared []Type) ([]Type, error) {
	var types []Type
	for _, res := range r.spec.Results {
		n := 1
		if res.Repeat {
			n = repeats
		}
		if err := r.divides(res.Dims); err != nil {
			return nil, err
		}
		for k := range n {
			types = append(types, r.result(res, k, declared))
		}
	}
	if declared != nil && len(declared) != len(types) {
		return nil, fmt.Errorf("%s has %d results here; got %d", r.spec.Name, len(types), len(declared))
	}
	for i, t := range types {
		if declared != nil && !t.Equal(declared[i]) {
			return nil, fmt.Errorf("result %d of %s is %s, not %s", i+1, r.spec.Name, t, declared[i])
		}
	}
	return types, r.also(types)
}

// result builds the type of one result; an open one takes from the declaration what the operands don't fix.
func (r *rule) result(res Result, repetition int, declared []Type) Type {
	t := Type{Elem: F32}
	switch res.Elem {
	case Index:
		t.Elem = U32
	case Code:
		t.Elem = I8
	}
	if res.Open && len(declared) > 0 && (res.Elem != Cached || declared[0].Elem == F16) {
		t.Elem = declared[0].Elem
	}
	if res.Open && res.Dims == "" && len(declared) > 0 {
		t.Shape = declared[0].Shape
		return t
	}
	for _, name := range strings.Fields(res.Dims) {
		if n, err := strconv.Atoi(name); err == nil {
			t.Shape = append(t.Shape, Dim(n))
		} else {
			dims, _ := r.size(key(name, repetition))
			t.Shape = append(t.Shape, dims...)
		}
	}
	return t
}

// also runs the op's own check on a node that has results of the given types.
func (r *rule) also(types []Type) error {
	if r.spec.also == nil {
		return nil
	}
	n := *r.node
	n.Out = make([]*Tensor, len(types))
	for i, t := range types {
		n.Out[i] = &Tensor{Kind: Value, Elem: t.Elem, Shape: t.Shape}
	}
	if msg := r.spec.also(&n); msg != "" {
		return fmt.Errorf("%s", msg)
	}
	return nil
}
