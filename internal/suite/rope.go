package suite

import (
	"errors"
	"fmt"
	"math"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/ir"
)

// ropeTrials rotates at the ends of pages and of the table, and at a position beyond it, which is taken for the last; and stores to
// a page that does not exist, which is taken for the last.
func ropeTrials(p kernels.RoPEKV, seed uint64) ([]Trial, error) {
	last := min(p.Positions, p.Params.Pages*p.KV.PageTokens) - 1
	positions := []int{0, 1}
	for _, at := range []int{31, 32, 33, 63, 64, 95, last} {
		if at <= last && at > positions[len(positions)-1] {
			positions = append(positions, at)
		}
	}
	if p.Positions > 1000 {
		positions = []int{1, 32, 1000 + int(seed%1000), last}
	}
	var all []Trial
	for i, position := range positions {
		all = append(all, ropeTrial(p, position, position, false, seed+uint64(i)<<32))
	}
	if last == p.Positions-1 {
		all = append(all, ropeTrial(p, last+7, last, false, seed))
	}
	return append(all, ropeTrial(p, min(33, last), min(33, last), true, seed)), nil
}

// ropeTrial gives params a position that the kernel has to take for the one called position.
func ropeTrial(p kernels.RoPEKV, given, position int, noPage bool, seed uint64) Trial {
	r := Random(seed)
	q, key, value := Normal(r, p.Heads*p.Size, 1), Normal(r, p.KVHeads*p.Size, 1), Normal(r, p.KVHeads*p.Size, 1)
	c := newCache(r, p.KV, p.KVHeads, p.Size, p.Params.Pages)
	name := fmt.Sprint("position ", given)
	if noPage {
		c.pages[position/p.KV.PageTokens] = uint32(p.KV.Pages) + 3
		name += ", a page too far"
	}
	c.watch(position)
	inputs := map[string][]Part{
		kernels.KeyCache: c.blank(), kernels.ValueCache: c.blank(),
		kernels.Params: Whole(Words(newRecord(p.Params, c.pages, given, given+1))), kernels.RoPETable: angleTable(p, position),
		kernels.Q: Whole(Floats(q)), kernels.K: Whole(Floats(key)), kernels.V: Whole(Floats(value)),
	}
	return Trial{Name: name, Inputs: inputs, Check: func(out map[string][]byte) error {
		// 1e-6 of the largest value, which is near 4.
		if err := rotated("q", Unfloats(out[kernels.Q]), rotate(p, q, position), func(float64) float64 { return 4e-6 }); err != nil {
			return err
		}
		bound := func(want float64) float64 {
			if p.KV.F16 {
				return math.Abs(want)/1024 + 1e-6
			}
			return 4e-6
		}
		stored := make([]float64, len(value))
		for i, v := range value {
			stored[i] = float64(v)
		}
		for _, half := range []struct {
			name, what string
			want       []float64
		}{{kernels.KeyCache, "k", rotate(p, key, position)}, {kernels.ValueCache, "v", stored}} {
			from := c.found(position)
			to := from + len(value)*c.elementBytes()
			if err := rotated(half.what, c.numbers(out[half.name][from:to]), half.want, bound); err != nil {
				return err
			}
			if err := errors.Join(untouched(out[half.name][:from]), untouched(out[half.name][to:])); err != nil {
				return fmt.Errorf("%s: %w", half.name, err)
			}
		}
		return nil
	}}
}

func rotated(what string, got []float32, want []float64, bound func(want float64) float64) error {
	for i, w := range want {
		if e := math.Abs(float64(got[i]) - w); !(e <= bound(w)) {
			return fmt.Errorf("%s %d is %v, want %v", what, i, got[i], w)
		}
	}
	return nil
}

// untouched wants nothing but the sentinel.
func untouched(b []byte) error {
	for i, v := range b {
		if v != Sentinel {
			return fmt.Errorf("what does not belong to the position was written, byte %d of %d before or after it", i, len(b))
		}
	}
	return nil
}

// rotate turns the pairs of a head's first dims values, in float64.
func rotate(p kernels.RoPEKV, x []float32, position int) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	for head := 0; head < len(x); head += p.Size {
		for i := range p.Dims / 2 {
			a, b := head+2*i, head+2*i+1
			if p.Style == ir.NeoX {
				a, b = head+i, head+i+p.Dims/2
			}
			sin, cos := math.Sincos(angle(p, position, i))
			out[a], out[b] = out[a]*cos-out[b]*sin, out[a]*sin+out[b]*cos
		}
	}
	return out
}

func angle(p kernels.RoPEKV, position, i int) float64 {
	return float64(position) * math.Pow(10000, -2*float64(i)/float64(p.Dims))
}

// angleTable is the table of cos and sin; of a long one, a position and its neighbours alone.
func angleTable(p kernels.RoPEKV, position int) []Part {
	from, to := 0, p.Positions
	if p.Positions > 1000 {
		from, to = max(0, position-1), min(p.Positions, position+2)
	}
	var table []float32
	for at := from; at < to; at++ {
		for i := range p.Dims / 2 {
			sin, cos := math.Sincos(angle(p, at, i))
			table = append(table, float32(cos), float32(sin))
		}
	}
	return []Part{{uint64(from * p.Dims * 4), Floats(table)}}
}
