package bounds_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/codegen/mutate"
	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/codegen/wgsl"
	"github.com/kgen-wgsl/kgen/internal/randomwgsl"
	"github.com/kgen-wgsl/kgen/runtime/plan"
)

// The simulator is a second judge of proofs, that executes what this package's own machine doesn't: barriers, subgroups, floats, atomics,
// and kernels of gen.

var (
	mutantsOfGen  = flag.Int("mutants", 100, "how many mutants of kernels of gen are simulated")
	randomKernels = flag.Int("programs", 10, "how many random programs are simulated, with four changes of each")
	drawn         = flag.Uint64("seed", 1, "what is drawn of both")
)

// proofTally counts what was compared.
type proofTally struct{ proved, unproved, outside, notRun int }

// contradicts runs a kernel, with contents of buffers drawn anew that keep to what is stated, and returns what the simulator finds out of
// bounds; "" when nothing. Of large grids the first, the last and some other workgroups run.
func contradicts(t *testing.T, f *wgsl.File, entry string, use bounds.Use, lengths map[string]int, r *rand.Rand, total *proofTally) string {
	t.Helper()
	program, err := sim.Compile(f, entry)
	if err != nil {
		total.notRun++
		return ""
	}
	var bindings []sim.Binding
	for _, d := range f.Decls {
		v, ok := d.(*wgsl.Var)
		if !ok || v.Symbol.Space != wgsl.StorageSpace && v.Symbol.Space != wgsl.UniformSpace {
			continue
		}
		bytes := (uint64(wgsl.SizeOf(v.Symbol.Type)) + 3) / 4 * 4
		if a, ok := v.Symbol.Type.(wgsl.Array); ok && a.Len == 0 {
			bytes = uint64(lengths[v.Symbol.Name] * wgsl.Stride(a.Elem))
		}
		b := sim.NewBuffer(v.Symbol.Name, bytes, true)
		b.Write(0, drawContents(r, int(bytes/4), v.Symbol.Name, use.Stated))
		bindings = append(bindings, sim.Binding{Group: v.Group, Binding: v.Binding, Buffer: b, Bytes: b.Size()})
	}
	all := use.Grid[0] * use.Grid[1] * use.Grid[2]
	some := map[int]bool{0: true, all - 1: true, r.IntN(all): true}
	sizes := sim.SubgroupSizes()
	result, err := program.Run(t.Context(), use.Grid, bindings, sim.Options{
		SubgroupSize: sizes[r.IntN(len(sizes))], ZeroWorkgroup: true, StopTrips: 2000, LoopTrips: -1, Workers: 1,
		Groups: func(linear int) bool { return some[linear] },
	})
	if err != nil {
		total.notRun++
		return ""
	}
	for _, finding := range result.Findings {
		if finding.Kind == sim.OutOfBounds && !strings.Contains(finding.Detail, "a subgroup of") { // a lane is no place in memory
			return finding.String()
		}
	}
	return ""
}

// drawContents fills a buffer: with numbers of one kind each time, small, large or any; what is stated of it holds.
func drawContents(r *rand.Rand, words int, name string, stated []bounds.Range) []byte {
	data := make([]byte, words*4)
	kind := r.IntN(4)
	for i := range words {
		var n uint32
		switch kind {
		case 0:
			n = uint32(r.IntN(20))
		case 1:
			n = r.Uint32()
		case 2:
			n = []uint32{0, 1<<32 - 1, 1 << 31, 1<<31 - 1, 0x7fc00000, 0x3f800000}[r.IntN(6)]
		}
		binary.LittleEndian.PutUint32(data[i*4:], n)
	}
	for _, x := range stated {
		for i := x.First; x.Array == name && i < min(x.First+x.Count, words); i++ {
			n := x.Low + uint32(r.Int64N(int64(x.High-x.Low)+1))
			if r.IntN(2) == 0 {
				n = []uint32{x.Low, min(x.High, x.Low+uint32(r.IntN(70))), x.High}[r.IntN(3)]
			}
			binary.LittleEndian.PutUint32(data[i*4:], n)
		}
	}
	return data
}

// Kernels of gen and their mutants: what is proved, in the grid in which a plan runs it, is never out of bounds in the simulator.
func TestSimulatedMutants(t *testing.T) {
	type run struct {
		of    bounds.Dispatched
		block bounds.Block
	}
	runs := map[string]run{}
	var kernels []mutate.Kernel
	for _, name := range []string{"smollm2_135m", "qwen2_5_1_5b", "qwen3_0_6b", "qwen3_8b"} {
		for _, v := range packages[name] {
			p := planOf(t, v)
			for _, d := range bounds.Dispatches(p) {
				if _, known := runs[d.Kernel.Name]; !known && boundBytes(d.Kernel) < 1<<20 {
					runs[d.Kernel.Name] = run{d, bounds.Block{Params: p.Params, Pages: p.KV.Pages, Vocab: p.Vocab, Context: p.Context}}
					kernels = append(kernels, mutate.Kernel{Name: d.Kernel.Name, Text: d.Kernel.Text})
				}
			}
		}
	}
	mutants, err := mutate.Sample(kernels, *mutantsOfGen, *drawn)
	if err != nil {
		t.Fatal(err)
	}
	total, r := proofTally{}, rand.New(rand.NewPCG(*drawn, 2))
	for _, m := range mutants {
		run := runs[m.Kernel]
		run.of.Kernel.Text = m.Text
		proof := bounds.ProveAll([]bounds.Dispatched{run.of}, run.block)[0]
		f, err := wgsl.Parse(m.Kernel, m.Text)
		if err != nil {
			t.Fatal(err)
		}
		use := bounds.Use{Grid: run.of.Grid, Stated: statedOf(f, run.of.Params, run.block)}
		compare(t, m.Site.String(), f, "main", use, nil, proof, r, &total)
	}
	t.Logf("%d mutants of %d kernels: %+v", len(mutants), len(kernels), total)
	if total.notRun > 0 || total.proved < len(mutants)/4 || total.outside == 0 {
		t.Error("these are no test")
	}
}

// compare holds a proof against runs of its kernel.
func compare(t *testing.T, name string, f *wgsl.File, entry string, use bounds.Use, lengths map[string]int, proof *bounds.Proof, r *rand.Rand, total *proofTally) {
	t.Helper()
	if proof.Proved() {
		total.proved++
	} else {
		total.unproved++
	}
	for range 2 {
		outside := contradicts(t, f, entry, use, lengths, r, total)
		if outside == "" {
			continue
		}
		total.outside++
		if proof.Proved() {
			t.Errorf("%s: proved in bounds, but %s\n%s", name, outside, wgsl.Print(f))
		}
		return
	}
}

func boundBytes(k plan.Kernel) (bytes uint64) {
	for _, b := range k.Bindings {
		bytes += b.Bytes
	}
	return bytes
}

// statedOf is what the runtime makes sure of, as docs/bounds.md says it.
func statedOf(f *wgsl.File, params int, b bounds.Block) []bounds.Range {
	for _, d := range f.Decls {
		v, ok := d.(*wgsl.Var)
		if !ok || params < 0 || v.Symbol.Space != wgsl.StorageSpace || v.Binding != params {
			continue
		}
		word := func(first, count, low, high int) bounds.Range {
			return bounds.Range{Array: v.Symbol.Name, First: first, Count: count, Low: uint32(low), High: uint32(high)}
		}
		p := b.Params
		return []bounds.Range{
			word(plan.ParamsToken, 1, 0, b.Vocab-1), word(plan.ParamsPos, 1, 0, b.Context-1), word(plan.ParamsLen, 1, 1, b.Context),
			word(plan.ParamsPages, 1, p.PagesAt, p.PagesAt), word(plan.ParamsOut, 1, p.RingAt, p.RingAt),
			word(p.PagesAt, p.Pages, 0, b.Pages-1), word(p.RingAt, p.Ring, 0, b.Vocab-1),
		}
	}
	return nil
}

// number matches a number of a program; what comes before tells it from a part of a name.
var number = regexp.MustCompile(`[^\w.][0-9]+u?\b`)

// another changes one number of a text.
func another(r *rand.Rand, text string) string {
	all := number.FindAllStringIndex(text, -1)
	at := all[r.IntN(len(all))]
	digits := strings.TrimSuffix(text[at[0]+1:at[1]], "u")
	n, _ := strconv.Atoi(digits)
	return text[:at[0]+1] + strconv.Itoa(max(n+[]int{-1, 1, 1, 8, 1000}[r.IntN(5)], 0)) + text[at[0]+1+len(digits):]
}

// Random programs, which stay within their arrays, and such with another number in them, which may not.
func TestSimulatedPrograms(t *testing.T) {
	total, r := proofTally{}, rand.New(rand.NewPCG(*drawn, 3))
	programs := 0
	for seed := range *randomKernels {
		p := randomwgsl.New(*drawn<<32+uint64(seed), randomwgsl.Options{Subgroup: 4 << r.IntN(6), F16: r.IntN(2) == 0})
		lengths := map[string]int{}
		for _, b := range p.Bindings {
			lengths[b.Name] = len(b.Words)
		}
		for change := range 5 {
			text := p.Text
			if change > 0 {
				text = another(r, text)
			}
			f, err := wgsl.Parse(fmt.Sprint("seed", seed), text)
			if err != nil {
				continue // a number that WGSL doesn't allow there
			}
			words, elements := map[string]int{}, map[string]int{}
			for _, d := range f.Decls {
				if v, ok := d.(*wgsl.Var); ok && lengths[v.Symbol.Name] > 0 {
					if a, ok := v.Symbol.Type.(wgsl.Array); ok && a.Len == 0 {
						elements[v.Symbol.Name] = lengths[v.Symbol.Name] * 4 / wgsl.Stride(a.Elem)
						words[v.Symbol.Name] = elements[v.Symbol.Name]
					}
				}
			}
			use := bounds.Use{Grid: p.Grid, Lengths: elements}
			programs++
			compare(t, fmt.Sprint("seed ", seed), f, "main", use, words, bounds.Prove(f, "main", use), r, &total)
		}
	}
	t.Logf("%d programs: %+v", programs, total)
}
