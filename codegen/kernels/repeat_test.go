package kernels_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/internal/suite"
	"github.com/kgen-wgsl/kgen/models/quant"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// testRepeats runs everything that meets at a barrier or in a subgroup many times on rows that fill no workgroup, and wants the same bits
// each time: a race shows as a run that differs.
func testRepeats(t *testing.T, d device) {
	for _, n := range []int{1, 63, 65, 257} {
		r := suite.Random(uint64(n))
		x := suite.Normal(r, 3*n, 1)
		k, err := kernels.RMSNorm{Rows: 3, Columns: n, Eps: 1e-5}.Kernel(schedules.DefaultRowReduce(n, d.portable), d.portable)
		d.repeat(t, build(t, k, err), map[string][]byte{kernels.X: suite.Floats(x), kernels.NormWeights: suite.Floats(suite.Normal(r, n, 1))})

		s := schedules.DefaultArgMax(n, d.portable)
		k, err = kernels.ArgMaxPartials{N: n}.Kernel(s, d.portable)
		b := build(t, k, err)
		d.repeat(t, b, map[string][]byte{kernels.X: suite.Floats(x[:n])})
		partials := d.run(t, b, map[string][]byte{kernels.X: suite.Floats(x[:n])})[kernels.Partials]
		k, err = kernels.ArgMaxFinal{N: n, Params: params}.Kernel(s, d.portable)
		d.repeat(t, build(t, k, err), map[string][]byte{kernels.Partials: partials, kernels.Params: suite.Words(record(0))})

		a := kernels.AttentionDecode{Heads: 4, KVHeads: 2, Size: 64, Scale: 0.125, Params: params, KV: plan.KV{PageTokens: 128, Pages: 5}}
		k, err = a.Kernel(schedules.DefaultAttention(a.Problem(), d.compat), d.compat)
		b = build(t, k, err)
		at := record(n - 1)
		kv := suite.Normal(r, 2*a.KV.Pages*a.KV.PageTokens*a.KVHeads*a.Size, 1)
		d.repeat(t, b, map[string][]byte{kernels.Params: suite.Words(at), kernels.Q: suite.Floats(suite.Normal(r, a.Heads*a.Size, 1)), kernels.KeyCache: suite.Floats(kv[:len(kv)/2]), kernels.ValueCache: suite.Floats(kv[len(kv)/2:])})

		if p := d.subgroups; p.Subgroups {
			g := kernels.GEMV{Format: quant.Q8_0, Columns: 576, Results: []int{n}, Epilogue: kernels.Store}
			k, err = g.Kernel(schedules.DefaultGEMV(g.Problem(), p), p)
			b = build(t, k, err)
			inputs := map[string][]byte{kernels.X: suite.Floats(suite.Normal(r, g.Columns, 1))}
			planes(t, b, g.Format, g.Columns, g.Results, []suite.Weight{newWeight(t, r, g.Format, n, g.Columns)}, inputs)
			d.repeat(t, b, inputs)
		}
	}
}

// repeat runs a kernel 1000 times, and reads what it wrote each time: once in a submission of its own, the others one after another in
// submissions of many, each into buffers of its own.
func (d device) repeat(t *testing.T, b *suite.Kernel, inputs map[string][]byte) {
	t.Helper()
	const rounds, together = 4, 250
	want := d.run(t, b, inputs)
	for range rounds {
		for i, got := range d.runTogether(t, b, inputs, together) {
			for name, bytes := range want {
				if string(got[name]) != string(bytes) {
					t.Fatalf("%s: run %d gives other bits in %s", b.Name, i, name)
				}
			}
		}
	}
}

// runTogether runs a kernel n times in one submission. What it reads is shared, and what it writes is not.
func (d device) runTogether(t *testing.T, b *suite.Kernel, inputs map[string][]byte, n int) []map[string][]byte {
	t.Helper()
	written, ends := map[int]bool{}, map[int]uint64{}
	for _, o := range b.Operands {
		written[o.Place.Buffer] = written[o.Place.Buffer] || o.Access == plan.ReadWrite
		ends[o.Place.Buffer] = max(ends[o.Place.Buffer], o.Place.Offset+o.Place.Bytes)
	}
	buffer := func(number int) int {
		content := make([]byte, ends[number])
		for _, o := range b.Operands {
			if in, ok := inputs[o.Name]; ok && o.Place.Buffer == number {
				copy(content[o.Place.Offset:], in)
			}
		}
		h, err := d.NewBuffer(plan.Buffer{Name: fmt.Sprint("b", number), Kind: plan.ArenaBuffer, Bytes: ends[number]})
		if err == nil {
			err = d.Write(h, 0, content)
		}
		if err != nil {
			t.Fatal(err)
		}
		return int(h)
	}
	shared := map[int]int{}
	for number := range ends {
		if !written[number] {
			shared[number] = buffer(number)
		}
	}
	var work plan.Work
	for range n {
		own := map[int]int{}
		ranges := slices.Clone(b.Ranges)
		for i := range ranges {
			number := ranges[i].Buffer
			if !written[number] {
				ranges[i].Buffer = shared[number]
				continue
			}
			if _, ok := own[number]; !ok {
				own[number] = buffer(number)
			}
			ranges[i].Buffer = own[number]
		}
		group, err := d.NewGroup(b.Plan.Accesses(), ranges)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range b.Operands {
			if o.Access == plan.ReadWrite {
				work.Reads = append(work.Reads, plan.Range{Buffer: own[o.Place.Buffer], Offset: o.Place.Offset, Bytes: o.Place.Bytes})
			}
		}
		g := b.Grid
		work.Replays = append(work.Replays, []uint32{d.pipeline(t, b, false), uint32(group), uint32(g[0]), uint32(g[1]), uint32(g[2])})
	}
	ticket, err := d.Submit(work)
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.Wait(t.Context(), ticket)
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string][]byte
	for range n {
		out := map[string][]byte{}
		for _, o := range b.Operands {
			if o.Access == plan.ReadWrite {
				out[o.Name], data = data[:o.Place.Bytes], data[o.Place.Bytes:]
			}
		}
		all = append(all, out)
	}
	return all
}
