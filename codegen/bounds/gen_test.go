package bounds_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kgen-wgsl/kgen/codegen/bounds"
	"github.com/kgen-wgsl/kgen/gen/qwen2_5_1_5b"
	"github.com/kgen-wgsl/kgen/gen/qwen3_0_6b"
	"github.com/kgen-wgsl/kgen/gen/qwen3_8b"
	"github.com/kgen-wgsl/kgen/gen/smollm2_135m"
	"github.com/kgen-wgsl/kgen/runtime/plan"

	kgenrt "github.com/kgen-wgsl/kgen/runtime"
)

var packages = map[string][]kgenrt.Variant{
	"smollm2_135m": smollm2_135m.Variants(), "qwen2_5_1_5b": qwen2_5_1_5b.Variants(),
	"qwen3_0_6b": qwen3_0_6b.Variants(), "qwen3_8b": qwen3_8b.Variants(),
}

func planOf(t *testing.T, v kgenrt.Variant) *plan.Plan {
	t.Helper()
	p, err := v.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The proofs that generated packages claim are made again from the files of their kernels: all kernels are proved.
func TestGeneratedPackages(t *testing.T) {
	proved := map[string]bool{}
	for name, variants := range packages {
		for _, v := range variants {
			p := planOf(t, v)
			for i, k := range p.Kernels {
				text, err := os.ReadFile(filepath.Join("..", "..", "gen", name, "kernels", k.Name+".wgsl"))
				if err != nil {
					t.Fatal(err)
				}
				p.Kernels[i].Text = string(text)
			}
			for i, proof := range bounds.ProvePlan(p) {
				k := p.Kernels[i]
				proved[k.Text] = true
				for _, f := range append(proof.Failures, proof.Breaks...) {
					t.Errorf("%s, %s: %v", name, v.Name, f)
				}
				if k.Proved != proof.Proved() || proof.Accesses == 0 {
					t.Errorf("%s, %s: kernel %s says proved %v; %d accesses", name, v.Name, k.Name, k.Proved, proof.Accesses)
				}
			}
		}
	}
	t.Logf("%d kernels", len(proved))
}

// mutant changes one text of one kernel of a plan and proves the plan again; the kernel's proof comes back.
func mutant(t *testing.T, p *plan.Plan, kernel int, text string) *bounds.Proof {
	t.Helper()
	changed := *p
	changed.Kernels = append([]plan.Kernel(nil), p.Kernels...)
	changed.Kernels[kernel].Text = text
	return bounds.ProvePlan(&changed)[kernel]
}

// A kernel that is changed so that an access may be out of bounds loses its proof, and the failure names the access.
func TestMutants(t *testing.T) {
	for _, c := range []struct{ kernel, old, new, expr, says string }{
		{"gemv_q4_1_576x576_0ae6", "block < 18u", "block < 19u", "x[block * 8u]", "0 to 144, and there are 144"},
		{"gemv_q4_1_576x576_0ae6", "block < 18u", "block <= 18u", "x[block * 8u]", "0 to 144"},
		{"gemv_q4_1_576x576_0ae6", "x[block * 8u + 7u]", "x[block * 8u + 8u]", "x[block * 8u + 8u]", "8 to 144"},
		{"gemv_q4_1_576x576_0ae6", "group.x * 2u", "group.x * 3u", "y0[row0]", "0 to 862, and there are 576"},
		{"gemv_q4_1_576x576_0ae6", "local / 32u", "local / 16u", "y0[row0]", "0 to 576"},
		{"gemv_q4_1_576x576_0ae6", "row0 * 18u", "row0 * 19u", "codes[at0]", "and there are 10368"},
		{"gemv_q4_1_576x576_0ae6", "@workgroup_size(64)", "@workgroup_size(128)", "y0[row0]", "0 to 577"},
		{"gemv_q4_1_576x576_0ae6", "block = lane; block < 18u; block += 32u", "block = lane + 18u; block >= 18u; block -= 18u", "x[block * 8u]", "and there are 144"},
		{"gemv_q8_0_49152x576_e391", "scales[at0 >> 1u]", "scales[at0]", "scales[at0]", "and there are 442368"},
		{"attention_9x3x64_f16", "min(params[params[5u] + key / 32u], 255u)", "params[params[5u] + key / 32u] * 3u", "key_cache_value_cache[at]", "and there are"},
		{"attention_9x3x64_f16", "params[params[5u] + key / 32u]", "params[params[5u] + key]", "params[params[5u] + key]", "8 to 8199, and there are 520"},
		{"attention_9x3x64_f16", "min(tile + local, keys - 1u)", "keys - tile - local", "params[params[5u] + key / 32u]", "and there are 520"},
		{"attention_9x3x64_f16", "let keys = params[2u]", "let keys = params[3u]", "params[params[5u] + key / 32u]", "and there are 520"},
		{"attention_9x3x64_f16", "params[5u]", "params[4u]", "params[params[4u] + key / 32u]", "and there are 520"},
		{"attention_9x3x64_f16", "scores[j + 3u]", "scores[j + 4u]", "scores[j + 4u]", "4 to 64, and there are 64"},
		{"attention_9x3x64_f16", "j < count; j += 4u", "j < count; j += 3u", "scores[j + 2u]", "2 to 65, and there are 64"},
		{"attention_9x3x64_f16", "min(keys - tile, 64u)", "keys - tile", "scores[j]", "and there are 64"},
		{"attention_9x3x64_f16", "offsets[local] = start / 2u", "offsets[local] = start", "key_cache_value_cache[((row0 + unit0) >> 2u) + 196608u]", "and there are 393216"},
		{"attention_9x3x64_f16", "unit0 = min(local, 31u)", "unit0 = local", "key_cache_value_cache[((row0 + unit0) >> 2u) + 196608u]", "to 393223"},
		{"rope_kv_norm_9x64_f16", "if (i < 480u)", "if (i < 481u)", "q_k_v[e + 768u]", "768 to 960"},
		{"rope_kv_norm_9x64_f16", "if (i < 480u)", "if (i != 480u)", "q_k_v[e + 769u]", "q_k_v[e + 769u]"},
		{"rope_kv_norm_9x64_f16", "(i - 384u) * 2u", "(i - 385u) * 2u", "q_k_v[e + 768u]", "q_k_v[e + 768u]"},
		{"embed_q8_0_49152x576", "min(params[0u], 49151u)", "params[4u]", "codes[at * 2u + (part >> 2u)]", "and there are 1769472"},
		{"embed_q8_0_49152x576", "i < 144u", "i < 145u", "y[i]", "0 to 144"},
		{"argmax_partials_49152", "min((group.x + 1u) * 512u, 49152u)", "(group.x + 1u) * 513u", "x[i]", "0 to 49247"},
		{"argmax_final_49152", "i < 96u", "i < 97u", "partials[i]", "0 to 96"},
		{"argmax_final_49152", "tops[local + 64u]", "tops[local + 65u]", "tops[local + 65u]", "65 to 128"},
		{"argmax_final_49152", "written < 256u", "written <= 256u", "params[params[6u] + written]", "264 to 520"},
		{"advance", "min(written, 255u)", "written", "params[params[6u] + written]", "and there are 520"},
		{"rmsnorm_1x576", "sums[local + 64u]", "sums[local ^ 128u]", "sums[local ^ 128u]", "and there are 128"},
		{"glu_silu_1536", "gate_up[i + 384u]", "gate_up[i + 385u]", "gate_up[i + 385u]", "385 to 768"},
		{"quant_q8_1536", "y[192u + i]", "y[193u + i]", "y[193u + i]", "193 to 240"},
	} {
		found := false
		for _, v := range packages["smollm2_135m"] {
			p := planOf(t, v)
			for i, k := range p.Kernels {
				if found || !strings.HasPrefix(k.Name, c.kernel) {
					continue
				}
				found = true
				if !strings.Contains(k.Text, c.old) {
					t.Errorf("%s has no %q", k.Name, c.old)
					continue
				}
				proof := mutant(t, p, i, strings.Replace(k.Text, c.old, c.new, 1))
				said := ""
				for _, f := range proof.Failures {
					said += f.String() + "\n"
				}
				if proof.Proved() || !strings.Contains(said, c.expr+": ") || !strings.Contains(said, c.says) {
					t.Errorf("%s with %q: %swant %s, %q", k.Name, c.new, said, c.expr, c.says)
				}
			}
		}
		if !found {
			t.Errorf("no kernel %s", c.kernel)
		}
	}
}

// arrayOf matches declarations of arrays of fixed length.
var arrayOf = regexp.MustCompile(`var<[^>]*> (\w+): array<[^;]*?, (\d+)>;`)

// No array is longer than the proof needs: with one element less it is lost. But for those of which a kernel reads a part.
func TestArraysAreAsLongAsNeeded(t *testing.T) {
	seen, lost := map[string]bool{}, 0
	for _, variants := range packages {
		for _, v := range variants {
			p := planOf(t, v)
			dispatched, block := bounds.Dispatches(p), bounds.Block{Params: p.Params, Pages: p.KV.Pages, Vocab: p.Vocab, Context: p.Context}
			for i, k := range p.Kernels {
				if seen[k.Name] {
					continue
				}
				seen[k.Name] = true
				for _, m := range arrayOf.FindAllStringSubmatchIndex(k.Text, -1) {
					name := k.Text[m[2]:m[3]]
					n, err := strconv.Atoi(k.Text[m[4]:m[5]])
					if err != nil {
						t.Fatal(err)
					}
					part := name == "params" || name == "q" || n == 1
					d := dispatched[i]
					d.Kernel.Text = k.Text[:m[4]] + strconv.Itoa(n-1) + k.Text[m[5]:]
					proof := bounds.ProveAll([]bounds.Dispatched{d}, block)[0]
					if proof.Proved() && !part {
						t.Errorf("%s: %s of %d could be shorter", k.Name, name, n)
					}
					if !proof.Proved() {
						lost++
					}
				}
			}
		}
	}
	t.Logf("%d kernels, %d arrays", len(seen), lost)
}
