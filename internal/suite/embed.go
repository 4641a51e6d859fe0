package suite

import (
	"fmt"
	"math"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// embedTrials reads rows: the first, the last, others, one of another shard, and one that is not there. Dequantised values are equal
// bit for bit but for the sign of zero; with a scale that is no power of two, which compilers may multiply in any order, to 1e-6.
func embedTrials(e kernels.Embed, seed uint64) ([]Trial, error) {
	all := e.Rows
	if e.Of != 0 {
		all = e.Of
	}
	tokens := []uint32{0, uint32(e.From), uint32(e.From + 1), uint32(e.From + e.Rows/2), uint32(e.From + e.Rows - 1), uint32(e.From + e.Rows), uint32(all), math.MaxUint32}
	var trials []Trial
	for i, token := range tokens {
		t, err := embedTrial(e, token, all, seed+uint64(i)<<32)
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	return trials, nil
}

func embedTrial(e kernels.Embed, token uint32, all int, seed uint64) (Trial, error) {
	r := Random(seed)
	row := int(min(uint64(token), uint64(all-1))) - e.From // in the shard
	inside := row >= 0 && row < e.Rows
	var pick func(int) bool
	if e.Rows > 64 {
		pick = func(i int) bool { return i == row }
	}
	drawn, err := runs(e.Format, e.Columns, []int{e.Rows}, pick)
	if err == nil {
		err = drawRuns(r, e.Format, e.Columns, drawn)
	}
	record := make([]uint32, e.Params.Words())
	record[plan.ParamsToken] = token
	before := Normal(r, e.Columns, 1)
	inputs := map[string][]Part{kernels.Params: Whole(Words(record)), kernels.Y: Whole(Floats(before))}
	if err == nil {
		err = planes(e.Format, e.Columns, drawn, inputs)
	}
	if err != nil {
		return Trial{}, err
	}
	want := before
	if inside {
		want = drawn[0].Values[(row-drawn[0].from)*e.Columns:][:e.Columns]
	}
	slack := 0.0
	if fraction, _ := math.Frexp(e.Scale); e.Scale != 0 && fraction != 0.5 {
		slack = 1e-6
	}
	return Trial{Name: fmt.Sprint("token ", token), Inputs: inputs, Check: func(out map[string][]byte) error {
		for i, got := range Unfloats(out[kernels.Y]) {
			w := want[i]
			if inside && e.Scale != 0 {
				w *= float32(e.Scale)
			}
			if slack := math.Abs(float64(w)) * slack; math.Abs(float64(got)-float64(w)) <= slack && inside {
				continue // 0 without a scale: the sign of zero is free
			}
			if math.Float32bits(got) != math.Float32bits(w) {
				return fmt.Errorf("value %d is %v, want %v", i, got, w)
			}
		}
		return nil
	}}, nil
}
