package gen_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/gen/smollm2_135m"
	"github.com/kgen-wgsl/kgen/internal/gpu"
	"github.com/kgen-wgsl/kgen/internal/oracle"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

// engine is what the oracle puts prompts to: the engine of a generated package.
type engine struct{ *kgenrt.Engine }

func (e engine) LogitsAll(ctx context.Context, start int, tokens []uint32, yield func(pos int, logits []float32) bool) error {
	return kgenrt.LogitsAll(ctx, e.Engine, start, tokens, yield)
}

// SmolLM2 gives the reference's logits through its generated package: chosen for the device, opened with what the variant
// requires and no more, loaded.
func TestLoad(t *testing.T) {
	model := oracle.LoadSmolLM2(t).Only("one_token", "count")
	adapter := gpu.Adapter(t)
	for _, c := range []struct {
		wish   kgenrt.Wish
		want   string
		limits oracle.Limits
	}{
		{kgenrt.Wish{Activations: kgenrt.Exact}, "exact_f32", oracle.GPU},
		{kgenrt.Wish{}, "fast_f16", oracle.FastReal},
	} {
		t.Run(c.want, func(t *testing.T) {
			choice, err := kgenrt.Choose(smollm2_135m.Variants(), gpu.Measured(t, adapter), c.wish)
			if err != nil {
				t.Fatal(err)
			}
			backend := gpu.Open(t, adapter, choice.Variant.Requires)
			var logged []string
			e, err := smollm2_135m.Load(t.Context(), backend, model.File, kgenrt.LoadOptions{
				Wish: c.wish, Log: func(line string) { logged = append(logged, line) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if log := strings.Join(logged, "\n"); !strings.Contains(log, "variant "+choice.Variant.Name+" for ") || !strings.HasSuffix(choice.Variant.Name, c.want) {
				t.Errorf("chosen before the device was opened: %s; logged after: %s", choice.Variant.Name, log)
			}
			model.CheckLogits(t, engine{e}, c.limits)
			backend.Close()
		})
	}
}
