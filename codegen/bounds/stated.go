package bounds

import (
	"fmt"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
)

// stated reports whether something is stated of what an array holds.
func (p *prover) stated(v *wgsl.Symbol) bool {
	if v.Space != wgsl.StorageSpace && v.Space != wgsl.UniformSpace {
		return false
	}
	for _, r := range p.use.Stated {
		if r.Array == v.Name {
			return true
		}
	}
	return false
}

// words returns which words of an array of u32 a place may be.
func (p *prover) words(s *state, pl place) span {
	if a, ok := pl.root.Type.(wgsl.Array); ok && a.Elem == wgsl.U32 && pl.depth == 1 && pl.index != nil {
		return p.span(s.facts, pl.index)
	}
	return limits(wgsl.U32)
}

func (r Range) words() span { return between(int64(r.First), int64(r.First)+int64(r.Count)-1) }

// loadStated is a word of which something is stated: it has the limits of all the words that it may be.
func (p *prover) loadStated(s *state, pl place, t wgsl.Type) *node {
	if t != wgsl.U32 {
		return p.fresh(t)
	}
	at, held, covered := p.words(s, pl), nothing, int64(0)
	for _, r := range p.use.Stated {
		if r.Array != pl.root.Name || r.Count < 1 || !r.words().overlaps(at) {
			continue
		}
		high := int64(r.High)
		if r.Counts && pl.root.Writable {
			high++ // the kernel may have counted already
		}
		held = held.join(between(int64(r.Low), high))
		covered += min(at.hi, r.words().hi) - max(at.lo, r.words().lo) + 1
	}
	n := p.fresh(t)
	if covered >= at.hi-at.lo+1 && !at.empty() { // ranges of one array don't overlap
		n = p.known(t, held)
	}
	if at.single() {
		n.from, n.word = pl.root, at.lo
	}
	return n
}

// storeStated judges a store to an array of which something is stated: the words that it may be must keep their ranges.
func (p *prover) storeStated(s *state, e wgsl.Expr, pl place, value *node) {
	at := p.words(s, pl)
	if a, ok := pl.root.Type.(wgsl.Array); !ok || at.lo < 0 || a.Len > 0 && at.hi >= int64(a.Len) {
		at = limits(wgsl.U32) // an access out of bounds, where it is checked, ends anywhere
	}
	sp := limits(wgsl.U32)
	if value.typ == wgsl.U32 {
		sp = p.span(s.facts, value)
	}
	for _, r := range p.use.Stated {
		if r.Array != pl.root.Name || r.Count < 1 || !r.words().overlaps(at) {
			continue
		}
		switch {
		case r.Counts && at.single():
			if why := p.count(s, e, pl.root, at.lo, value); why != "" {
				p.breach(s, e, sp, why)
			}
		case r.Counts || !sp.within(between(int64(r.Low), int64(r.High))):
			p.breach(s, e, sp, fmt.Sprintf("the value may be %d to %d, and words %d to %d of %s are stated to hold %d to %d",
				sp.lo, sp.hi, r.First, r.First+r.Count-1, r.Array, r.Low, r.High))
		}
	}
}

// count says why a store does not count a word up by one, once.
func (p *prover) count(s *state, e wgsl.Expr, root *wgsl.Symbol, at int64, value *node) string {
	counter := fmt.Sprintf("word %d of %s counts: ", at, root.Name)
	if value.op != opAdd || value.args[0].from != root || value.args[0].word != at || !p.span(s.facts, value.args[1]).is(1) {
		return counter + "the value is not the one before and 1"
	}
	if p.loops > 0 || !p.alone(s) {
		return counter + "one invocation may do it, outside of loops"
	}
	key := fmt.Sprint(root.Name, " ", at)
	if before, ok := p.counted[key]; ok && p.quiet == 0 {
		return counter + "that was done at " + before.String()
	}
	if p.quiet == 0 && !s.dead {
		p.counted[key] = e.Expression().Pos
	}
	return ""
}
