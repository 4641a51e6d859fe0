package mutants_test

import (
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/codegen/sim"
	"github.com/kgen-wgsl/kgen/gen/qwen2_5_1_5b"
	"github.com/kgen-wgsl/kgen/gen/qwen3_0_6b"
	"github.com/kgen-wgsl/kgen/gen/qwen3_8b"
	"github.com/kgen-wgsl/kgen/gen/smollm2_135m"
	"github.com/kgen-wgsl/kgen/internal/mutants"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// dispatched is a kernel as a plan of gen runs it.
type dispatched struct {
	run   bounds.Dispatched
	block bounds.Block
}

// plans returns how the plans of gen run their kernels, by the kernels' texts.
func plans(t *testing.T) map[string]dispatched {
	t.Helper()
	all := map[string]dispatched{}
	for _, variants := range [][]kgenrt.Variant{smollm2_135m.Variants(), qwen2_5_1_5b.Variants(), qwen3_0_6b.Variants(), qwen3_8b.Variants()} {
		for _, v := range variants {
			p, err := v.Plan()
			if err != nil {
				t.Fatal(err)
			}
			block := bounds.Block{Params: p.Params, Pages: p.KV.Pages, Vocab: p.Vocab, Context: p.Context}
			for _, d := range bounds.Dispatches(p) {
				all[d.Kernel.Text] = dispatched{d, block}
			}
		}
	}
	return all
}

// proved reports whether a text in place of the kernel's own stays within its arrays.
func (d dispatched) proved(text string) bool {
	d.run.Kernel.Text = text
	return bounds.ProveAll([]bounds.Dispatched{d.run}, d.block)[0].Proved()
}

// testProofs counts the mutants that lose the proof of their bounds; that kills none. One that keeps it must not be found out of bounds:
// two answers that know nothing of each other. But for kernels that read params: their cases give them params that the proof rules out.
func testProofs(t *testing.T, b *bench, results []mutants.Result) {
	t.Helper()
	plans := plans(t)
	lost, compared := 0, 0
	for _, r := range results {
		d, ok := plans[b.kernel(r.Kernel).Text]
		if !ok {
			t.Errorf("no plan runs %s", r.Kernel)
			continue
		}
		proved := d.proved(r.Text)
		if !proved {
			lost++
		}
		if outside := strings.Contains(r.Fault, ": "+string(sim.OutOfBounds)+": "); d.run.Params < 0 {
			if compared++; proved && outside {
				t.Errorf("proved in bounds, but found out of them: %s: %s", r.Site, r.Fault)
			}
		}
	}
	t.Logf("%d of %d mutants lose the proof of their bounds; %d were compared with what was found", lost, len(results), compared)
}
