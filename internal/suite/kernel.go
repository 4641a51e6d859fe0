package suite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Kernel is a kernel ready to run: its text, and where its operands lie in buffers of their own.
type Kernel struct {
	kernels.Kernel
	Plan     plan.Kernel
	Operands []bind.Operand
	Ranges   []plan.Range // of each binding
}

// Border is the bytes of the guards before and after the operands of a buffer: enough for a tile of a thousand rows too many.
const Border = 4096

// Build binds the operands of a kernel within limits and emits it. What a family returned goes in as it is. The operands named in
// beside lie with those that are written.
func Build(k kernels.Kernel, err error, limits plan.Limits, beside ...string) (*Kernel, error) {
	if err != nil {
		return nil, err
	}
	operands := place(k.Operands, beside...)
	b, err := bind.Plan(k.Name, operands, limits)
	if err != nil {
		return nil, err
	}
	compiled, err := kernels.Emit(k, b)
	if err != nil {
		return nil, err
	}
	return &Kernel{k, compiled, operands, b.Ranges()}, nil
}

// place gives operands ranges as a compiler would: what is written side by side in buffer 0, together with the operands
// named in beside, the planes of a weight side by side, and everything else in a buffer of its own.
func place(operands []bind.Operand, beside ...string) []bind.Operand {
	out := slices.Clone(operands)
	arena, weights := uint64(Border), uint64(Border)
	planes := []string{kernels.Codes, kernels.High, kernels.Scales, kernels.Unit}
	own := []string{kernels.KeyCache, kernels.ValueCache, kernels.Params}
	for i := range out {
		o := &out[i]
		o.Place = plan.Range{Buffer: i + 1, Offset: Border, Bytes: uint64(o.Count) * elemBytes(o.Elem)}
		switch {
		case slices.Contains(beside, o.Name) || o.Access == plan.ReadWrite && !slices.Contains(own, o.Name):
			o.Place.Buffer, o.Place.Offset = 0, arena
			arena += aligned(o.Place.Bytes)
		case o.Name == kernels.ValueCache: // after the keys
			keys := out[i-1].Place
			o.Place.Buffer, o.Place.Offset = keys.Buffer, keys.Offset+aligned(keys.Bytes)
		case slices.Contains(planes, o.Name):
			o.Place.Buffer, o.Place.Offset = len(out)+1, weights
			weights += aligned(o.Place.Bytes)
		}
	}
	return out
}

// aligned rounds bytes up to where the next range may start.
func aligned(bytes uint64) uint64 {
	return (bytes + plan.RangeAlignment - 1) / plan.RangeAlignment * plan.RangeAlignment
}

func elemBytes(elem string) uint64 {
	switch {
	case strings.HasPrefix(elem, "vec4"):
		return 16
	case strings.HasPrefix(elem, "vec2"):
		return 8
	}
	return 4
}

// moved returns a kernel as a plan dispatches it, with its bindings moved together: what a buffer of the plan holds between them
// is left out but for a guard. The order of the bindings in each buffer stays.
func moved(k kernels.Kernel, compiled plan.Kernel, bindings []bind.Binding) *Kernel {
	order := make([]int, len(bindings))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := bindings[a].Range, bindings[b].Range
		return cmp.Or(cmp.Compare(x.Buffer, y.Buffer), cmp.Compare(x.Offset, y.Offset))
	})
	out := &Kernel{Kernel: k, Plan: compiled, Ranges: make([]plan.Range, len(bindings))}
	var last, end plan.Range // the binding before, and where it went
	for n, i := range order {
		r := bindings[i].Range
		to := r
		switch {
		case n == 0 || r.Buffer != last.Buffer:
			to.Offset = Border
		case r.Offset > last.Offset+last.Bytes+Border:
			to.Offset = aligned(end.Offset+end.Bytes) + Border
		default:
			to.Offset = end.Offset + r.Offset - last.Offset
		}
		out.Ranges[i], last, end = to, r, to
	}
	for i, b := range bindings {
		size := elemBytes(b.Elem)
		for _, m := range b.Members {
			at := plan.Range{Buffer: out.Ranges[i].Buffer, Offset: out.Ranges[i].Offset + uint64(m.Offset)*size, Bytes: uint64(m.Count) * elemBytes(m.Elem)}
			j := slices.IndexFunc(k.Operands, func(o bind.Operand) bool { return o.Name == m.Operand })
			o := k.Operands[j]
			o.Place = at
			out.Operands = append(out.Operands, o)
		}
	}
	return out
}

// withText returns the kernel with another text.
func (k *Kernel) withText(text string) *Kernel {
	changed := *k
	changed.Plan.Text = text
	return &changed
}

// bytes is the length of an operand.
func (k *Kernel) bytes(name string) int {
	i := slices.IndexFunc(k.Operands, func(o bind.Operand) bool { return o.Name == name })
	if i < 0 {
		return 0
	}
	return int(k.Operands[i].Place.Bytes)
}
