package golang

import "github.com/kgen-wgsl/kgen/codegen"

// run is consecutive layers that do the same. Blocks holds the numbers of each layer's items. First is codegen.NoLayer for
// items outside the layers, which are a run of one block.
type run struct {
	first  int
	blocks [][]int
}

func (r run) last() int { return r.first + len(r.blocks) - 1 }

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
		if len(runs) > 0 && l != codegen.NoLayer {
			r := &runs[len(runs)-1]
			if r.first != codegen.NoLayer && r.last()+1 == l && sameKeys(r.blocks[0], block, key) {
				r.blocks = append(r.blocks, block)
				continue
			}
		}
		runs = append(runs, run{l, [][]int{block}})
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
