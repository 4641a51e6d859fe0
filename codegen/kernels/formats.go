package kernels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// format is how kernels read weights of one type whose rows have a given number of values. The planes of a weight hold its
// blocks in the order of the file.
type format interface {
	// planes says which bits of a block go to which plane.
	planes() []plan.Plane
	// operands lists the planes of a weight as arrays.
	operands(rows int) []bind.Operand
	// row says how a loop walks a row.
	row() rowLoop
	// declare declares functions that the others' text calls, before the entry point.
	declare(m *wgsl.Module)
	// prepare declares what the rows of a trip share, made of x0, x1, ...
	prepare(m *wgsl.Module)
	// load declares the words of the trip at<r>, which counts trips from the first row of the weight on.
	load(m *wgsl.Module, r string)
	// multiply adds the trip's products with x to acc<r>, lane by lane.
	multiply(m *wgsl.Module, r string)
	// value declares what it needs and returns the text for vector i of the row called row. It is bit-equal to what
	// models/quant computes: a product of an f16 scale, a whole factor and a code has at most 23 significant bits (Q6_K), so it is
	// exact in f32, and it makes no difference whether a compiler fuses it with the sum that follows.
	value(m *wgsl.Module) string
}

// q8Format is a format whose trips have 32 values, and whose products with 8-bit codes of x are sums of integers.
type q8Format interface {
	format
	// multiplyQ8 declares dots<r>, the codes of trip at<r> times those of x, and adds d·dots and what offsets make to acc<r>.
	// xd is the scale of x's block and xs its scaled sum.
	multiplyQ8(m *wgsl.Module, r string, x q8Input)
}

// rowLoop says how a loop walks a row of weights: in Trips trips, each of which meets Vectors vectors of Width values of x.
type rowLoop struct{ Trips, Vectors, Width int }

// newFormat returns the format of a type for rows of the given number of values, nil when there is none. Each format is in
// the file of its name.
func newFormat(t quant.Type, columns int) format {
	switch t {
	case quant.F32:
		return f32{columns}
	case quant.F16:
		return f16{columns}
	case quant.Q8_0:
		return q8_0{blocks{columns}}
	case quant.Q4_0:
		return q4_0{blocks{columns}}
	case quant.Q4_1:
		return q4_1{blocks{columns}}
	case quant.Q5_0:
		return signedCodes{q5_0{blocks{columns}}}
	case quant.Q5_1:
		return offsetCodes{q5_1{blocks{columns}}}
	case quant.IQ4_NL:
		return newIQ4NL(columns)
	case quant.MXFP4:
		return newMXFP4(columns)
	case quant.Q2_K:
		return halfOffsetCodes{q2_k{superblock{blocks{columns}}}}
	case quant.Q3_K:
		return halfSignedCodes{q3_k{superblock{blocks{columns}}}}
	case quant.Q4_K:
		return offsetCodes{q4_k{superblock{blocks{columns}}}}
	case quant.Q5_K:
		return offsetCodes{q5_k{superblock{blocks{columns}}}}
	case quant.Q6_K:
		return halfSignedCodes{q6_k{superblock{blocks{columns}}}}
	}
	return nil
}

// The names of planes and of the operands that hold them.
const (
	Values = "values" // of formats without blocks
	Codes  = "codes"
	High   = "high_bits" // of codes that lie in two planes
	Scales = "scales"
	Unit   = "unit" // of scales that are whole numbers
)

// Formats returns the weight formats that kernels read, by number.
func Formats() []quant.Type {
	return slices.DeleteFunc(quant.Types(), func(t quant.Type) bool { return newFormat(t, 0) == nil })
}

// FormatsQ8 returns those of Formats that kernels multiply with q8 x too.
func FormatsQ8() []quant.Type {
	return slices.DeleteFunc(Formats(), func(t quant.Type) bool {
		_, ok := newFormat(t, 0).(q8Format)
		return !ok
	})
}

// Recipe returns how the bytes of a weight become its planes, which are in the order in which GEMV and Embed have the
// operands. Rows and the planes' To are left to the caller: (rows-1)·RowStride bytes and a row, rounded up to 4. Weights
// stacked in one kernel follow each other in every plane without a gap.
func Recipe(t quant.Type, columns int) (plan.Recipe, error) {
	f, block, err := lookup(t, columns)
	if err != nil {
		return plan.Recipe{}, err
	}
	r := plan.Recipe{Type: t.String(), RowBlocks: columns / block.Elems, BlockBytes: block.Bytes, Planes: f.planes()}
	for i := range r.Planes {
		r.Planes[i].RowStride = r.RowBlocks * r.Planes[i].BlockBits / 8
	}
	return r, nil
}

// widestRow is the bytes of a row in the largest plane; 0 for rows that no kernel reads.
func widestRow(t quant.Type, columns int) int {
	plane, _, err := RowBytes(t, columns)
	if err != nil {
		return 0
	}
	return plane
}

// RowBytes returns the bytes of a row in the largest plane, and in the largest run of planes that one array can hold. Such planes are
// bound as one where they lie side by side and there are few bindings.
func RowBytes(t quant.Type, columns int) (plane, run int, err error) {
	r, err := Recipe(t, columns)
	if err != nil {
		return 0, 0, err
	}
	elem, sum := "", 0
	for i, o := range newFormat(t, columns).operands(1) {
		if o.Elem != elem {
			elem, sum = o.Elem, 0
		}
		sum += r.Planes[i].RowStride
		plane, run = max(plane, r.Planes[i].RowStride), max(run, sum)
	}
	return plane, run, nil
}

func lookup(t quant.Type, columns int) (format, quant.Block, error) {
	block, _ := t.Block()
	f := newFormat(t, columns)
	switch {
	case f == nil:
		return nil, block, fmt.Errorf("weights of type %v: no kernel reads them yet", t)
	case columns <= 0 || columns%block.Elems != 0:
		return nil, block, fmt.Errorf("rows of %d values are no whole blocks of %v, %d", columns, t, block.Elems)
	}
	return f, block, nil
}

// formatName is the name of a type within kernel names.
func formatName(t quant.Type) string { return strings.ToLower(t.String()) }

// weightOperand is a plane as an operand.
func weightOperand(name, elem string, count int) bind.Operand {
	return bind.Operand{Name: name, Elem: elem, Count: count, Access: plan.Read}
}

// blockValues is the number of values that share a scale.
const blockValues = 32

// blocks is what the formats with blocks of 32 values have in common.
type blocks struct{ columns int }

func (b blocks) perRow() int { return b.columns / blockValues }

func (b blocks) row() rowLoop { return rowLoop{Trips: b.perRow(), Vectors: blockValues / 4, Width: 4} }

func (blocks) declare(*wgsl.Module) {}

// locate declares where vector i of a row lies: it is vector part of block at.
func (b blocks) locate(m *wgsl.Module) {
	m.Let("at", "row * %du + (i >> 3u)", b.perRow())
	m.Let("part", "i & 7u")
}

// sumX declares xs, the sum of a block of x, lane by lane.
func (blocks) sumX(m *wgsl.Module) {
	m.Let("xs", "((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7))")
}

// halfScales is the plane of one f16 for each block, two blocks in a word.
func (b blocks) halfScales(rows int) bind.Operand {
	return weightOperand(Scales, "u32", (rows*b.perRow()+1)/2)
}

// loadHalfScale declares d<r>, the scale of block at<r>.
func (blocks) loadHalfScale(m *wgsl.Module, r string) {
	m.Let("d"+r, "unpack2x16float(%[2]s[at%[1]s >> 1u])[at%[1]s & 1u]", r, Scales)
}

// pairScalePlane is two f16 at the start of a block.
func pairScalePlane() plan.Plane {
	return plan.Plane{Name: Scales, BlockBits: 32, Fields: []plan.Field{{From: 0, At: 0, Bits: 32}}}
}

// halfScalePlane is the f16 at the start of a block.
func halfScalePlane() plan.Plane {
	return plan.Plane{Name: Scales, BlockBits: 16, Fields: []plan.Field{{From: 0, At: 0, Bits: 16}}}
}
