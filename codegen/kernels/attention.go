package kernels

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// AttentionDecode is the attention of one query token over the keys and values of a paged cache:
//
//	y[h] = Σ_j p_j·v_j,   p = softmax_j(Scale·q[h]·k_j)   over the keys j that the token sees
//
// Query head h reads KV head h·KVHeads/Heads. It sees as many keys as params say; with a Window, only the last Window.
// The softmax is online: for every tile of keys, the sums so far are scaled to the new maximum. Masks are finite, and
// arguments of exp lie in [-80, 0]. Operands: params, q and y of Heads·Size values, and the caches.
type AttentionDecode struct {
	Heads, KVHeads, Size int
	Scale                float64
	Window               int // 0 for all keys
	Params               plan.Params
	KV                   plan.KV // Layers is not read
}

// Problem is what schedules judge.
func (a AttentionDecode) Problem() schedules.AttentionProblem {
	return schedules.AttentionProblem{
		Heads: a.Heads, KVHeads: a.KVHeads, Size: a.Size, Context: a.Params.Pages * a.KV.PageTokens, F16: a.KV.F16,
	}
}

// Kernel builds the kernel, or says why the schedule cannot. A workgroup takes a query head.
func (a AttentionDecode) Kernel(s schedules.Attention, p schedules.Profile) (Kernel, error) {
	if err := checkCache(a.KV); err != nil {
		return Kernel{}, err
	}
	if err := s.Legal(a.Problem(), p); err != nil {
		return Kernel{}, err
	}
	if a.Scale <= 0 || a.Window < 0 {
		return Kernel{}, fmt.Errorf("attention: scale %v, window %d", a.Scale, a.Window)
	}
	t := attentionText{a, s.Workgroup}
	k := Kernel{
		Name: name("attention", fmt.Sprintf("%dx%dx%d", a.Heads, a.KVHeads, a.Size), cacheName(a.KV)),
		Header: []string{
			fmt.Sprintf("y = softmax(%v·q·k)·v: %d query heads, %d key heads of %d, %s cache in pages of %d",
				a.Scale, a.Heads, a.KVHeads, a.Size, cacheName(a.KV), a.KV.PageTokens),
			s.String(),
		},
		Operands:  t.operands(),
		Workgroup: s.Workgroup, Grid: [3]int{a.Heads, 1, 1}, LoopTrips: s.Trips(a.Problem()), Body: t.write,
		Problem: a, Schedule: s,
	}
	if a.Window > 0 {
		k.Name = name(k.Name, "window", a.Window)
		k.Header[0] += fmt.Sprintf(", the last %d keys", a.Window)
	}
	return k, nil
}

// attentionText writes the text: a tile has as many keys as the workgroup has threads.
type attentionText struct {
	AttentionDecode
	workgroup int
}

// token is the elements of a token's keys.
func (t attentionText) token() int { return t.KVHeads * t.Size }

// unit is the elements of a head that a thread adds up together: those of a 32-bit word of the cache.
func (t attentionText) unit() int {
	if t.KV.F16 {
		return 2
	}
	return 1
}

func (t attentionText) units() int { return t.Size / t.unit() }

// perThread is the units of a thread.
func (t attentionText) perThread() int { return (t.units() + t.workgroup - 1) / t.workgroup }

func (t attentionText) operands() []bind.Operand {
	keys := bind.Operand{Name: KeyCache, Elem: "vec4<f32>", Count: cacheElements(t.KV, t.token()) / 4, Access: plan.Read}
	if t.KV.F16 {
		keys.Elem, keys.Count = "vec4<u32>", keys.Count/2
	}
	values := keys
	values.Name = ValueCache
	return []bind.Operand{
		paramsOperand(t.Params),
		{Name: Q, Elem: "vec4<f32>", Count: t.Heads * t.Size / 4, Access: plan.Read},
		keys, values,
		{Name: Y, Elem: lanes(t.unit()), Count: t.Heads * t.units(), Access: plan.ReadWrite},
	}
}

func (t attentionText) write(m *wgsl.Module) {
	m.Workgroup("scores", "f32", t.workgroup)
	m.Workgroup("weights", "f32", t.workgroup)
	m.Workgroup("offsets", "u32", t.workgroup)
	m.Compute(t.workgroup, builtins, func() {
		t.declare(m)
		m.Loop("tile", t.firstKey(), "keys", t.workgroup, func() {
			t.score(m)
			t.weigh(m)
			t.addValues(m)
		})
		t.store(m)
	})
}

func (t attentionText) declare(m *wgsl.Module) {
	m.Let("keys", "%s[%du]", Params, plan.ParamsLen)
	m.Let("query", "group.x * %du", t.Size/4)
	m.Let("head", "group.x / %du * %du", t.Heads/t.KVHeads, t.Size)
	t.each(func(n string, first int) {
		unit := fmt.Sprintf("local + %du", first)
		if first+t.workgroup > t.units() {
			unit = fmt.Sprintf("min(%s, %du)", unit, t.units()-1)
		}
		m.Let("unit"+n, unit)
		m.Var("acc"+n, zero(t.unit()))
	})
	m.Var("total", "0.0")
	m.ConstOf("masked", "-1e30f", "below every score, and finite")
	m.Var("best: f32", "masked")
}

// firstKey is the first key that the token sees.
func (t attentionText) firstKey() string {
	if t.Window == 0 {
		return "0u"
	}
	return fmt.Sprintf("select(0u, keys - %du, keys > %du)", t.Window, t.Window)
}

// score lets each thread score one key of the tile. Threads beyond the last key score it again, and mask the result.
func (t attentionText) score(m *wgsl.Module) {
	m.Let("seen", "tile + local < keys")
	m.Let("key", "min(tile + local, keys - 1u)")
	slot(m, t.KV, "key", t.token())
	m.Let("start", "slot + head")
	if t.KV.F16 {
		m.Let("at", "start / 8u")
		m.Var("dots", "vec4<f32>()")
		for i := range t.Size / 8 {
			k := fmt.Sprint("k", i)
			m.Let(k, KeyCache+"[at + %du]", i)
			m.FMA("dots", fmt.Sprintf("q[query + %du]", 2*i), halves(k+".x", k+".y"))
			m.FMA("dots", fmt.Sprintf("q[query + %du]", 2*i+1), halves(k+".z", k+".w"))
		}
	} else {
		m.Let("at", "start / 4u")
		m.Var("dots", "vec4<f32>()")
		for i := range t.Size / 4 {
			m.FMA("dots", fmt.Sprintf("q[query + %du]", i), fmt.Sprintf(KeyCache+"[at + %du]", i))
		}
	}
	m.Let("score", "select(masked, (%s) * %s, seen)", total("dots", 4), float(t.Scale))
	m.Set("scores[local]", "score")
	m.Barrier()
}

// weigh finds the maximum so far and turns scores to weights. What is below −80 is chosen by comparison: max would take −80 for a
// score that is NaN or +Inf, and give a row of plausible numbers where a device keeps NaN.
func (t attentionText) weigh(m *wgsl.Module) {
	m.Let("count", "min(keys - tile, %du)", t.workgroup)
	m.Var("top", "best")
	m.Loop("j", "0u", "count", 4, func() {
		m.Set("top", "max(top, max(max(scores[j], scores[j + 1u]), max(scores[j + 2u], scores[j + 3u])))")
	})
	m.Let("below", "score - top")
	m.Set("weights[local]", "select(0.0, exp(select(below, -80.0, below < -80.0)), seen)")
	offset := "start"
	if t.unit() > 1 {
		offset = fmt.Sprintf("start / %du", t.unit())
	}
	m.Set("offsets[local]", offset)
	m.Let("keep", "exp(max(best - top, -80.0))")
	m.Set("best", "top")
	m.Barrier()
}

// addValues adds the tile's values to each thread's units. Keys are taken four at a time: those beyond the last weigh 0.
func (t attentionText) addValues(m *wgsl.Module) {
	m.Mul("total", "keep")
	t.each(func(n string, _ int) { m.Mul("acc"+n, "keep") })
	m.Loop("j", "0u", "count", 4, func() {
		for key := range 4 {
			w, row := fmt.Sprint("weight", key), fmt.Sprint("row", key)
			m.Let(w, "weights[j + %du]", key)
			m.Let(row, "offsets[j + %du]", key)
			m.Add("total", w)
			t.each(func(n string, _ int) {
				at := fmt.Sprintf("%s + unit%s", row, n)
				m.FMA("acc"+n, splat(w, t.unit()), t.value(at))
			})
		}
	})
}

// value is the text for the unit of the cache at the given word.
func (t attentionText) value(at string) string {
	word := fmt.Sprintf("%s[(%s) >> 2u][(%s) & 3u]", ValueCache, at, at)
	if t.KV.F16 {
		return "unpack2x16float(" + word + ")"
	}
	return word
}

func (t attentionText) store(m *wgsl.Module) {
	t.each(func(n string, first int) {
		write := func() {
			m.Set(fmt.Sprintf("y[group.x * %du + unit%s]", t.units(), n), "acc%s / max(total, 1e-30)", n)
		}
		if first+t.workgroup > t.units() {
			m.If("local + %du < %du", write, first, t.units())
		} else {
			write()
		}
	})
}

// each runs f for every unit of a thread, with the first of those that the workgroup takes at once.
func (t attentionText) each(f func(n string, first int)) {
	for n := range t.perThread() {
		f(fmt.Sprint(n), n*t.workgroup)
	}
}
