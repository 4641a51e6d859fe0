package golang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// layerType declares what each layer has to itself.
func (e *emitter) layerType() []jen.Code {
	if e.layers == 0 {
		return nil
	}
	var weights, caches []jen.Code
	seen := map[string]bool{}
	for i, s := range e.p.Stacks {
		if s.Layer != codegen.NoLayer && !seen[e.stacks[i]] {
			seen[e.stacks[i]] = true
			weights = append(weights, jen.Id(e.stacks[i]))
		}
	}
	for i, c := range e.p.Caches {
		if c.Layer != codegen.NoLayer && !seen[e.caches[i]] {
			seen[e.caches[i]] = true
			caches = append(caches, jen.Id(e.caches[i]))
		}
	}
	var fields []jen.Code
	if len(weights) > 0 {
		fields = append(fields, jen.Comment("Planes of weights."), jen.List(weights...).Index().Qual(planPath, "Range"))
	}
	if len(caches) > 0 {
		fields = append(fields, jen.Comment("Keys and values."), jen.List(caches...).Qual(planPath, "Range"))
	}
	return []jen.Code{
		jen.Type().Id("layer").Struct(fields...),
		jen.Var().Id("layers").Index(jen.Lit(e.layers)).Id("layer"),
	}
}

// weights places the stacks.
func (e *emitter) weights() []jen.Code {
	stacks := e.p.Stacks
	key := func(i int) string {
		parts := []string{e.stacks[i], e.formats.name(stacks[i].Format)}
		for _, t := range stacks[i].Tensors {
			family, rest, _ := layerPrefix(t.Tensor, stacks[i].Layer)
			parts = append(parts, family, rest, strconv.Itoa(t.Rows), strconv.Itoa(t.From))
		}
		return strings.Join(parts, "\n")
	}
	runs := findRuns(len(stacks), func(i int) int { return stacks[i].Layer }, key)
	return e.loops(alternate(runs, key, func(run) bool { return true }), func(r run) statements {
		var body []jen.Code
		prefixed := false
		for _, i := range r.blocks[0] {
			call := jen.Id("b").Dot("Stack").Call(e.stackArgs(stacks[i], r, &prefixed)...)
			if r.outside() {
				body = append(body, jen.Id(e.stacks[i]).Op(":=").Add(call))
			} else {
				body = append(body, jen.Id("w").Dot(e.stacks[i]).Op("=").Add(call))
			}
		}
		if prefixed {
			blk := jen.Id("blk").Op(":=").Lit("blk.").Op("+").Qual("strconv", "Itoa").Call(jen.Id("l")).Op("+").Lit(".")
			body = append([]jen.Code{blk}, body...)
		}
		return statements{body, !r.outside()}
	})
}

// stackArgs are the recipe and the tensors of a stack. In a loop, names of tensors start with blk, which prefixed says is used.
func (e *emitter) stackArgs(s codegen.Stack, r run, prefixed *bool) []jen.Code {
	args := []jen.Code{jen.Id(e.formats.name(s.Format)).Call()}
	for _, t := range s.Tensors {
		name := jen.Lit(t.Tensor)
		if family, rest, ok := layerPrefix(t.Tensor, s.Layer); ok && len(r.blocks) > 1 {
			if name = jen.Id("blk").Op("+").Lit(rest); family != "blk." {
				name = jen.Lit(family).Op("+").Qual("strconv", "Itoa").Call(jen.Id("l")).Op("+").Lit("." + rest)
			} else {
				*prefixed = true
			}
		}
		fields := []jen.Code{jen.Id("Tensor").Op(":").Add(name), pair("Rows", t.Rows)}
		if t.From != 0 {
			fields = append(fields, pair("From", t.From))
		}
		args = append(args, jen.Qual(planPath, "Rows").Values(fields...))
	}
	if len(args) > 2 {
		return []jen.Code{lines("", "", args)}
	}
	return args
}

// state places tables, params, caches and outputs.
func (e *emitter) state() []jen.Code {
	var code []jen.Code
	for i, t := range e.p.Tables {
		fields := []jen.Code{
			jen.Id("To").Op(":").Id(e.tables[i]), jen.Id("Base").Op(":").Add(number(t.Base)), pair("Dims", t.Dims),
			jen.Id("Factor").Op(":").Add(number(t.Factor)), pair("Positions", t.Positions),
		}
		if t.Factors != "" {
			fields = append(fields, jen.Id("Factors").Op(":").Lit(t.Factors))
		}
		code = append(code,
			jen.Id(e.tables[i]).Op(":=").Add(place("TableBuffer", jen.Lit("position table"), tableBytes(t))),
			jen.Id("b").Dot("Table").Call(jen.Qual(planPath, "Table").Values(fields...)))
	}
	p := e.p.Params
	code = append(code,
		jen.Id("params").Op(":=").Add(place("ParamsBuffer", jen.Lit("params"), paramsBytes(p))),
		jen.Id("b").Dot("Params").Call(jen.Qual(planPath, "Params").Values(
			jen.Id("Range").Op(":").Id("params"), pair("Sequences", p.Sequences), pair("PagesAt", p.PagesAt), pair("Pages", p.Pages),
			pair("RingAt", p.RingAt), pair("Ring", p.Ring),
		)))
	code = append(code, e.cacheCode()...)
	for i, o := range e.p.Outputs {
		code = append(code,
			jen.Id(e.outputs[i]).Op(":=").Add(place("OutputBuffer", jen.Lit("output "+o.Name), o.Bytes)),
			jen.Id("b").Dot("Output").Call(jen.Lit(o.Name), jen.Id(e.outputs[i])))
	}
	return code
}

// place is a call of Builder.Place.
func place(kind string, subject jen.Code, bytes uint64) *jen.Statement {
	return jen.Id("b").Dot("Place").Call(jen.Qual(planPath, kind), subject, jen.Lit(int(bytes)))
}

// number is a float as Go writes it shortest. jennifer's own literals of floats keep a fraction of zero.
func number(v float64) jen.Code { return jen.Op(strconv.FormatFloat(v, 'g', -1, 64)) }

// Sizes of what the builder places, as Program.Build asks for them.
func tableBytes(t plan.Table) uint64   { return uint64(t.Positions) * uint64(t.Dims) * 4 }
func paramsBytes(p plan.Params) uint64 { return uint64(p.Words()) * 4 }

// cacheCode places the caches of all layers.
func (e *emitter) cacheCode() []jen.Code {
	kv, caches := e.p.KV, e.p.Caches
	fields := []jen.Code{pair("PageTokens", kv.PageTokens), pair("Pages", kv.Pages)}
	if kv.F16 {
		fields = append(fields, jen.Id("F16").Op(":").True())
	}
	code := []jen.Code{jen.Id("kv").Op(":=").Qual(planPath, "KV").Values(fields...)}
	key := func(i int) string {
		before, after, _ := strings.Cut(caches[i].Subject, strconv.Itoa(caches[i].Layer))
		return strings.Join([]string{e.caches[i], before, after, strconv.FormatUint(caches[i].Bytes, 10)}, "\n")
	}
	runs := findRuns(len(caches), func(i int) int { return caches[i].Layer }, key)
	code = append(code, e.loops(alternate(runs, key, func(run) bool { return true }), func(r run) statements {
		var body []jen.Code
		for _, i := range r.blocks[0] {
			c, target, assign := caches[i], jen.Id("w").Dot(e.caches[i]), "="
			subject := jen.Lit(c.Subject)
			if before, after, ok := strings.Cut(c.Subject, strconv.Itoa(c.Layer)); ok && len(r.blocks) > 1 {
				subject = jen.Lit(before).Op("+").Qual("strconv", "Itoa").Call(jen.Id("l")).Op("+").Lit(after)
			}
			if c.Layer == codegen.NoLayer {
				target, assign = jen.Id(e.caches[i]), ":="
			}
			body = append(body,
				jen.Add(target).Op(assign).Add(place("KVBuffer", subject, c.Bytes)),
				jen.Id("kv").Dot("Layers").Op("=").Append(jen.Id("kv").Dot("Layers"), target))
		}
		return statements{body, true}
	})...)
	return append(code, jen.Id("b").Dot("KV").Call(jen.Id("kv")))
}

// activations makes the arenas and names the ranges in them.
func (e *emitter) activations() []jen.Code {
	var code []jen.Code
	for i, bytes := range e.p.Arenas {
		code = append(code, jen.Id(e.arenas[i]).Op(":=").Id("b").Dot("Buffer").Call(jen.Qual(planPath, "Buffer").Values(
			jen.Id("Name").Op(":").Lit("arena"+strconv.Itoa(i)), jen.Id("Kind").Op(":").Qual(planPath, "ArenaBuffer"), pair("Bytes", bytes),
		)))
	}
	ranges := slices.Clone(e.ranges)
	if len(ranges) == 0 {
		return code
	}
	return append(code, jen.Var().DefsFunc(func(group *jen.Group) {
		for _, r := range ranges {
			group.Id(r.local).Op("=").Qual(planPath, "Range").Values(
				jen.Id("Buffer").Op(":").Id(e.arenas[r.arena]), pair("Offset", r.offset), pair("Bytes", r.bytes))
		}
	}))
}

// kernelVariables adds the kernels.
func (e *emitter) kernelVariables() []jen.Code {
	return []jen.Code{jen.Var().DefsFunc(func(group *jen.Group) {
		for i, k := range e.p.Kernels {
			group.Id(e.kernels[i]).Op("=").Id("b").Dot("Kernel").Call(jen.Id(e.generator.kernels.ident[k.Name]).Call())
		}
	})}
}
