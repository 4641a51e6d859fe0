package kernels_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bind"
	"github.com/kgen-wgsl/kgen/codegen/kernels"
	"github.com/kgen-wgsl/kgen/runtime/plan"
	"github.com/kgen-wgsl/kgen/schedules"
)

// Numbers that a graph or a file can bring into a kernel's text come out as WGSL has them, or not at all: no family prints an infinity,
// NaN, or a constant that is out of range.
func TestConstantsOfFamilies(t *testing.T) {
	p := profile(t, "portable")
	each := schedules.DefaultElementwise(p)
	families := map[string]func(v float64) (kernels.Kernel, error){
		"eps": func(v float64) (kernels.Kernel, error) {
			return kernels.RMSNorm{Rows: 1, Columns: 64, Eps: v}.Kernel(schedules.DefaultRowReduce(64, p), p)
		},
		"cap": func(v float64) (kernels.Kernel, error) { return kernels.Softcap{N: 64, Cap: v}.Kernel(each, p) },
		"embed": func(v float64) (kernels.Kernel, error) {
			return kernels.Embed{Rows: 4, Columns: 64, Scale: v, Params: params}.Kernel(each, p)
		},
		"scale": func(v float64) (kernels.Kernel, error) {
			a := kernels.AttentionDecode{Heads: 1, KVHeads: 1, Size: 64, Scale: v, Params: params, KV: cache(false)}
			return a.Kernel(schedules.DefaultAttention(a.Problem(), p), p)
		},
	}
	odd := regexp.MustCompile(`(?i)\b[+-]?(inf|nan)|/ 0\.?0*f?\b[^.]`)
	for name, family := range families {
		for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 1e39, -1e39, math.MaxFloat64, math.MaxFloat32, 1e-45, 1e-30, 65505, 0.1, -0.5, 1} {
			text, err := emitted(family(v))
			finite := !math.IsInf(v, 0) && v == v && math.Abs(v) <= math.MaxFloat32
			switch {
			case err == nil && !finite:
				t.Errorf("%s of %v: no error", name, v)
			case err == nil && odd.MatchString(text):
				t.Errorf("%s of %v gives %q", name, v, odd.FindString(text))
			case err != nil && v > 1e-31 && v < 1e38:
				t.Errorf("%s of %v: %v", name, v, err)
			case err == nil && !holds(text, v) && name != "cap": // which is there as 2/cap too
				t.Errorf("%s of %v is not in the text", name, v)
			}
		}
	}
}

// holds reports whether a number is in a text, as f32.
func holds(text string, v float64) bool {
	for _, number := range regexp.MustCompile(`-?\d[\d.]*(?:e[+-]?\d+)?f`).FindAllString(text, -1) {
		if f, err := strconv.ParseFloat(strings.TrimSuffix(number, "f"), 64); err == nil && float32(f) == float32(v) {
			return true
		}
	}
	return false
}

// emitted is the text of a kernel, with its header left out: it is for people.
func emitted(k kernels.Kernel, err error) (string, error) {
	if err != nil {
		return "", err
	}
	b, err := bind.Plan(k.Name, k.Operands, plan.DefaultLimits())
	if err != nil {
		return "", err
	}
	pk, err := kernels.Emit(k, b)
	return regexp.MustCompile(`(?m)^//.*$`).ReplaceAllString(pk.Text, ""), err
}
