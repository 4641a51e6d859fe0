package bounds_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// stated is what is stated of the array s of random kernels.
var stated = []bounds.Range{
	{Array: "s", First: 0, Count: 1, Low: 2, High: 8},
	{Array: "s", First: 1, Count: 1, Low: 0, High: 6, Counts: true},
	{Array: "s", First: 2, Count: 4, Low: 0, High: 12},
	{Array: "s", First: 7, Count: 3, Low: 4, High: 5},
}

// Random kernels are run over all invocations, with contents of buffers drawn anew: no index is ever out of what the prover says it
// may be, and none that it proves is out of bounds. Words of which something is stated keep it, unless the proof says that they may not.
func TestSoundness(t *testing.T) {
	kernels := 1000
	if testing.Short() {
		kernels = 200
	}
	total := tally{}
	for seed := range kernels {
		checkSeed(t, uint64(seed), &total)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kernels, %d proved; %d of %d accesses proved; %d indices seen, %d out of bounds; %d kept what is stated; %d refused",
		total.kernels, total.proved, total.accessesProved, total.accesses, total.seen, total.out, total.kept, total.refused)
	if total.proved*20 < total.kernels || total.out == 0 || total.accessesProved*4 < total.accesses || total.kept == 0 || total.refused > total.kernels {
		t.Error("the kernels are no test")
	}
}

func FuzzSoundness(f *testing.F) {
	f.Add(uint64(1 << 40))
	f.Fuzz(func(t *testing.T, seed uint64) { checkSeed(t, seed, &tally{}) })
}

type tally struct{ kernels, proved, accesses, accessesProved, seen, out, kept, refused int }

func checkSeed(t *testing.T, seed uint64, total *tally) {
	t.Helper()
	text := randomKernel(seed)
	f, err := wgsl.Parse(fmt.Sprint("seed", seed), text)
	if err != nil { // constants that overflow, or an index known to be out of bounds
		total.refused++
		return
	}
	r := rand.New(rand.NewPCG(seed, 31))
	most := [][3]int{{1, 1, 1}, {2, 1, 1}, {5, 1, 1}, {3, 2, 1}}[r.IntN(4)]
	use := bounds.Use{Grid: most, Stated: stated, Lengths: map[string]int{"r": 4}}
	proof := bounds.Prove(f, "main", use)
	keeps := len(proof.Breaks) == 0
	if !keeps { // then nothing is stated
		use.Stated = nil
		proof = bounds.Prove(f, "main", use)
	}
	failed := map[wgsl.Pos]bounds.Failure{}
	for _, x := range proof.Failures {
		failed[x.Pos] = x
	}
	total.kernels++
	total.accesses += proof.Accesses
	total.accessesProved += proof.Accesses - len(proof.Failures)
	if proof.Proved() {
		total.proved++
	}
	for run := range 4 {
		grid := most
		if run%2 == 1 { // every smaller grid is covered
			for i := range grid {
				grid[i] = 1 + r.IntN(grid[i])
			}
		}
		m := &machine{shared: contents(f, r, run)}
		before := append([]int64(nil), m.shared[symbol(f, "s")]...)
		m.seen = func(e *wgsl.Index, i int64, length int) {
			total.seen++
			x, unproved := failed[e.Pos]
			if out := i < 0 || i >= int64(length); out {
				total.out++
				if !unproved {
					t.Fatalf("seed %d: %s: %s is proved, and its index is %d of %d\n%s", seed, e.Pos, wgsl.FormatExpr(e), i, length, text)
				}
			}
			if unproved && (i < x.Low || i > x.High) {
				t.Fatalf("seed %d: %v, and it is %d\n%s", seed, x, i, text)
			}
		}
		m.run(f, grid)
		if keeps {
			total.kept++
			checkStated(t, seed, text, before, m.shared[symbol(f, "s")])
		}
	}
}

func checkStated(t *testing.T, seed uint64, text string, before, after []int64) {
	t.Helper()
	for _, r := range stated {
		for i := r.First; i < r.First+r.Count; i++ {
			high := int64(r.High)
			if r.Counts {
				high = before[i] + 1
			}
			if after[i] < int64(r.Low) || after[i] > high || r.Counts && after[i] < before[i] {
				t.Fatalf("seed %d: word %d was %d and is %d; it should hold %d to %d\n%s", seed, i, before[i], after[i], r.Low, high, text)
			}
		}
	}
}

func symbol(f *wgsl.File, name string) *wgsl.Symbol {
	for _, d := range f.Decls {
		if v, ok := d.(*wgsl.Var); ok && v.Symbol.Name == name {
			return v.Symbol
		}
	}
	return nil
}

// contents fills buffers: with small numbers, large ones, and all kinds; s with what is stated.
func contents(f *wgsl.File, r *rand.Rand, run int) map[*wgsl.Symbol][]int64 {
	draw := func() int64 {
		switch (run + r.IntN(2)) % 3 {
		case 0:
			return int64(r.IntN(20))
		case 1:
			return int64(r.Uint32())
		}
		return []int64{0, 1<<32 - 1, 1 << 31, 1<<31 - 1, 12, 13}[r.IntN(6)]
	}
	out := map[*wgsl.Symbol][]int64{}
	for name, n := range map[string]int{"a": 13, "b": 24, "s": 12, "r": 4 + r.IntN(9)} {
		of := make([]int64, n)
		for i := range of {
			of[i] = draw()
		}
		out[symbol(f, name)] = of
	}
	for _, x := range stated {
		for i := x.First; i < x.First+x.Count; i++ {
			out[symbol(f, "s")][i] = int64(x.Low) + int64(r.IntN(int(x.High-x.Low)+1))
		}
	}
	return out
}
