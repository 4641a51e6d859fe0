package golang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"
	"github.com/kgen-wgsl/kgen/codegen"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// placeName says how generated code names what a binding gets.
type placeName struct {
	layer int    // the layer whose field it is; own for the one at hand, codegen.NoLayer for a variable
	name  string // the variable or field
	plane string // constant of the plane, for stacks
	part  bool   // only the bytes from offset on
	from  uint64
	bytes uint64
}

// own is the layer that a loop is at.
const own = -2

// place names the range of an argument of a dispatch that belongs to a layer.
func (e *emitter) place(a codegen.Arg, layer int) placeName {
	p := placeName{layer: codegen.NoLayer}
	var whole uint64
	at := codegen.NoLayer
	switch a.Of {
	case codegen.InStack:
		s := e.p.Stacks[a.Index]
		at, p.name, p.plane, whole = s.Layer, e.stacks[a.Index], e.formats.plane(s.Format, a.Plane), planeBytes(s, a.Plane)
	case codegen.InTable:
		p.name, whole = e.tables[a.Index], tableBytes(e.p.Tables[a.Index])
	case codegen.InParams:
		p.name, whole = "params", paramsBytes(e.p.Params)
	case codegen.InCache:
		at, p.name, whole = e.p.Caches[a.Index].Layer, e.caches[a.Index], e.p.Caches[a.Index].Bytes
	case codegen.InOutput:
		p.name, whole = e.outputs[a.Index], e.p.Outputs[a.Index].Bytes
	case codegen.InArena:
		p.name = e.activation(a).local
		return p
	}
	if p.layer = at; at != codegen.NoLayer && at == layer {
		p.layer = own
	}
	if a.Offset != 0 || a.Bytes != words(whole) {
		p.part, p.from, p.bytes = true, a.Offset, a.Bytes
	}
	return p
}

// planeBytes is the length of a plane of a stack.
func planeBytes(s codegen.Stack, plane int) uint64 {
	rows := 0
	for _, t := range s.Tensors {
		rows += t.Rows
	}
	return uint64(s.Format.Planes[plane].RowStride) * uint64(rows)
}

// words rounds bytes up to whole words, as Builder.Place does.
func words(bytes uint64) uint64 { return (bytes + 3) &^ 3 }

func (p placeName) code() jen.Code {
	c := jen.Id(p.name)
	switch p.layer {
	case codegen.NoLayer:
	case own:
		c = jen.Id("w").Dot(p.name)
	default:
		c = jen.Id("layers").Index(jen.Lit(p.layer)).Dot(p.name)
	}
	if p.plane != "" {
		c = c.Index(jen.Id(p.plane))
	}
	if p.part {
		c = c.Dot("Part").Call(jen.Lit(int(p.from)), jen.Lit(int(p.bytes)))
	}
	return c
}

// listName is how generated code calls the lists of some phases.
func listName(phases []plan.Phase) string {
	if len(phases) == len(plan.Phases()) {
		return "all"
	}
	name := ""
	for _, p := range phases {
		if name == "" {
			name = p.String()
		} else {
			name += upperFirst(p.String())
		}
	}
	return name
}

// listNames are all names that listName can return.
func listNames() []string {
	var names []string
	phases := plan.Phases()
	for set := 1; set < 1<<len(phases); set++ {
		var chosen []plan.Phase
		for i, p := range phases {
			if set>>i&1 == 1 {
				chosen = append(chosen, p)
			}
		}
		names = append(names, listName(chosen))
	}
	return names
}

// dispatches starts the lists and fills them.
func (e *emitter) dispatches() []jen.Code {
	code := e.lists()
	d := e.p.Dispatches
	key := func(i int) string {
		parts := []string{fmt.Sprint(d[i].Kernel, d[i].Grid)}
		for _, a := range d[i].Args {
			parts = append(parts, fmt.Sprint(e.place(a, d[i].Layer)))
		}
		return strings.Join(parts, "\n")
	}
	var runs []run
	for _, r := range findRuns(len(d), func(i int) int { return d[i].Layer }, key) {
		if _, ok := e.lastPhases(r); ok {
			runs = append(runs, r)
			continue
		}
		for i, block := range r.blocks {
			runs = append(runs, run{r.layers[i : i+1], [][]int{block}})
		}
	}
	serves := func(r run) bool { _, ok := e.lastPhases(r); return ok }
	return append(code, e.loops(alternate(runs, key, serves), e.dispatchRun)...)
}

// lists declares a list for each phase, and the sets of lists that some dispatch is for.
func (e *emitter) lists() []jen.Code {
	var names, calls, code []jen.Code
	for _, p := range plan.Phases() {
		names = append(names, jen.Id(p.String()))
		calls = append(calls, jen.Id("b").Dot("List").Call(jen.Qual(planPath, upperFirst(p.String())), jen.Lit(1)))
	}
	code = append(code, jen.List(names...).Op(":=").List(calls...))
	seen := map[string]bool{}
	for _, d := range e.p.Dispatches {
		name := listName(d.Phases)
		if len(d.Phases) == 1 || seen[name] {
			continue
		}
		seen[name] = true
		var members []jen.Code
		for _, p := range d.Phases {
			members = append(members, jen.Id(p.String()))
		}
		code = append(code, jen.Id(name).Op(":=").Qual(planPath, "Lists").Values(members...))
	}
	return append(code, jen.Line())
}

// change is what is different about the last layer of a run: from some dispatch on, it is for other phases.
type change struct {
	at       int // number within the block; the block's length when nothing changes
	from, to []plan.Phase
}

// lastPhases finds the change of a run's last layer. It fails when layers differ in another way, so that no loop serves them.
func (e *emitter) lastPhases(r run) (change, bool) {
	d := e.p.Dispatches
	first, last := r.blocks[0], r.blocks[len(r.blocks)-1]
	c := change{at: len(first)}
	for i := range first {
		usual := d[first[i]].Phases
		for _, block := range r.blocks[:len(r.blocks)-1] {
			if !slices.Equal(d[block[i]].Phases, usual) {
				return c, false
			}
		}
		differs := !slices.Equal(d[last[i]].Phases, usual)
		if differs && c.at == len(first) {
			c = change{i, usual, d[last[i]].Phases}
		}
		if i >= c.at && (!differs || !slices.Equal(usual, c.from) || !slices.Equal(d[last[i]].Phases, c.to)) {
			return c, false
		}
	}
	return c, true
}

// dispatchRun writes a line for each dispatch of a layer.
func (e *emitter) dispatchRun(r run) statements {
	change, _ := e.lastPhases(r)
	var body []jen.Code
	usesOwn := false
	for i, number := range r.blocks[0] {
		d := e.p.Dispatches[number]
		list := listName(d.Phases)
		if i == change.at {
			body = append(body,
				jen.Id("after").Op(":=").Id(list),
				jen.If(jen.Id("l").Op("==").Lit(r.last())).Block(
					jen.Id("after").Op("=").Id(listName(change.to)).Comment(withoutText(change))))
		}
		if i >= change.at {
			list = "after"
		}
		args := []jen.Code{jen.Id(e.kernels[d.Kernel]), jen.Lit(d.Grid[0]), jen.Lit(d.Grid[1]), jen.Lit(d.Grid[2])}
		names := []string{e.kernels[d.Kernel]}
		for _, a := range d.Args {
			p := e.place(a, d.Layer)
			usesOwn = usesOwn || p.layer == own
			names = append(names, p.name)
			args = append(args, p.code())
		}
		call := jen.Id(list).Dot("Dispatch").Call(args...)
		node := valuesName([]string{d.Node})
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, node) }) {
			call.Comment(node)
		}
		body = append(body, call)
	}
	return statements{body, usesOwn}
}

// withoutText says what the change of the last layer leaves out.
func withoutText(c change) string {
	var left []string
	for _, p := range c.from {
		if !slices.Contains(c.to, p) {
			left = append(left, p.String())
		}
	}
	return strings.Join(left, " and ") + " needs no more of the last layer"
}
