package ir

import (
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/models/quant"
)

// Dim is one size of a tensor: a positive integer, or one of the symbols T, S and B.
type Dim int

// The symbolic sizes.
const (
	T Dim = -1 - iota // tokens in this call
	S                 // keys seen: the tokens of this call and all before it
	B                 // sequences
)

// String prints the size as the text form has it.
func (d Dim) String() string {
	switch d {
	case T:
		return "T"
	case S:
		return "S"
	case B:
		return "B"
	}
	return strconv.Itoa(int(d))
}

// Symbolic reports whether the size is known only when the graph runs.
func (d Dim) Symbolic() bool { return d < 0 }

// Elem is the type of a tensor's elements: any type a GGUF file stores, by the number it has there, or U32.
type Elem uint32

// Element types of values; weights use the other numbers of package quant too.
const (
	F32 = Elem(quant.F32)
	F16 = Elem(quant.F16)
	I8  = Elem(quant.I8)
	U32 = Elem(1 << 16) // token ids; not a type of the file format
)

// String prints the type in lower case: f32, f16, u32, q4_1.
func (e Elem) String() string {
	if e == U32 {
		return "u32"
	}
	return strings.ToLower(quant.Type(e).String())
}

// ParseElem returns the element type with the given name, as String prints it.
func ParseElem(name string) (Elem, bool) {
	if name == "u32" {
		return U32, true
	}
	t, ok := quant.ParseType(strings.ToUpper(name))
	return Elem(t), ok && Elem(t).String() == name
}

// Kind says where a tensor's value comes from.
type Kind uint8

// The kinds of tensors.
const (
	Input  Kind = iota + 1 // given by the caller
	Weight                 // read from the model file under the tensor's name
	Value                  // result of a node
)

// Tensor is a named value of a graph. Shape lists the slowest dimension first: a [T, 576] tensor holds T rows of 576
// contiguous elements. A weight of shape [rows, columns] is what a GGUF file lists as [ne0=columns, ne1=rows].
type Tensor struct {
	Name  string
	Kind  Kind
	Elem  Elem
	Shape []Dim
	Def   *Node // the node that makes it; nil unless Kind is Value
	Pos   Pos   // where the text form declared it; zero for graphs built in memory
}

// Columns returns the last, contiguous dimension, 1 for a scalar. It is a number but for token ids, whose only
// dimension is symbolic.
func (t *Tensor) Columns() int {
	if len(t.Shape) == 0 {
		return 1
	}
	return int(t.Shape[len(t.Shape)-1])
}

// Rows returns the product of all dimensions but the last, with symbolic ones replaced by the given sizes.
func (t *Tensor) Rows(sizes Sizes) int {
	n := 1
	for _, d := range t.Shape[:max(0, len(t.Shape)-1)] {
		n *= sizes.Of(d)
	}
	return n
}

// Elements returns the number of elements for the given sizes.
func (t *Tensor) Elements(sizes Sizes) int {
	n := 1
	for _, d := range t.Shape {
		n *= sizes.Of(d)
	}
	return n
}

// Sizes gives the symbolic dimensions values.
type Sizes struct{ T, S, B int }

// Of returns the value of a dimension.
func (s Sizes) Of(d Dim) int {
	switch d {
	case T:
		return s.T
	case S:
		return s.S
	case B:
		return s.B
	}
	return int(d)
}

// Pos is a place in a graph's text: file, line and column, counted from 1. The zero Pos is unknown.
type Pos struct {
	File         string
	Line, Column int
}

// String prints file:line:column, or - when unknown.
func (p Pos) String() string {
	if p.Line == 0 {
		return "-"
	}
	at := strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
	if p.File != "" {
		return p.File + ":" + at
	}
	return at
}
