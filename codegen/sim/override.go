package sim

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// overrides gives values to the overrides that constants name. The others are evaluated where they are met.
func (c *compiler) overrides(constants map[string]float64) error {
	var names []string
	given := map[string]bool{}
	for _, d := range c.file.Decls {
		o, ok := d.(*wgsl.Override)
		if !ok {
			continue
		}
		key := o.Symbol.Name
		if o.ID >= 0 {
			key = strconv.Itoa(o.ID) // as WebGPU has it: an override with a number has no name outside
		}
		names = append(names, key)
		c.env[o.Symbol] = o
		if v, ok := constants[key]; ok {
			bits, ok := overrideBits(v, component(o.Symbol.Type))
			if !ok {
				return &plan.KernelError{Kernel: c.entry.Name, Detail: "override " + key + " is " + o.Symbol.Type.String() + ", which " + strconv.FormatFloat(v, 'g', -1, 64) + " is no value of"}
			}
			given[key] = true
			c.env[o.Symbol] = fixed(bits)
		}
	}
	for key := range constants {
		if !given[key] {
			slices.Sort(names)
			there := "it has none"
			if len(names) > 0 {
				there = "there are: " + strings.Join(names, ", ")
			}
			return &plan.KernelError{Kernel: c.entry.Name, Detail: "the text has no override " + key + "; " + there}
		}
	}
	return nil
}

// overrideBits returns a number as a value of an override's type.
func overrideBits(v float64, t wgsl.Scalar) (uint32, bool) {
	switch t {
	case wgsl.Bool:
		return truth(v != 0), true
	case wgsl.I32:
		return uint32(int32(v)), v == math.Trunc(v) && v >= math.MinInt32 && v <= math.MaxInt32
	case wgsl.U32:
		return uint32(v), v == math.Trunc(v) && v >= 0 && v <= math.MaxUint32
	case wgsl.F16:
		r := halfOf64(v)
		return math.Float32bits(r), finite(math.Float32bits(r))
	}
	return math.Float32bits(float32(v)), finite(math.Float32bits(float32(v)))
}

// override returns the register of an override that keeps the value of the text.
func (c *compiler) override(o *wgsl.Override) []int {
	if o.Init == nil {
		c.fail(o.Pos, "override %s has no value: give it one", o.Symbol.Name)
	}
	bits := c.evaluate(o.Init)
	c.env[o.Symbol] = fixed(bits)
	return []int{c.constant(bits)}
}
