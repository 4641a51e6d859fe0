package suite

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/schedules"
)

// attentionTrials attends from the ends of pages and tiles; with scores up to hundreds, where one key takes all; to no key, before any
// was written; and to keys of a page that does not exist, which is taken for the last.
func attentionTrials(a kernels.AttentionDecode, s schedules.Attention, groups []int, seed uint64) []Trial {
	lengths := []int{1, 2, 32, 33, 34, 64, 65, 96, 128}
	if a.Params.Pages > 100 {
		lengths = []int{1, 2, 33, 129 + int(seed%64)}
	}
	all := []Trial{attentionTrial(a, groups, 0, 1, false, seed)}
	for i, n := range lengths {
		if n <= a.Params.Pages*a.KV.PageTokens {
			all = append(all, attentionTrial(a, groups, n, 1, false, seed+uint64(i)<<32))
		}
	}
	all = append(all, attentionTrial(a, groups, 65, 30, false, seed), attentionTrial(a, groups, 33, 1, true, seed))
	return append(all, tileTrials(a, s.Workgroup, groups, seed)...)
}

// tileTrials gives head 0 scores that change from tile to tile: far below zero and rising by 0.05 with each key, so that what a tile
// adds to counts in the next; and in each tile one far above the rest and all before, at another place of the four keys that are looked
// at together.
func tileTrials(a kernels.AttentionDecode, tile int, groups []int, seed uint64) []Trial {
	most := a.Params.Pages * a.KV.PageTokens
	rising, steep := make([]float32, min(tile+40, most)), make([]float32, min(3*tile+16, most))
	for j := range rising {
		rising[j] = float32((0.05*float64(j) - 200) / a.Scale)
	}
	for j := range steep {
		if t := j / tile; j%tile == 8+t {
			steep[j] = float32(100 / a.Scale * float64(t+1))
		}
	}
	return []Trial{scored(a, rising, seed).trial("rising scores", groups, 1e-9), scored(a, steep, seed).trial("steep scores", groups, 1e-9)}
}

func attentionTrial(a kernels.AttentionDecode, groups []int, keys int, sharp float64, noPage bool, seed uint64) Trial {
	r := Random(seed)
	q := Normal(r, a.Heads*a.Size, sharp)
	c := newCache(r, a.KV, a.KVHeads, a.Size, a.Params.Pages)
	name := fmt.Sprint(keys, " keys")
	if sharp != 1 {
		name += ", large scores"
	}
	if noPage {
		c.pages[(keys-1)/a.KV.PageTokens] = uint32(a.KV.Pages) + 3
		name += ", a page too far"
	}
	at := attended{AttentionDecode: a, cache: c, q: q}
	for range keys {
		at.keys = append(at.keys, Normal(r, a.KVHeads*a.Size, 1))
		at.values = append(at.values, Normal(r, a.KVHeads*a.Size, 1))
	}
	return at.trial(name, groups, 1e-9)
}

// attended is a query, the keys and values that it may see, and the cache that has them.
type attended struct {
	kernels.AttentionDecode
	cache
	q            []float32
	keys, values [][]float32 // of each position
}

// trial compares the heads whose workgroups run with sums in float64.
func (a *attended) trial(name string, groups []int, bound float64) Trial {
	record := newRecord(a.Params, a.pages, max(0, len(a.keys)-1), len(a.keys))
	inputs := map[string][]Part{
		kernels.Params: Whole(Words(record)), kernels.Q: Whole(Floats(a.q)), kernels.KeyCache: {}, kernels.ValueCache: {},
	}
	for position := range a.keys {
		k, v := a.part(position, a.keys[position]), a.part(position, a.values[position])
		inputs[kernels.KeyCache] = append(inputs[kernels.KeyCache], k)
		inputs[kernels.ValueCache] = append(inputs[kernels.ValueCache], v)
		a.keys[position], a.values[position] = a.numbers(k.Data), a.numbers(v.Data) // as the cache rounds them
	}
	return Trial{Name: name, Inputs: inputs, Check: func(out map[string][]byte) error {
		y := Unfloats(out[kernels.Y])
		if len(y) != a.Heads*a.AttentionDecode.Size {
			return errors.New("the result has another length")
		}
		var got []float32
		var want []float64
		for h := range a.Heads {
			head := y[h*a.AttentionDecode.Size:][:a.AttentionDecode.Size]
			if _, ran := slices.BinarySearch(groups, h); groups != nil && !ran {
				if difference(Floats(head), sentinels(0, uint64(4*len(head))).Data) >= 0 {
					return fmt.Errorf("head %d was written by another's workgroup", h)
				}
				continue
			}
			got, want = append(got, head...), append(want, a.head(h)...)
		}
		return within(got, want, bound)
	}}
}

// first is the first key that the query sees.
func (a *attended) first() int {
	if a.Window > 0 {
		return max(0, len(a.keys)-a.Window)
	}
	return 0
}

// head is the sum in float64 over the keys that a head sees; without keys it is zero.
func (a *attended) head(h int) []float64 {
	size := a.AttentionDecode.Size
	at := h * a.KVHeads / a.Heads * size
	var scores []float64
	top := math.Inf(-1)
	for _, key := range a.keys[a.first():] {
		score := 0.0
		for e := range size {
			score += float64(a.q[h*size+e]) * float64(key[at+e])
		}
		scores = append(scores, score*a.Scale)
		top = max(top, score*a.Scale)
	}
	sum := 0.0
	for _, s := range scores {
		sum += math.Exp(s - top)
	}
	out := make([]float64, size)
	for i, s := range scores {
		for e := range size {
			out[e] += math.Exp(s-top) / sum * float64(a.values[a.first()+i][at+e])
		}
	}
	return out
}

// softmaxTrials gives attention rows of scores that are easy to get wrong, by keys whose first element is the score and a query that
// asks for it alone. Value j is 1 in element 0, so that the weights of each head have to add up to 1.
func softmaxTrials(a kernels.AttentionDecode, seed uint64) []Trial {
	rows := []struct {
		name   string
		scores []float32
	}{{"one key", []float32{-5}}, {"equal", slices.Repeat([]float32{88}, 77)}, {"large and small", nil}, {"huge", nil}, {"ascending", nil}}
	for j := range 100 {
		rows[2].scores = append(rows[2].scores, float32(1e4-2e4*float64((j+1)%3/2)))
		rows[3].scores = append(rows[3].scores, float32(6e4*math.Sin(float64(j))))
		rows[4].scores = append(rows[4].scores, float32(j*100))
	}
	var all []Trial
	for _, row := range rows {
		t := scored(a, row.scores, seed).trial(row.name, nil, 1e-9)
		check := t.Check
		t.Check = func(out map[string][]byte) error {
			for h := range a.Heads {
				if y := Unfloats(out[kernels.Y])[h*a.Size]; !(math.Abs(float64(y)-1) <= 1e-5) {
					return fmt.Errorf("the weights of head %d add up to %v", h, y)
				}
			}
			return check(out)
		}
		all = append(all, t)
	}
	return all
}

// scored is a query to which key j of head 0 scores scores[j], and of the other heads its number modulo 7.
func scored(a kernels.AttentionDecode, scores []float32, seed uint64) *attended {
	r := Random(seed)
	at := &attended{AttentionDecode: a, cache: newCache(r, a.KV, a.KVHeads, a.Size, a.Params.Pages), q: make([]float32, a.Heads*a.Size)}
	for h := range a.Heads {
		at.q[h*a.Size] = 1
	}
	for j, score := range scores {
		key, value := make([]float32, a.KVHeads*a.Size), Normal(r, a.KVHeads*a.Size, 1)
		for h := range a.KVHeads {
			key[h*a.Size], value[h*a.Size] = float32(j%7), 1
		}
		key[0] = score
		at.keys, at.values = append(at.keys, key), append(at.values, value)
	}
	return at
}

// Scored is the inputs of an attention in which key j of head 0 scores scores[j], and of the other heads its number modulo 7.
func Scored(a kernels.AttentionDecode, k *Kernel, scores []float32, seed uint64) map[string][]byte {
	at := scored(a, scores, seed)
	inputs := map[string][]byte{}
	for name, parts := range at.trial("", nil, 0).Inputs {
		inputs[name] = sentinels(0, uint64(k.bytes(name))).Data
		for _, p := range parts {
			copy(inputs[name][p.Offset:], p.Data)
		}
	}
	return inputs
}
