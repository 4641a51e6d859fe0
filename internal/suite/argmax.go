package suite

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// partialTrials has the largest value twice in most trials: the lower index must win.
func partialTrials(a kernels.ArgMaxPartials, s schedules.ArgMax, seed uint64) []Trial {
	var all []Trial
	add := func(name string, x []float32) {
		all = append(all, Trial{
			Name: name, Inputs: map[string][]Part{kernels.X: Whole(Floats(x))},
			Check: func(out map[string][]byte) error { return checkPartials(x, s.Partials, Unwords(out[kernels.Partials])) },
		})
	}
	for _, where := range [][]int{{0}, {a.N - 1}, {a.N / 2, a.N - 1}, {a.N / 3, a.N / 2}, {a.N/2 + 1, a.N / 2}} {
		x := Normal(Random(seed), a.N, 1)
		for _, i := range where {
			if i < a.N {
				x[i] = 10
			}
		}
		add(fmt.Sprint("the largest at ", where), x)
	}
	add("equal values", slices.Repeat([]float32{-5}, a.N))
	add("the lowest values, which are none", slices.Repeat([]float32{-math.MaxFloat32}, a.N))
	ties := make([]float32, a.N)
	r := Random(seed)
	for i := range ties {
		ties[i] = float32(r.IntN(3))
	}
	add("three values", ties)
	// The largest are not what an invocation looks at first, and every invocation has one.
	late, stretch := make([]float32, a.N), (a.N+s.Partials-1)/s.Partials
	for i := range late {
		if i%stretch >= s.Workgroup {
			late[i] = 1
		}
	}
	add("equal values after others", late)
	return all
}

// checkPartials wants the largest of every stretch, and its index; of an empty stretch an index that is none.
func checkPartials(x []float32, partials int, got []uint32) error {
	stretch := (len(x) + partials - 1) / partials
	for p := range partials {
		from, to := min(p*stretch, len(x)), min((p+1)*stretch, len(x))
		value, index := float32(-math.MaxFloat32), uint32(math.MaxUint32)
		for i, v := range x[from:to] {
			if v > value {
				value, index = v, uint32(from+i)
			}
		}
		if got[2*p] != math.Float32bits(value) || got[2*p+1] != index {
			return fmt.Errorf("stretch %d: value %v at %d, want %v at %d", p, math.Float32frombits(got[2*p]), got[2*p+1], value, index)
		}
	}
	return nil
}

// finalTrials takes the largest of partial results to the params, where the ring has room and where it is full; with the largest at
// places that a step of a tree may lose, with values near the lowest, with equal ones, and with none: the token is the last then.
func finalTrials(a kernels.ArgMaxFinal, s schedules.ArgMax, seed uint64) []Trial {
	var all []Trial
	r := Random(seed)
	for _, written := range []int{a.Params.Ring - 1, a.Params.Ring, a.Params.Ring / 2} {
		all = append(all, finalTrial(a, fmt.Sprintf("%d of %d words written", written, a.Params.Ring), written, 0, drawPartials(r, a.N, s.Partials)))
	}
	places := []int{s.Partials - 1}
	for at := 1; at < s.Partials; at *= 2 {
		places = append(places, at-1, at)
	}
	for _, best := range places {
		partials := drawPartials(r, a.N, s.Partials)
		partials[best] = partial{1e30, uint32(max(0, a.N-1-best))}
		all = append(all, finalTrial(a, fmt.Sprint("the largest at ", best), 0, 0, partials))
	}
	lowest, none, one := drawPartials(r, a.N, s.Partials), make([]partial, s.Partials), make([]partial, s.Partials)
	rising, falling := make([]partial, s.Partials), make([]partial, s.Partials)
	for p := range s.Partials {
		lowest[p].value, none[p] = -3e38, partial{-math.MaxFloat32, math.MaxUint32}
		one[p] = none[p]
		rising[p].index = uint32(min(a.N/2+p*a.N/2/s.Partials, a.N-1))
		falling[s.Partials-1-p].index = rising[p].index
	}
	one[0] = partial{-3e38, uint32(a.N - 1)}
	return append(all, finalTrial(a, "values near the lowest", 0, 0, lowest), finalTrial(a, "no value", 0, 0, none), finalTrial(a, "no value again", 1, 1, none), finalTrial(a, "a fault before", 0, 7, lowest),
		finalTrial(a, "one value", 0, 0, one), finalTrial(a, "equal values, rising indices", 0, 0, rising), finalTrial(a, "equal values, falling indices", 0, 0, falling))
}

// drawPartials draws values that are often equal.
func drawPartials(r *rand.Rand, n, partials int) []partial {
	list := make([]partial, partials)
	for p := range list {
		list[p] = partial{float32(r.IntN(4)) - 2, uint32(r.IntN(n))}
	}
	return list
}

// partial is the largest value of a stretch and its index.
type partial struct {
	value float32
	index uint32
}

// finalTrial gives partial results, and params of a ring with some words written.
func finalTrial(a kernels.ArgMaxFinal, name string, written int, fault uint32, partials []partial) Trial {
	best := slices.MinFunc(partials, func(x, y partial) int { return cmp.Or(cmp.Compare(y.value, x.value), cmp.Compare(x.index, y.index)) })
	none := best.index >= uint32(a.N)
	best.index = min(best.index, uint32(a.N-1))
	var words []uint32
	for _, p := range partials {
		words = append(words, math.Float32bits(p.value), p.index)
	}
	before := newRecord(a.Params, nil, 41, 42)
	before[plan.ParamsOutLen], before[plan.ParamsFault], before[plan.ParamsRNG] = uint32(written), fault, 9
	want := slices.Clone(before)
	want[plan.ParamsToken], want[plan.ParamsPos], want[plan.ParamsLen], want[plan.ParamsOutLen] = best.index, 42, 43, uint32(written+1)
	if none && fault == 0 {
		want[plan.ParamsFault] = uint32(written + 1)
	}
	if written < a.Params.Ring {
		want[a.Params.RingAt+written] = best.index
	}
	return Trial{
		Name:   name,
		Inputs: map[string][]Part{kernels.Partials: Whole(Words(words)), kernels.Params: Whole(Words(before))},
		Check:  func(out map[string][]byte) error { return sameRecord(out[kernels.Params], want) },
	}
}

// advanceTrials reads the ring at its start, within, at its end and beyond.
func advanceTrials(a kernels.Advance) []Trial {
	var all []Trial
	for _, read := range []int{0, a.Params.Ring/2 - 1, a.Params.Ring - 1, a.Params.Ring, a.Params.Ring + 1} {
		read = max(0, read)
		before := newRecord(a.Params, nil, 41, 42)
		for i := range a.Params.Ring {
			before[a.Params.RingAt+i] = uint32(100 + i)
		}
		before[plan.ParamsOutLen] = uint32(read)
		want := slices.Clone(before)
		token := uint32(100 + min(read, a.Params.Ring-1))
		want[plan.ParamsToken], want[plan.ParamsPos], want[plan.ParamsLen], want[plan.ParamsOutLen] = token, 42, 43, uint32(read+1)
		all = append(all, Trial{
			Name: fmt.Sprintf("%d of %d words read", read, a.Params.Ring), Inputs: map[string][]Part{kernels.Params: Whole(Words(before))},
			Check: func(out map[string][]byte) error { return sameRecord(out[kernels.Params], want) },
		})
	}
	return all
}

func sameRecord(out []byte, want []uint32) error {
	got := Unwords(out)
	if len(got) != len(want) {
		return fmt.Errorf("params have %d words, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("word %d of params became %d, want %d", i, got[i], want[i])
		}
	}
	return nil
}
