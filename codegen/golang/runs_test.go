package golang

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kgen-wgsl/kgen/codegen"
)

// Layers that alternate become kinds; layers that change for good, and items outside of layers, stay runs.
func TestAlternate(t *testing.T) {
	for _, c := range []struct {
		kinds string // of layer 0, 1, ...; . is an item outside of layers
		want  [][][]int
	}{
		{"aaaa", [][][]int{{{0, 1, 2, 3}}}},
		{"aabb", [][][]int{{{0, 1}}, {{2, 3}}}},
		{"aba", [][][]int{{{0, 2}, {1}}}},
		{".abcab.", [][][]int{{nil}, {{0, 3}, {1, 4}, {2}}, {nil}}},
		{"ab.ab", [][][]int{{{0}}, {{1}}, {nil}, {{2}}, {{3}}}},
		{"axa", [][][]int{{{0}}, {{1}}, {{2}}}}, // join refuses x
	} {
		var layers []int
		next := 0
		for _, kind := range c.kinds {
			if kind == '.' {
				layers = append(layers, codegen.NoLayer)
				continue
			}
			layers = append(layers, next)
			next++
		}
		key := func(i int) string { return c.kinds[i : i+1] }
		var got [][][]int
		for _, list := range alternate(findRuns(len(layers), func(i int) int { return layers[i] }, key), key, func(r run) bool { return key(r.blocks[0][0]) != "x" }) {
			var all [][]int
			for _, r := range list {
				all = append(all, r.layers)
			}
			got = append(got, all)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s, %s layers: %s", c.kinds, strconv.Itoa(next), d)
		}
	}
}
