package bounds

import (
	"fmt"
	"slices"

	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// Dispatched is a kernel with how a plan runs it.
type Dispatched struct {
	Kernel plan.Kernel
	Grid   [3]int // the largest in each dimension; zeros for a kernel that is never dispatched
	Params int    // the binding that is the params block in every dispatch; -1 for none
	Last   bool   // it is the last of every list that it is in, and in it once
	Strays bool   // in some dispatch another binding overlaps the params block
}

// Block is what a plan says of the params block.
type Block struct {
	Params         plan.Params
	Pages          int // of the KV cache
	Vocab, Context int
}

// ProvePlan decides for each kernel of a plan whether it can run unchecked: in every grid with which the plan dispatches it, with
// ranges as the plan binds them, and with a params block as the runtime writes it.
func ProvePlan(p *plan.Plan) []*Proof {
	return ProveAll(Dispatches(p), Block{p.Params, p.KV.Pages, p.Vocab, p.Context})
}

// ProveAll proves kernels that share a params block. What is stated of the block holds only as long as every kernel that can write
// it keeps to it; where one doesn't, nothing is stated.
func ProveAll(all []Dispatched, b Block) []*Proof {
	files := make([]*wgsl.File, len(all))
	unread := make([]error, len(all))
	for i, d := range all {
		files[i], unread[i] = wgsl.Parse(d.Kernel.Name+".wgsl", d.Kernel.Text)
	}
	proofs := proveEach(all, files, unread, b.ranges())
	why := ""
	for i, d := range all {
		if why == "" {
			why = disturbs(d, files[i], proofs[i])
		}
	}
	if why == "" {
		return proofs
	}
	for i, p := range proveEach(all, files, unread, nil) {
		if !proofs[i].Proved() {
			continue // what is stated is not to blame
		}
		p.Breaks = proofs[i].Breaks
		for j := range p.Failures {
			p.Failures[j].Why += "; nothing is known of the params block, as " + why
		}
		proofs[i] = p
	}
	return proofs
}

// disturbs says why the params block isn't safe from a kernel; empty where it is.
func disturbs(d Dispatched, f *wgsl.File, p *Proof) string {
	switch writes := f != nil && d.Params >= 0 && writable(f, d.Params); {
	case d.Strays:
		return d.Kernel.Name + " binds a part of it in another way"
	case f == nil && d.Params >= 0:
		return d.Kernel.Name + " can't be read"
	case writes && !d.Last:
		return d.Kernel.Name + " writes it before other dispatches of a list"
	case len(p.Breaks) > 0:
		return d.Kernel.Name + " may break it: " + p.Breaks[0].String()
	}
	return ""
}

func proveEach(all []Dispatched, files []*wgsl.File, unread []error, stated []Range) []*Proof {
	proofs := make([]*Proof, len(all))
	for i, d := range all {
		switch {
		case files[i] == nil:
			proofs[i] = &Proof{Entry: "main", Failures: []Failure{{Expr: d.Kernel.Name, Why: unread[i].Error()}}}
			continue
		case d.Grid == [3]int{}:
			proofs[i] = &Proof{Entry: "main", Failures: []Failure{{Expr: d.Kernel.Name, Why: "the plan never dispatches it"}}}
			continue
		}
		use := Use{Grid: d.Grid, Lengths: map[string]int{}}
		short := bound(files[i], d, &use, stated)
		proofs[i] = Prove(files[i], "main", use)
		proofs[i].Failures = append(proofs[i].Failures, short...)
	}
	return proofs
}

// bound fills in what bindings say: lengths and stated ranges, and reports arrays that are longer than what is bound.
func bound(f *wgsl.File, d Dispatched, use *Use, stated []Range) (short []Failure) {
	for _, decl := range f.Decls {
		v, ok := decl.(*wgsl.Var)
		if !ok || v.Symbol.Space != wgsl.StorageSpace && v.Symbol.Space != wgsl.UniformSpace {
			continue
		}
		if v.Group != 0 || v.Binding >= len(d.Kernel.Bindings) {
			short = append(short, Failure{Pos: v.Pos, Expr: v.Symbol.Name, Why: "the plan binds nothing to it"})
			continue
		}
		bytes := d.Kernel.Bindings[v.Binding].Bytes
		if need := uint64(wgsl.SizeOf(v.Symbol.Type)); need > bytes {
			short = append(short, Failure{Pos: v.Pos, Expr: v.Symbol.Name, Why: fmt.Sprintf("it has %d bytes, and %d are bound", need, bytes)})
		}
		if a, ok := v.Symbol.Type.(wgsl.Array); ok && a.Len == 0 {
			use.Lengths[v.Symbol.Name] = int(min(bytes/uint64(wgsl.Stride(a.Elem)), 1<<31))
		}
		if v.Binding == d.Params {
			for _, r := range stated {
				r.Array = v.Symbol.Name
				use.Stated = append(use.Stated, r)
			}
		}
	}
	return short
}

func writable(f *wgsl.File, binding int) bool {
	return slices.ContainsFunc(f.Decls, func(d wgsl.Decl) bool {
		v, ok := d.(*wgsl.Var)
		return ok && v.Symbol.Space == wgsl.StorageSpace && v.Binding == binding && v.Symbol.Writable
	})
}

// sound reports whether records, pages and ring lie one behind the other, and all that is counted fits a u32. Of other blocks nothing is
// stated: the runtime refuses them.
func (b Block) sound() bool {
	const most = 1 << 30
	p := b.Params
	for _, n := range []int{p.Sequences, p.Ring, p.PagesAt, p.RingAt, p.Pages, b.Pages, b.Vocab, b.Context} {
		if n < 1 || n > most {
			return false
		}
	}
	records, pages := int64(p.Sequences)*plan.ParamsRecordWords, int64(p.Sequences)*int64(p.Pages)
	return records <= int64(p.PagesAt) && int64(p.PagesAt)+pages <= int64(p.RingAt)
}

// ranges is what the runtime makes sure of before each replay of a list: see docs/bounds.md.
func (b Block) ranges() []Range {
	p := b.Params
	if !b.sound() {
		return nil
	}
	var out []Range
	for s := range p.Sequences {
		add := func(at, count int, low, high int, counts bool) {
			out = append(out, Range{First: at, Count: count, Low: uint32(low), High: uint32(high), Counts: counts})
		}
		record := s * plan.ParamsRecordWords
		pages, ring := p.PagesAt+s*p.Pages, p.RingAt+s*p.Ring
		add(record+plan.ParamsToken, 1, 0, b.Vocab-1, false)
		add(record+plan.ParamsPos, 1, 0, b.Context-1, true)
		add(record+plan.ParamsLen, 1, 1, b.Context, true)
		add(record+plan.ParamsPages, 1, pages, pages, false)
		add(record+plan.ParamsOut, 1, ring, ring, false)
		add(pages, p.Pages, 0, b.Pages-1, false)
		add(ring, p.Ring, 0, b.Vocab-1, false)
	}
	return out
}

// Dispatches reads from a plan how its kernels run.
func Dispatches(p *plan.Plan) []Dispatched {
	out := make([]Dispatched, len(p.Kernels))
	for i, k := range p.Kernels {
		out[i] = Dispatched{Kernel: k, Params: -1, Last: true}
	}
	seen := make([]bool, len(out))
	for _, l := range p.Lists {
		for at := 0; at+plan.RecordWords <= len(l.Records); at += plan.RecordWords {
			r := l.Records[at : at+plan.RecordWords]
			d := &out[r[0]]
			for i := range d.Grid {
				d.Grid[i] = max(d.Grid[i], int(r[2+i]))
			}
			params, strays := paramsBinding(p, p.Groups[r[1]])
			if seen[r[0]] && params != d.Params {
				params, strays = -1, true
			}
			d.Params, d.Strays = params, d.Strays || strays
			seen[r[0]] = true
			d.Last = d.Last && at+plan.RecordWords == len(l.Records)
		}
	}
	return out
}

// paramsBinding returns the number of the binding that is the params block, -1 for none, and whether others overlap it.
func paramsBinding(p *plan.Plan, g plan.Group) (binding int, strays bool) {
	binding = -1
	for i, r := range g.Ranges {
		if p.Params.Sequences < 1 || !r.Overlaps(p.Params.Range) {
			continue
		}
		if r.Offset == p.Params.Range.Offset && binding < 0 {
			binding = i
		} else {
			strays = true
		}
	}
	return binding, strays
}
