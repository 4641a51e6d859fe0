package golang

import (
	"cmp"
	"slices"

	"github.com/dave/jennifer/jen"
	"github.com/kgen-wgsl/kgen/codegen"
)

// run is layers that do the same. Blocks holds the numbers of each layer's items. Items outside the layers are a run of one
// block and no layer.
type run struct {
	layers []int // rising; in a run that findRuns returns they follow each other
	blocks [][]int
}

// outside reports whether the items belong to no layer.
func (r run) outside() bool { return len(r.layers) == 0 }

func (r run) first() int { return r.layers[0] }
func (r run) last() int  { return r.layers[len(r.layers)-1] }

// findRuns splits n items, in order, into runs. Items of one layer that follow each other are a block; blocks whose items have
// the same keys are one run when their layers follow each other.
func findRuns(n int, layer func(int) int, key func(int) string) []run {
	var runs []run
	for i := 0; i < n; {
		block := []int{i}
		for i++; i < n && layer(i) == layer(block[0]); i++ {
			block = append(block, i)
		}
		l := layer(block[0])
		if l == codegen.NoLayer {
			runs = append(runs, run{nil, [][]int{block}})
			continue
		}
		if len(runs) > 0 {
			r := &runs[len(runs)-1]
			if !r.outside() && r.last()+1 == l && sameKeys(r.blocks[0], block, key) {
				r.layers, r.blocks = append(r.layers, l), append(r.blocks, block)
				continue
			}
		}
		runs = append(runs, run{[]int{l}, [][]int{block}})
	}
	return runs
}

func sameKeys(a, b []int, key func(int) string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if key(a[i]) != key(b[i]) {
			return false
		}
	}
	return true
}

// alternate gathers runs whose layers follow each other into a list of kinds, where some kind comes back after another: the runs of a
// kind become one. Every other run is a list of its own. A kind that join refuses is none.
func alternate(runs []run, key func(int) string, join func(run) bool) [][]run {
	var all [][]run
	for i := 0; i < len(runs); {
		end := i + 1
		for !runs[i].outside() && end < len(runs) && !runs[end].outside() && runs[end].first() == runs[end-1].last()+1 {
			end++
		}
		if kinds := kindsOf(runs[i:end], key); len(kinds) < end-i && !slices.ContainsFunc(kinds, func(r run) bool { return !join(r) }) {
			all = append(all, kinds)
		} else {
			for _, r := range runs[i:end] {
				all = append(all, []run{r})
			}
		}
		i = end
	}
	return all
}

// kindsOf joins runs that do the same.
func kindsOf(runs []run, key func(int) string) []run {
	var kinds []run
	for _, r := range runs {
		at := slices.IndexFunc(kinds, func(k run) bool { return sameKeys(k.blocks[0], r.blocks[0], key) })
		if at < 0 {
			kinds = append(kinds, run{slices.Clone(r.layers), slices.Clone(r.blocks)})
			continue
		}
		kinds[at].layers, kinds[at].blocks = append(kinds[at].layers, r.layers...), append(kinds[at].blocks, r.blocks...)
	}
	return kinds
}

// statements are those of a run's first block, such that they serve all of them; own says that they use w, the layer.
type statements struct {
	code []jen.Code
	own  bool
}

// loops writes the statements of runs: in a loop over the layers of a run, or, where kinds of layers alternate, in a loop that chooses.
func (e *emitter) loops(lists [][]run, write func(run) statements) []jen.Code {
	var code []jen.Code
	for _, kinds := range lists {
		if len(kinds) == 1 {
			s := write(kinds[0])
			code = append(code, e.loop(kinds[0], s)...)
			continue
		}
		slices.SortStableFunc(kinds, func(a, b run) int { return cmp.Compare(len(a.layers), len(b.layers)) })
		var all run
		var cases []jen.Code
		choice := statements{}
		for i, kind := range kinds {
			s := write(kind)
			choice.own = choice.own || s.own
			all.layers, all.blocks = append(all.layers, kind.layers...), append(all.blocks, kind.blocks...)
			if i == len(kinds)-1 {
				cases = append(cases, jen.Default().Block(s.code...))
				break
			}
			var layers []jen.Code
			for _, l := range kind.layers {
				layers = append(layers, jen.Lit(l))
			}
			cases = append(cases, jen.Case(layers...).Block(s.code...))
		}
		slices.Sort(all.layers)
		choice.code = []jen.Code{jen.Switch(jen.Id("l")).Block(cases...)}
		code = append(code, e.loop(all, choice)...)
	}
	return code
}

// loop wraps the statements of a run.
func (e *emitter) loop(r run, s statements) []jen.Code {
	if r.outside() {
		return s.code
	}
	one := len(r.layers) == 1
	if s.own {
		layer := jen.Id("l")
		if one {
			layer = jen.Lit(r.first())
		}
		s.code = append([]jen.Code{jen.Id("w").Op(":=").Op("&").Id("layers").Index(layer)}, s.code...)
	}
	switch {
	case one:
		return []jen.Code{jen.Block(s.code...)}
	case r.first() == 0 && len(r.layers) == e.layers:
		return []jen.Code{jen.For(jen.Id("l").Op(":=").Range().Id("layers")).Block(s.code...)}
	case r.first() == 0:
		return []jen.Code{jen.For(jen.Id("l").Op(":=").Range().Lit(len(r.layers))).Block(s.code...)}
	}
	return []jen.Code{jen.For(
		jen.Id("l").Op(":=").Lit(r.first()), jen.Id("l").Op("<").Lit(r.last()+1), jen.Id("l").Op("++"),
	).Block(s.code...)}
}
