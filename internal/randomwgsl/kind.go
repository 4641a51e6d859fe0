package randomwgsl

import (
	"fmt"
	"strings"
)

// kind is a type of WGSL: a scalar or vector, an array, or a struct.
type kind struct {
	scalar string // i32, u32, f32, f16 or bool, of a scalar or vector
	width  int    // 1 for a scalar, 2 to 4 for a vector
	elem   *kind  // of an array
	length int
	record *record
}

type record struct {
	name   string
	fields []field
}

type field struct {
	name string
	kind *kind
}

func plain(scalar string, width int) *kind { return &kind{scalar: scalar, width: width} }

func (k *kind) String() string {
	switch {
	case k.record != nil:
		return k.record.name
	case k.elem != nil:
		return fmt.Sprintf("array<%s, %d>", k.elem, k.length)
	case k.width == 1:
		return k.scalar
	}
	return fmt.Sprintf("vec%d<%s>", k.width, k.scalar)
}

func (k *kind) isPlain() bool { return k.elem == nil && k.record == nil }

// holds reports whether a value of the kind has bools or floats of 16 bits in it.
func (k *kind) holds(scalar string) bool {
	switch {
	case k.elem != nil:
		return k.elem.holds(scalar)
	case k.record != nil:
		for _, f := range k.record.fields {
			if f.kind.holds(scalar) {
				return true
			}
		}
		return false
	}
	return k.scalar == scalar
}

// words returns how many scalars a value has.
func (k *kind) words() int {
	switch {
	case k.elem != nil:
		return k.length * k.elem.words()
	case k.record != nil:
		n := 0
		for _, f := range k.record.fields {
			n += f.kind.words()
		}
		return n
	}
	return k.width
}

// layout returns the alignment and size that WGSL gives the kind in memory.
func (k *kind) layout() (align, size int) {
	up := func(n, to int) int { return (n + to - 1) / to * to }
	switch {
	case k.elem != nil:
		align, size = k.elem.layout()
		return align, k.length * up(size, align)
	case k.record != nil:
		for _, f := range k.record.fields {
			a, s := f.kind.layout()
			align, size = max(align, a), up(size, a)+s
		}
		return align, up(size, align)
	}
	bytes := 4
	if k.scalar == "f16" {
		bytes = 2
	}
	align = bytes * k.width
	if k.width == 3 {
		align = bytes * 4
	}
	return align, bytes * k.width
}

// expr is the text of an expression. Of a float, size bounds the magnitude and every value is a multiple of 2^-fraction.
type expr struct {
	text     string
	constant bool // a constant expression, which a compiler evaluates and may refuse
	size     float64
	fraction int
}

const (
	tame32 = 100 // the bound of f32 in variables, which hold whole numbers alone
	tame16 = 16  // the bound of f16 there
)

func tame(scalar string) float64 {
	if scalar == "f16" {
		return tame16
	}
	return tame32
}

// exact reports whether the float type holds all values of an expression.
func exact(scalar string, e expr) bool {
	limit := float64(1 << 24)
	if scalar == "f16" {
		limit = 1 << 11
	}
	return e.size*float64(int(1)<<e.fraction) <= limit
}

// splat returns a scalar's text as a vector of a width.
func splat(k *kind, text string) string {
	if k.width == 1 {
		return text
	}
	return fmt.Sprintf("%s(%s)", k, text)
}

func components(width int) string { return "xyzw"[:width] }

func joined(list []expr) string {
	var texts []string
	for _, e := range list {
		texts = append(texts, e.text)
	}
	return strings.Join(texts, ", ")
}
