package golang

import (
	"fmt"
	"strconv"

	"github.com/dave/jennifer/jen"
	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// variantFile has two functions: what the variant is, and the calls that make its plan.
func (g *generator) variantFile(v Variant) *jen.File {
	f := g.newFile()
	name := identifier(v.Name())
	build := "build" + upperFirst(name)
	f.Comment(fmt.Sprintf("%s describes the variant for profile %s, with %s activations and a KV cache of %s.", name, v.Program.Profile, v.Activations, v.KV))
	f.Func().Id(name).Params().Qual(runtimePath, "Variant").Block(jen.Return(variantValue(v, build)))
	f.Line()
	e := newEmitter(g, v.Program)
	f.Comment(build + " makes the calls that the variant's plan consists of.")
	f.Func().Id(build).Params(jen.Id("b").Op("*").Qual(planPath, "Builder")).Block(e.body()...)
	return f
}

func upperFirst(s string) string { return string(s[0]-'a'+'A') + s[1:] }

func variantValue(v Variant, build string) jen.Code {
	activations := map[string]string{"exact": "Exact", "fast": "Fast"}[v.Activations]
	return jen.Qual(runtimePath, "Variant").Add(lines("{", "}", []jen.Code{
		jen.Id("Name").Op(":").Lit(v.Name()),
		jen.Id("Model").Op(":").Lit(v.Program.Name),
		jen.Id("Graph").Op(":").Lit(v.Graph),
		jen.Id("Profile").Op(":").Lit(v.Program.Profile),
		jen.Id("Activations").Op(":").Qual(runtimePath, activations),
		jen.Id("KV").Op(":").Lit(v.KV),
		pair("Context", v.Program.Context),
		jen.Id("Requires").Op(":").Add(requiresValue(v.Program.Requires)),
		jen.Id("Build").Op(":").Id(build),
	}))
}

func requiresValue(r plan.Requires) jen.Code {
	var limits []jen.Code
	for _, l := range []struct {
		field string
		value uint64
	}{
		{"StorageBuffers", uint64(r.StorageBuffers)}, {"UniformBuffers", uint64(r.UniformBuffers)},
		{"BindingBytes", r.BindingBytes}, {"UniformBytes", r.UniformBytes}, {"BufferBytes", r.BufferBytes},
		{"WorkgroupBytes", uint64(r.WorkgroupBytes)}, {"Invocations", uint64(r.Invocations)},
		{"WorkgroupX", uint64(r.WorkgroupX)}, {"WorkgroupY", uint64(r.WorkgroupY)}, {"WorkgroupZ", uint64(r.WorkgroupZ)},
		{"Workgroups", uint64(r.Workgroups)}, {"OffsetAlignment", uint64(r.OffsetAlignment)},
		{"DispatchesInPass", uint64(r.DispatchesInPass)},
	} {
		if l.value != 0 {
			limits = append(limits, pair(l.field, l.value))
		}
	}
	fields := []jen.Code{jen.Id("Limits").Op(":").Qual(planPath, "Limits").Add(lines("{", "}", limits))}
	if r.Subgroups {
		fields = append(fields, jen.Id("Subgroups").Op(":").True())
	}
	if r.SubgroupSize != 0 {
		fields = append(fields, pair("SubgroupSize", r.SubgroupSize))
	}
	if r.F16 {
		fields = append(fields, jen.Id("F16").Op(":").True())
	}
	if r.PackedDot {
		fields = append(fields, jen.Id("PackedDot").Op(":").True())
	}
	if r.LoopTrips != 0 {
		fields = append(fields, pair("LoopTrips", r.LoopTrips))
	}
	return jen.Qual(planPath, "Requires").Add(lines("{", "}", fields))
}

// emitter writes the function that makes one program's calls.
type emitter struct {
	*generator
	p       *codegen.Program
	locals  scope
	layers  int      // of the program
	stacks  []string // a variable, or a field of layer, for each stack
	caches  []string // likewise
	tables  []string
	outputs []string
	arenas  []string
	kernels []string
	ranges  []activation
}

// activation is a named range of an arena.
type activation struct {
	name, local string
	arena       int
	offset      uint64
	bytes       uint64
}

// newEmitter gives a name to everything first: what several statements use has one name in all of them.
func newEmitter(g *generator, p *codegen.Program) *emitter {
	e := &emitter{generator: g, p: p, locals: newScope("b", "l", "w", "blk", "layer", "layers", "params", "kv", "plan", "kgenrt", "strconv", "after")}
	for _, name := range g.formats.planes {
		e.locals[name] = true
	}
	for _, name := range g.formats.names {
		e.locals[name] = true
	}
	for _, k := range g.Package.Variants {
		e.locals[identifier(k.Name())] = true
	}
	for _, name := range g.kernels.ident {
		e.locals[name], e.locals[name+"Text"] = true, true
	}
	for _, l := range listNames() {
		e.locals[l] = true
	}
	e.nameLayers()
	for i := range p.Tables {
		name := "table"
		if len(p.Tables) > 1 {
			name += strconv.Itoa(i)
		}
		e.tables = append(e.tables, e.locals.claim(name))
	}
	for _, o := range p.Outputs {
		e.outputs = append(e.outputs, e.locals.claim(valuesName([]string{o.Name})))
	}
	for i := range p.Arenas {
		e.arenas = append(e.arenas, e.locals.claim("arena"+strconv.Itoa(i)))
	}
	for _, k := range p.Kernels {
		shape, _ := splitHash(k.Name)
		e.kernels = append(e.kernels, e.locals.claim(identifier(shape)))
	}
	e.nameRanges()
	return e
}

// nameLayers names stacks and caches. Those of a layer are fields, so that each layer has the same names for its own.
func (e *emitter) nameLayers() {
	fields := map[int]scope{}
	claim := func(layer int, name, suffix string) string {
		if layer == codegen.NoLayer {
			return e.locals.claim(name + suffix)
		}
		e.layers = max(e.layers, layer+1)
		if fields[layer] == nil {
			fields[layer] = newScope()
		}
		return fields[layer].claim(name)
	}
	for _, c := range e.p.Caches {
		e.caches = append(e.caches, claim(c.Layer, c.Half, "Range"))
	}
	for _, s := range e.p.Stacks {
		var tensors []string
		for _, t := range s.Tensors {
			tensors = append(tensors, t.Tensor)
		}
		e.stacks = append(e.stacks, claim(s.Layer, weightsName(tensors), "Weight"))
	}
}

// nameRanges names every range of an arena that some dispatch uses after the values in it.
func (e *emitter) nameRanges() {
	for _, d := range e.p.Dispatches {
		for _, a := range d.Args {
			if a.Of == codegen.InArena && e.activation(a) == nil {
				r := activation{valuesName(a.Values), "", a.Index, a.Offset, a.Bytes}
				r.local = e.locals.claim(r.name)
				e.ranges = append(e.ranges, r)
			}
		}
	}
}

func (e *emitter) activation(a codegen.Arg) *activation {
	name := valuesName(a.Values)
	for i := range e.ranges {
		if r := &e.ranges[i]; r.name == name && r.arena == a.Index && r.offset == a.Offset && r.bytes == a.Bytes {
			return r
		}
	}
	return nil
}

// body is the whole function.
func (e *emitter) body() []jen.Code {
	var code []jen.Code
	for _, section := range []struct {
		comment string
		code    []jen.Code
	}{
		{"", e.layerType()},
		{"Weights.", e.weights()},
		{"State: position tables, params and the KV cache.", e.state()},
		{"Activations. Ranges that overlap are never alive at once.", e.activations()},
		{"", []jen.Code{jen.Id("b").Dot("Model").Call(jen.Lit(e.p.Vocab), jen.Lit(e.p.Context))}},
		{"Kernels.", e.kernelVariables()},
		{"Dispatches.", e.dispatches()},
	} {
		if len(section.code) == 0 {
			continue
		}
		if len(code) > 0 {
			code = append(code, jen.Line())
		}
		if section.comment != "" {
			code = append(code, jen.Comment(section.comment))
		}
		code = append(code, section.code...)
	}
	return code
}
